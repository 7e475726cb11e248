// Everything that is on the screen, as one value. Only reduce.ts makes the next one; the steps below are its smallest.
import type { QueueItem, TurnState } from "#protocol/events.ts";
import { EMPTY_EDITOR, type Editor } from "./editor.ts";
import { oneLine, shown } from "./shown-text.ts";
import type { PickerRow, Question, Status, Tone, ToolProgress } from "./port.ts";

/** A finished piece of the conversation: printed once, then it belongs to the terminal's scroll-back. */
export type Item =
  | { readonly kind: "said"; readonly text: string }
  /** Part of an answer, coloured already. */
  | { readonly kind: "answer"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  | { readonly kind: "line"; readonly tone: Tone; readonly text: string }
  | { readonly kind: "text"; readonly text: string }
  /** Whole, whatever the box below has room for. */
  | { readonly kind: "question"; readonly question: Question }
  | { readonly kind: "tool"; readonly call: Call; readonly unfolded: boolean };

export interface Call {
  readonly callId: string;
  readonly name: string;
  /** One line that recognises the call. */
  readonly about: string;
  readonly state: "waiting" | "running" | "ok" | "failed";
  readonly startedAtMs: number;
  readonly durationMs: number | null;
  readonly summary: string;
  /** The end of the output so far. */
  readonly output: string;
}

export interface Todo {
  readonly id: string;
  readonly content: string;
  readonly status: string;
}

/** What still changes: it is drawn anew with every frame. */
export interface Live {
  readonly isRunning: boolean;
  readonly startedAtMs: number;
  readonly state: TurnState;
  readonly detail: string;
  /** Answer that is not in the transcript yet, coloured. */
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly Call[];
  readonly todos: readonly Todo[];
  readonly queue: readonly QueueItem[];
  /** Part of this attempt's answer is in the transcript already. */
  readonly isPartPrinted: boolean;
  readonly lastTool: string;
}

/** The box over the input: a question of the agent, or the sessions to go on with. */
export interface QuestionBox {
  readonly isClosed: boolean;
  /** Index of the marked choice; null: none yet, so that a stray Enter answers nothing. */
  readonly marked: number | null;
  readonly typed: string;
}

export interface Picker {
  readonly rows: readonly PickerRow[];
  readonly filter: string;
  readonly marked: number;
}

export interface View {
  readonly phase: "starting" | "ready" | "leaving";
  readonly profile: string;
  readonly status: Status;
  readonly editor: Editor;
  /** Words that Tab found. */
  readonly candidates: readonly string[];
  readonly items: readonly Item[];
  /** Items before this one are not printed again when the screen is drawn anew. */
  readonly printedFrom: number;
  /** Counts how often the screen was drawn anew. */
  readonly drawing: number;
  readonly live: Live;
  readonly isBusy: boolean;
  readonly questions: readonly Question[];
  readonly box: QuestionBox;
  readonly picker: Picker | null;
  readonly toolProgress: ToolProgress;
  readonly showReasoning: boolean;
  readonly isUnfolded: boolean;
  /** Sent before the conversation was open. */
  readonly waiting: readonly string[];
}

export const CLOSED_BOX: QuestionBox = { isClosed: false, marked: null, typed: "" };

export const IDLE: Live = {
  isRunning: false,
  startedAtMs: 0,
  state: "idle",
  detail: "",
  text: "",
  reasoning: "",
  calls: [],
  todos: [],
  queue: [],
  isPartPrinted: false,
  lastTool: "",
};

export function firstView(version: string, profile: string): View {
  return {
    phase: "starting",
    profile,
    status: { model: null, isDemo: false, used: 0, window: 0 },
    editor: EMPTY_EDITOR,
    candidates: [],
    items: [
      { kind: "line", tone: "bold", text: `Hermes ${version}` },
      {
        kind: "line",
        tone: "dim",
        text: "/help lists the commands · Ctrl-C interrupts · Ctrl-D leaves",
      },
    ],
    printedFrom: 0,
    drawing: 0,
    live: IDLE,
    isBusy: false,
    questions: [],
    box: CLOSED_BOX,
    picker: null,
    toolProgress: "all",
    showReasoning: false,
    isUnfolded: false,
    waiting: [],
  };
}

/** Something of ours or of the agent's runs. */
export function isRunning(view: View): boolean {
  return view.live.isRunning || view.isBusy;
}

export function print(view: View, ...items: readonly Item[]): View {
  return { ...view, items: [...view.items, ...items] };
}

export function ask(view: View, question: Question): View {
  const isKnown = view.questions.some((entry) => entry.requestId === question.requestId);
  if (isKnown) return view;
  const shownQuestion = inertQuestion(question);
  return print(
    { ...view, questions: [...view.questions, shownQuestion] },
    { kind: "question", question: shownQuestion },
  );
}

/** The next question begins with an open box. */
export function forget(view: View, requestId: string): View {
  const [first] = view.questions;
  const questions = view.questions.filter((entry) => entry.requestId !== requestId);
  return { ...view, questions, box: first?.requestId === requestId ? CLOSED_BOX : view.box };
}

function inertQuestion(question: Question): Question {
  if (question.type === "clarify") {
    return {
      ...question,
      question: shown(question.question),
      choices: question.choices.map((choice) => oneLine(choice, 500)),
    };
  }
  const { title, detail, rule } = question;
  return { ...question, title: shown(title), detail: shown(detail), rule: shown(rule) };
}
