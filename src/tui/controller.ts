// Keys to edits, answers and commands: what a key does depends on the box that is open and on what runs (agent.md §10).
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { boxKey } from "./box-keys.ts";
import { completeAt } from "./completion.ts";
import { isEditKey, type Edit } from "./editor.ts";
import { filterEvent } from "./event-feed.ts";
import type { TuiKey } from "./keys.ts";
import { pickerKey } from "./picker-keys.ts";
import type { Door, TextFilter, Update } from "./port.ts";
import type { View } from "./view.ts";
import type { ViewStore } from "./view-store.ts";

const TWICE_MS = 2000;
/** A message is cut here by the session anyway; a paste must not fill the memory first. */
const TEXT_LIMIT = 1024 * 1024;

export interface ControllerDeps {
  readonly store: ViewStore;
  /** Milliseconds that never go back. */
  nowMs(): number;
  redraw(): void;
  suspend(): void;
  /** Closes the interface. */
  close(code: ExitCode, sessionId: string | null): void;
}

export class Controller {
  readonly #deps: ControllerDeps;
  #door: Door | null = null;
  #filter: TextFilter | null = null;
  #lastInterruptMs = Number.NEGATIVE_INFINITY;
  #wasCut = false;
  #isLeaving = false;

  constructor(deps: ControllerDeps) {
    this.#deps = deps;
  }

  get #view(): View {
    return this.#deps.store.view();
  }

  /** The conversation is open: what was sent so far is sent now. */
  async connect(door: Door): Promise<void> {
    this.#filter = door.settings.textFilter;
    await door.begin();
    const { waiting } = this.#view;
    this.#door = door;
    this.#deps.store.dispatch({ type: "connected", settings: door.settings });
    for (const text of waiting) door.submit(text);
  }

  update(update: Update): void {
    if (update.type !== "event") return this.#deps.store.dispatch(update, "soon");
    const { event } = update;
    const filtered = this.#filter ? filterEvent(this.#filter, event) : "";
    const nowMs = this.#deps.nowMs();
    this.#deps.store.dispatch({ type: "event", event, filtered, nowMs }, "soon");
  }

  keys(keys: readonly TuiKey[]): void {
    for (const key of keys) this.#key(key);
  }

  interrupt(): void {
    this.#key({ key: "interrupt" });
  }

  /** Ends what runs, then closes. Safe to call twice. */
  async leave(code: ExitCode): Promise<void> {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    const sessionId = (await this.#door?.leave()) ?? null;
    this.#deps.close(code, sessionId);
  }

  #key(key: TuiKey): void {
    if (this.#isLeaving) return;
    if (key.key === "interrupt") return this.#interrupt();
    // Whoever types in between does not press twice.
    this.#lastInterruptMs = Number.NEGATIVE_INFINITY;
    this.#wasCut = false;
    if (key.key === "redraw") return this.#deps.redraw();
    if (key.key === "unfold") return this.#deps.store.dispatch({ type: "unfold" });
    if (key.key === "suspend") return this.#deps.suspend();
    const view = this.#view;
    if (view.picker !== null) this.#pickerKey(key);
    else if (view.questions.length > 0 && !view.box.isClosed) this.#boxKey(key);
    else this.#editorKey(key);
  }

  #interrupt(): void {
    const now = this.#deps.nowMs();
    const isTwice = now - this.#lastInterruptMs < TWICE_MS;
    this.#lastInterruptMs = now;
    if (isTwice) return void this.leave(this.#wasCut ? EXIT.interrupted : EXIT.ok);
    const ended = this.#door?.interrupt() ?? "nothing";
    if (ended === "turn") this.#wasCut = true;
    if (ended !== "nothing") return;
    if (this.#view.picker !== null) this.#deps.store.dispatch({ type: "picker-closed" });
    else if (this.#view.editor.text === "") this.#hint("Press Ctrl-C again to leave.");
    else {
      this.#lastInterruptMs = Number.NEGATIVE_INFINITY;
      this.#edit({ edit: "clear" });
    }
  }

  #hint(text: string): void {
    this.#deps.store.dispatch({ type: "line", tone: "dim", text });
  }

  #edit(change: Edit): void {
    this.#deps.store.dispatch({ type: "edit", change });
  }

  #editorKey(key: TuiKey): void {
    const change = editOf(key);
    if (change?.edit === "insert") this.#insert(change.text);
    else if (change) this.#edit(change);
    else if (key.key === "enter") this.#send();
    else if (key.key === "tab") this.#complete();
    else if (key.key === "escape") this.#deps.store.dispatch({ type: "candidates", words: [] });
    else if (key.key === "end-of-file") this.#endOfFile();
  }

  #endOfFile(): void {
    if (this.#view.editor.text === "") void this.leave(EXIT.ok);
    else this.#edit({ edit: "delete" });
  }

  #insert(text: string): void {
    const room = TEXT_LIMIT - this.#view.editor.text.length;
    if (text.length > room) return this.#hint("That is longer than a message may be.");
    this.#edit({ edit: "insert", text });
  }

  #send(): void {
    const { text } = this.#view.editor;
    if (text.trim() === "") {
      // Enter on an empty line opens the box again that Esc closed.
      if (this.#view.box.isClosed)
        this.#deps.store.dispatch({ type: "box-closed", isClosed: false });
      return this.#edit({ edit: "clear" });
    }
    this.#edit({ edit: "remember", text });
    this.#edit({ edit: "clear" });
    if (this.#door === null) return this.#deps.store.dispatch({ type: "waiting", text });
    this.#door.submit(text);
  }

  #complete(): void {
    const { text, cursor } = this.#view.editor;
    const found = completeAt(text, cursor, (word) => this.#door?.completePath(word) ?? []);
    if (found === null) return;
    this.#edit({ edit: "replace", from: found.from, text: found.text });
    this.#deps.store.dispatch({ type: "candidates", words: found.candidates });
  }

  #boxKey(key: TuiKey): void {
    const [question] = this.#view.questions;
    if (question === undefined) return;
    const done = boxKey(question, this.#view.box, key);
    if (done.do === "type") this.#insert(done.text);
    else if (done.do === "dispatch") this.#deps.store.dispatch(done.action);
    else if (done.do === "answer") this.#door?.answer(question.requestId, done.answer);
    else if (key.key === "end-of-file") this.#endOfFile();
  }

  #pickerKey(key: TuiKey): void {
    const { picker } = this.#view;
    if (picker === null) return;
    const done = pickerKey(picker, key);
    if (done.do === "dispatch") this.#deps.store.dispatch(done.action);
    else if (done.do === "resume") {
      this.#deps.store.dispatch({ type: "picker-closed" });
      this.#door?.resume(done.id);
    } else if (key.key === "end-of-file") this.#endOfFile();
  }
}

/** What a key changes in the text; null for a key that does something else. */
function editOf(key: TuiKey): Edit | null {
  if (key.key === "text" || key.key === "paste") return { edit: "insert", text: key.text };
  if (key.key === "newline") return { edit: "insert", text: "\n" };
  return isEditKey(key.key) ? { edit: key.key } : null;
}
