// The next view for everything that can happen: keys, the conversation's updates, the terminal.
import type { AgentEvent } from "#protocol/events.ts";
import { edit, type Edit } from "./editor.ts";
import { seeEvent } from "./live-turn.ts";
import type { DoorSettings, PickerRow, Update } from "./port.ts";
import { shown } from "./shown-text.ts";
import { ask, CLOSED_BOX, forget, IDLE, print, type Item, type View } from "./view.ts";

export type Action =
  | { readonly type: "edit"; readonly change: Edit }
  | { readonly type: "candidates"; readonly words: readonly string[] }
  /** A message before the conversation was open. */
  | { readonly type: "waiting"; readonly text: string }
  | { readonly type: "connected"; readonly settings: DoorSettings }
  /** `filtered`: text of the answer that can be shown now. */
  | {
      readonly type: "event";
      readonly event: AgentEvent;
      readonly filtered: string;
      readonly nowMs: number;
    }
  | { readonly type: "box"; readonly marked: number | null; readonly typed: string }
  | { readonly type: "box-closed"; readonly isClosed: boolean }
  | { readonly type: "picker"; readonly filter: string; readonly marked: number }
  | { readonly type: "picker-closed" }
  | { readonly type: "unfold" }
  /** The screen is empty: print what fits again. `rows` of the terminal. */
  | { readonly type: "redraw"; readonly rows: number }
  | { readonly type: "leaving"; readonly words: string }
  | Exclude<Update, { readonly type: "event" }>;

export function reduce(view: View, action: Action): View {
  switch (action.type) {
    case "edit":
      return { ...view, editor: edit(view.editor, action.change), candidates: [] };
    case "candidates":
      return { ...view, candidates: action.words };
    case "waiting":
      return { ...view, waiting: [...view.waiting, action.text] };
    case "connected":
      return connected(view, action.settings);
    case "event":
      return seeEvent(view, action.event, action.filtered, action.nowMs);
    case "box":
      return { ...view, box: { ...view.box, marked: action.marked, typed: action.typed } };
    case "box-closed":
      return { ...view, box: { ...view.box, isClosed: action.isClosed } };
    case "picker":
      return view.picker === null
        ? view
        : { ...view, picker: { ...view.picker, filter: action.filter, marked: action.marked } };
    case "picker-closed":
      return { ...view, picker: null };
    case "unfold":
      return unfold(view);
    case "redraw":
      return {
        ...view,
        drawing: view.drawing + 1,
        printedFrom: Math.max(0, view.items.length - action.rows),
      };
    case "leaving":
      return leaving(view, action.words);
    case "line":
      return print(view, { kind: "line", tone: action.tone, text: shown(action.text) });
    case "text":
      return print(view, { kind: "text", text: shown(action.text) });
    case "said":
      return print(view, { kind: "said", text: shown(action.text) });
    case "status":
      return { ...view, status: action.status };
    case "question":
      return ask(view, action.question);
    case "question-gone":
      return forget(view, action.requestId);
    case "busy":
      return { ...view, isBusy: action.isBusy };
    case "tool-progress":
      return { ...view, toolProgress: action.mode };
    case "pick":
      return { ...view, picker: { rows: action.rows.map(shownRow), filter: "", marked: 0 } };
    case "switched":
      return { ...view, live: IDLE, questions: [], box: CLOSED_BOX };
  }
}

function connected(view: View, settings: DoorSettings): View {
  const { history, toolProgress, showReasoning } = settings;
  const typed = view.editor.history;
  return {
    ...view,
    phase: "ready",
    toolProgress,
    showReasoning,
    waiting: [],
    editor: { ...view.editor, history: [...typed, ...history] },
  };
}

/** What is on the screen already stays as it is: the last tool's output is printed once more, whole. */
function unfold(view: View): View {
  const isUnfolded = !view.isUnfolded;
  const last = view.items.findLast((item) => item.kind === "tool");
  if (!isUnfolded || view.live.calls.length > 0 || last === undefined) {
    return { ...view, isUnfolded };
  }
  return print({ ...view, isUnfolded }, { ...last, unfolded: true });
}

/** What was typed before the conversation opened and could not be sent stays readable. */
function leaving(view: View, words: string): View {
  const kept = view.waiting.map((text): Item => ({ kind: "said", text: shown(text) }));
  const line: readonly Item[] = words === "" ? [] : [{ kind: "line", tone: "dim", text: words }];
  return { ...print(view, ...kept, ...line), phase: "leaving" };
}

function shownRow(row: PickerRow): PickerRow {
  return { id: row.id, title: shown(row.title), about: shown(row.about) };
}
