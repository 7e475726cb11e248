// The plain line interface (agent.md §10). One readline; a turn runs beside it and prints through Screen.
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import type { AgentEvent, ApprovalChoice } from "#protocol/events.ts";
import type { SessionRow } from "#protocol/messages.ts";
import type { Io, Style } from "../io.ts";
import { Conversation, type ConversationDeps, type Face } from "./conversation.ts";
import { openLineInput, type LineInput } from "./line-input.ts";
import {
  parseAnswer,
  parseApproval,
  questionLines,
  shellQuestionLines,
  type Question,
} from "./question.ts";
import { listenForEnd, exitOfEnd, type RunEnd } from "./run-end.ts";
import {
  Screen,
  TOOL_PROGRESS,
  type ScreenOptions,
  type TextFilter,
  type ToolProgress,
} from "./screen.ts";
import type { ShellQuestion } from "./shell-command.ts";

const TWICE_MS = 2000;

export interface ReplDeps extends ConversationDeps {
  readonly io: Io;
  readonly screen: ScreenOptions;
  readonly textFilter: TextFilter;
  readonly banner: readonly string[];
  /** The session to go on with; null: one is made at the first message. */
  readonly session: SessionRow | null;
  readonly firstMessage: string | null;
}

/** Runs until the user leaves. Returns the exit code; the caller closes the service. */
export function runRepl(deps: ReplDeps): Promise<ExitCode> {
  return new Repl(deps).run();
}

class Repl implements Face {
  readonly surface = "cli";
  readonly pick = null;
  readonly #deps: ReplDeps;
  readonly #screen: Screen;
  readonly #conversation: Conversation;
  readonly #questions: Question[] = [];
  #input!: LineInput;
  #lastCtrlC = Number.NEGATIVE_INFINITY;
  #wasCut = false;
  #leave!: (code: ExitCode) => void;
  #leaving = false;
  /** Waits for one typed line that is no message (an approval of `!CMD`). */
  #asked: ((line: string) => void) | null = null;

  constructor(deps: ReplDeps) {
    this.#deps = deps;
    this.#conversation = new Conversation(deps, this);
    this.#screen = new Screen(
      deps.io,
      deps.screen,
      {
        isTyping: () => this.#input.isTyping(),
        makeWay: () => this.#input.hidePrompt(),
      },
      deps.textFilter,
    );
  }

  async run(): Promise<ExitCode> {
    const left = new Promise<ExitCode>((resolve) => {
      this.#leave = resolve;
    });
    this.#input = openLineInput({
      io: this.#deps.io,
      history: this.#deps.history.entries,
      onMessage: (text) => void this.#conversation.guard(() => this.#line(text)),
      onInterrupt: () => this.#interrupt(),
      onEnd: () => void this.#quit(EXIT.ok),
      onTyping: () => this.#screen.makeRoom(),
      onEnter: () => this.#screen.lineEntered(),
    });
    const stopListening = listenForEnd(this.#deps.io, (end) => void this.#end(end));
    try {
      await this.#conversation.guard(() => this.#begin());
      return await left;
    } finally {
      stopListening();
      this.#input.close();
    }
  }

  async #begin(): Promise<void> {
    const { banner, firstMessage, session } = this.#deps;
    for (const line of banner) this.say(line);
    if (session) await this.#conversation.switchTo(session);
    if (firstMessage !== null) await this.#line(firstMessage);
  }

  async #line(text: string): Promise<void> {
    const asked = this.#asked;
    const [question] = this.#questions;
    if (asked) {
      this.#asked = null;
      asked(text);
    } else if (question && !text.startsWith("/")) await this.#answer(question, text);
    else {
      if (!/^[/!]/.test(text)) this.#wasCut = false;
      await this.#conversation.submit(text);
    }
  }

  say(text: string, style?: Style): void {
    this.#screen.say(text, style);
  }

  show(text: string): void {
    this.#screen.show(text);
  }

  started(): void {
    this.#input.hidePrompt();
  }

  settled(): void {
    if (!this.#conversation.running) this.#prompt();
  }

  switched(): void {
    this.#questions.length = 0;
  }

  /** The typed line stands on the screen already. */
  steered(): void {}

  event(event: AgentEvent): void {
    this.#screen.event(event);
    if (event.type === "approval-request") this.#ask({ ...event, type: "approval" });
    else if (event.type === "clarify-request") this.#ask({ ...event, type: "clarify" });
    else if (event.type === "approval-end" || event.type === "clarify-end")
      this.#forget(event.requestId);
    else if (event.type === "snapshot") for (const one of event.turn?.pending ?? []) this.#ask(one);
    else if (event.type === "turn-end") {
      this.#questions.length = 0;
      this.#prompt();
    } else if (
      event.type !== "title" &&
      event.type !== "session-change" &&
      event.type !== "turn-start"
    ) {
      if (!this.#conversation.running || this.#questions.length > 0) this.#prompt();
    }
  }

  #ask(question: Question): void {
    this.#questions.push(question);
    if (this.#questions.length === 1) this.#showQuestion(question);
  }

  #showQuestion(question: Question): void {
    for (const line of questionLines(question)) this.say(line, "bold");
    this.#prompt();
  }

  #forget(requestId: string): void {
    const index = this.#questions.findIndex((entry) => entry.requestId === requestId);
    if (index === -1) return;
    this.#questions.splice(index, 1);
    const [next] = this.#questions;
    if (next && index === 0) this.#showQuestion(next);
    else if (this.#conversation.running) this.#input.hidePrompt();
  }

  async #answer(question: Question, text: string): Promise<void> {
    if (question.type === "clarify") {
      if (text.trim() === "") return this.#showQuestion(question);
      const answer = parseAnswer(text, question.choices);
      return this.#conversation.answerClarify(question.requestId, answer);
    }
    const choice = parseApproval(text, question.choices);
    if (choice === null) return this.#showQuestion(question);
    await this.#conversation.answerApproval(question.requestId, choice);
  }

  async ask(question: ShellQuestion): Promise<ApprovalChoice> {
    for (const line of shellQuestionLines(question)) this.say(line, "bold");
    this.#input.prompt("? ");
    const line = await new Promise<string>((resolve) => {
      this.#asked = resolve;
    });
    return parseApproval(line, question.choices) ?? "deny";
  }

  #interrupt(): void {
    const now = performance.now();
    const twice = now - this.#lastCtrlC < TWICE_MS;
    this.#lastCtrlC = now;
    if (twice) return void this.#quit(this.#wasCut ? EXIT.interrupted : EXIT.ok);
    const isTurn = this.#conversation.running;
    const isCut = this.#conversation.interrupt();
    if (this.#stopAsking() || isCut) {
      this.#wasCut ||= isTurn;
      return;
    }
    if (this.#input.clearLine()) this.#lastCtrlC = Number.NEGATIVE_INFINITY;
    else this.say("Press Ctrl-C again to leave.");
    this.#prompt();
  }

  /** The open approval of `!CMD` is a no; false when there is none. */
  #stopAsking(): boolean {
    const asked = this.#asked;
    this.#asked = null;
    asked?.("");
    return asked !== null;
  }

  async #end(end: RunEnd): Promise<void> {
    if (end === "SIGINT") this.#interrupt();
    else await this.#quit(exitOfEnd(end));
  }

  quit(): void {
    void this.#quit(EXIT.ok);
  }

  async #quit(code: ExitCode): Promise<void> {
    if (this.#leaving) return;
    this.#leaving = true;
    this.#stopAsking();
    await this.#conversation.leave();
    this.#leave(code);
  }

  #prompt(): void {
    if (this.#leaving || this.#conversation.isShellRunning) return;
    const [question] = this.#questions;
    this.#input.prompt(question ? "? " : "› ");
  }

  toolProgress(mode: ToolProgress | null): ToolProgress {
    const at = TOOL_PROGRESS.indexOf(this.#screen.options.toolProgress);
    const next = TOOL_PROGRESS[(at + 1) % TOOL_PROGRESS.length] ?? "all";
    this.#screen.options.toolProgress = mode ?? next;
    return this.#screen.options.toolProgress;
  }
}
