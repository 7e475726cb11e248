// The plain line interface (agent.md §10). One readline; a turn runs beside it and prints through Screen. Longer than most
// files: what the terminal, the session and the pending questions may do depends on each other at every key.
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import type { SessionStore } from "#agent/ports/session-store.ts";
import type { AgentEvent, ApprovalChoice, BusyMode } from "#protocol/events.ts";
import type { SessionRow } from "#protocol/messages.ts";
import type { SessionService, Subscription } from "#session/types.ts";
import type { Io } from "../io.ts";
import { oneLine, toHermesError } from "../report-error.ts";
import type { History } from "./history.ts";
import { openLineInput, type LineInput } from "./line-input.ts";
import { parseAnswer, parseApproval, questionLines, type Question } from "./question.ts";
import { recapLines } from "./recap.ts";
import { listenForEnd, exitOfEnd, type RunEnd } from "./run-end.ts";
import {
  Screen,
  TOOL_PROGRESS,
  type ScreenOptions,
  type TextFilter,
  type ToolProgress,
} from "./screen.ts";
import { runSlash, type SlashHost } from "./slash.ts";

const TWICE_MS = 2000;

export interface ReplDeps {
  readonly io: Io;
  readonly sessions: SessionService;
  readonly store: SessionStore;
  readonly history: History;
  readonly screen: ScreenOptions;
  readonly textFilter: TextFilter;
  readonly busyMode: BusyMode;
  readonly recap: "full" | "minimal" | "off";
  readonly profile: string;
  readonly home: string;
  readonly yolo: boolean;
  readonly banner: readonly string[];
  /** The session to go on with; null: one is made at the first message. */
  readonly session: SessionRow | null;
  readonly firstMessage: string | null;
  startSession(title?: string): Promise<SessionRow>;
  modelName(session: SessionRow | null): string;
  toolNames(): Promise<readonly string[]>;
  memoryText(): string;
  /** `!CMD`: runs it with the approvals of a model's call; `ask` puts the question. */
  runShell(command: string, host: ShellHost): Promise<void>;
  redact(text: string): string;
}

export interface ShellHost {
  readonly sessionId: string;
  readonly yolo: boolean;
  readonly signal: AbortSignal;
  show(text: string): void;
  ask(lines: readonly string[]): Promise<string>;
}

/** Runs until the user leaves. Returns the exit code; the caller closes the service. */
export function runRepl(deps: ReplDeps): Promise<ExitCode> {
  return new Repl(deps).run();
}

class Repl implements SlashHost {
  readonly #deps: ReplDeps;
  readonly #screen: Screen;
  readonly #questions: Question[] = [];
  #input!: LineInput;
  #session: SessionRow | null;
  #sessionId: string | null = null;
  #subscription: Subscription | null = null;
  #running = false;
  #shell: AbortController | null = null;
  #yolo: boolean;
  #lastCtrlC = Number.NEGATIVE_INFINITY;
  #wasCut = false;
  #leave!: (code: ExitCode) => void;
  #leaving = false;
  /** Waits for one typed line that is no message (an approval of `!CMD`). */
  #asked: ((line: string) => void) | null = null;

  constructor(deps: ReplDeps) {
    this.#deps = deps;
    this.#session = deps.session;
    this.#yolo = deps.yolo;
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

  get sessions(): SessionService {
    return this.#deps.sessions;
  }
  get store(): SessionStore {
    return this.#deps.store;
  }
  get session(): SessionRow | null {
    return this.#session;
  }
  get running(): boolean {
    return this.#running;
  }
  get profile(): string {
    return this.#deps.profile;
  }
  get home(): string {
    return this.#deps.home;
  }

  async run(): Promise<ExitCode> {
    const left = new Promise<ExitCode>((resolve) => {
      this.#leave = resolve;
    });
    this.#input = openLineInput({
      io: this.#deps.io,
      history: this.#deps.history.entries,
      onMessage: (text) => void this.#guard(() => this.#line(text)),
      onInterrupt: () => this.#interrupt(),
      onEnd: () => void this.#quit(EXIT.ok),
      onTyping: () => this.#screen.makeRoom(),
      onEnter: () => this.#screen.lineEntered(),
    });
    const stopListening = listenForEnd(this.#deps.io, (end) => void this.#end(end));
    try {
      await this.#guard(() => this.#begin());
      return await left;
    } finally {
      stopListening();
      this.#input.close();
    }
  }

  async #begin(): Promise<void> {
    const { banner, firstMessage } = this.#deps;
    for (const line of banner) this.#screen.say(line);
    if (this.#session) await this.switchTo(this.#session);
    if (firstMessage !== null) await this.#line(firstMessage);
  }

  /** Whatever a line leads to: its error is one line, and the next prompt comes. */
  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#screen.say(`✗ ${this.#deps.redact(oneLine(toHermesError(error)))}`, "red");
    }
    if (!this.#running && !this.#leaving) this.#prompt();
  }

  async #line(text: string): Promise<void> {
    const asked = this.#asked;
    const [question] = this.#questions;
    if (asked) {
      this.#asked = null;
      asked(text);
    } else if (text.startsWith("/")) await runSlash(this, text);
    else if (question) await this.#answer(question, text);
    else if (text.trim() === "") return;
    else if (text.startsWith("!")) await this.#runShell(text.slice(1).trim());
    else await this.#send(text, this.#deps.busyMode);
  }

  async #send(text: string, whenBusy: BusyMode): Promise<void> {
    this.#deps.history.add(text);
    this.#wasCut = false;
    const session = await this.ensureSession();
    const wasRunning = this.#running;
    this.#running = true;
    this.#input.hidePrompt();
    try {
      await this.sessions.send(session.id, { text, surface: "cli", answerable: true, whenBusy });
    } catch (error) {
      this.#running = wasRunning;
      throw error;
    }
  }

  async send(text: string, whenBusy: "queue" | "steer"): Promise<void> {
    await this.#send(text, whenBusy);
  }

  async retry(): Promise<void> {
    const session = await this.ensureSession();
    this.#running = true;
    this.#input.hidePrompt();
    try {
      await this.sessions.retry(session.id, { surface: "cli", answerable: true });
    } catch (error) {
      this.#running = false;
      throw error;
    }
  }

  async ensureSession(title?: string): Promise<SessionRow> {
    if (this.#session) return this.#session;
    const session = await this.#deps.startSession(title);
    await this.#follow(session);
    return session;
  }

  async switchTo(session: SessionRow | null, title?: string): Promise<void> {
    if (this.#running && this.#session) await this.sessions.stop(this.#session.id);
    this.#unfollow();
    if (session === null) {
      if (title !== undefined) await this.ensureSession(title);
      return this.print("New conversation.");
    }
    for (const line of await recapLines(this.store, session.id, this.#deps.recap))
      this.#screen.say(line);
    await this.#follow(session);
  }

  async #follow(session: SessionRow): Promise<void> {
    this.#session = session;
    this.#sessionId = session.id;
    this.#subscription = await this.sessions.subscribe(session.id, null, ({ event }) =>
      this.#see(event),
    );
    if (this.#yolo) await this.sessions.setYolo(session.id, true);
  }

  #unfollow(): void {
    this.#subscription?.close();
    this.#subscription = null;
    this.#session = null;
    this.#sessionId = null;
    this.#questions.length = 0;
    this.#running = false;
  }

  #see(event: AgentEvent): void {
    this.#screen.event(event);
    if (event.type === "turn-start") this.#running = true;
    else if (event.type === "approval-request") this.#ask({ ...event, type: "approval" });
    else if (event.type === "clarify-request") this.#ask({ ...event, type: "clarify" });
    else if (event.type === "approval-end" || event.type === "clarify-end")
      this.#forget(event.requestId);
    else if (event.type === "title") void this.#reloadSession();
    else if (event.type === "session-change") {
      this.#sessionId = event.toSessionId;
      void this.#reloadSession();
    } else if (event.type === "turn-end") this.#turnEnded();
    else if (!this.#running || this.#questions.length > 0) this.#prompt();
  }

  #turnEnded(): void {
    this.#running = false;
    this.#questions.length = 0;
    this.#prompt();
  }

  async #reloadSession(): Promise<void> {
    const id = this.#sessionId;
    const row = id === null ? null : await this.store.getSession(id).catch(() => null);
    if (row && this.#sessionId === row.id) this.#session = row;
  }

  #ask(question: Question): void {
    this.#questions.push(question);
    if (this.#questions.length === 1) this.#showQuestion(question);
  }

  #showQuestion(question: Question): void {
    for (const line of questionLines(question)) this.#screen.say(line, "bold");
    this.#prompt();
  }

  #forget(requestId: string): void {
    const index = this.#questions.findIndex((entry) => entry.requestId === requestId);
    if (index === -1) return;
    this.#questions.splice(index, 1);
    const [next] = this.#questions;
    if (next && index === 0) this.#showQuestion(next);
    else if (this.#running) this.#input.hidePrompt();
  }

  async #answer(question: Question, text: string): Promise<void> {
    if (this.#sessionId === null) return;
    if (question.type === "clarify") {
      if (text.trim() === "") return this.#showQuestion(question);
      const answer = parseAnswer(text, question.choices);
      await this.sessions.answerClarify(this.#sessionId, question.requestId, answer, "cli");
      return;
    }
    const choice = parseApproval(text, question.choices);
    if (choice === null) return this.#showQuestion(question);
    await this.sessions.answerApproval(this.#sessionId, question.requestId, choice, "cli");
  }

  async answer(choice: ApprovalChoice): Promise<void> {
    const question = this.#questions.find((entry) => entry.type === "approval");
    if (!question || this.#sessionId === null) return this.print("Nothing is being asked.");
    await this.sessions.answerApproval(this.#sessionId, question.requestId, choice, "cli");
  }

  async #runShell(command: string): Promise<void> {
    if (command === "") return;
    if (this.#running)
      throw new HermesError("BUSY", "! waits for the turn to end; /stop interrupts it.");
    this.#deps.history.add(`!${command}`);
    const session = await this.ensureSession();
    this.#shell = new AbortController();
    this.#input.hidePrompt();
    try {
      await this.#deps.runShell(command, {
        sessionId: session.id,
        yolo: this.#yolo,
        signal: this.#shell.signal,
        show: (text) => this.#screen.show(text),
        ask: (lines) => this.#askLine(lines),
      });
    } finally {
      this.#shell = null;
    }
  }

  #askLine(lines: readonly string[]): Promise<string> {
    for (const line of lines) this.#screen.say(line, "bold");
    this.#input.prompt("? ");
    return new Promise((resolve) => {
      this.#asked = resolve;
    });
  }

  #interrupt(): void {
    const now = performance.now();
    const twice = now - this.#lastCtrlC < TWICE_MS;
    this.#lastCtrlC = now;
    if (twice) return void this.#quit(this.#wasCut ? EXIT.interrupted : EXIT.ok);
    if (this.#shell || this.#asked) return this.#interruptShell();
    if (this.#running && this.#sessionId !== null) {
      this.#wasCut = true;
      return void this.#guard(async () => void (await this.sessions.stop(this.#sessionId ?? "")));
    }
    if (this.#input.clearLine()) this.#lastCtrlC = Number.NEGATIVE_INFINITY;
    else this.#screen.say("Press Ctrl-C again to leave.");
    this.#prompt();
  }

  #interruptShell(): void {
    this.#shell?.abort(new Error("interrupted"));
    this.#asked?.("");
    this.#asked = null;
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
    this.#interruptShell();
    if (this.#running && this.#sessionId !== null) {
      await this.sessions.stop(this.#sessionId).catch(() => false);
    }
    this.#leave(code);
  }

  #prompt(): void {
    if (this.#leaving || this.#shell) return;
    const [question] = this.#questions;
    this.#input.prompt(question ? "? " : "› ");
  }

  print(text: string): void {
    this.#screen.show(this.#deps.redact(text));
  }
  modelName(): string {
    return this.#deps.modelName(this.#session);
  }
  toolNames(): Promise<readonly string[]> {
    return this.#deps.toolNames();
  }
  memoryText(): string {
    return this.#deps.memoryText();
  }
  async toggleYolo(): Promise<boolean> {
    const session = await this.ensureSession();
    this.#yolo = await this.sessions.setYolo(session.id, !this.#yolo);
    return this.#yolo;
  }
  toolProgress(mode: ToolProgress | null): ToolProgress {
    const at = TOOL_PROGRESS.indexOf(this.#screen.options.toolProgress);
    const next = TOOL_PROGRESS[(at + 1) % TOOL_PROGRESS.length] ?? "all";
    this.#screen.options.toolProgress = mode ?? next;
    return this.#screen.options.toolProgress;
  }
}
