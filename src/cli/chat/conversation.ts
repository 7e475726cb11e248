// One conversation at a terminal, whichever face shows it: the session that is followed, what is sent, asked and run.
import type { SessionStore } from "#agent/ports/session-store.ts";
import { HermesError } from "#base/errors.ts";
import type { AgentEvent, ApprovalChoice, BusyMode } from "#protocol/events.ts";
import type { SessionRow } from "#protocol/messages.ts";
import type { SessionService, Subscription } from "#session/types.ts";
import type { Style } from "../io.ts";
import { oneLine, toHermesError } from "../report-error.ts";
import type { History } from "./history.ts";
import { recapLines } from "./recap.ts";
import type { ToolProgress } from "./screen.ts";
import type { ShellHost, ShellQuestion } from "./shell-command.ts";
import { recentSessions, runSlash, type SlashHost } from "./slash.ts";

const PICKED_FROM = 50;

export interface ConversationDeps {
  readonly sessions: SessionService;
  readonly store: SessionStore;
  readonly history: History;
  readonly busyMode: BusyMode;
  readonly recap: "full" | "minimal" | "off";
  readonly profile: string;
  readonly home: string;
  readonly yolo: boolean;
  startSession(title?: string): Promise<SessionRow>;
  modelName(session: SessionRow | null): string;
  toolNames(): Promise<readonly string[]>;
  memoryText(): string;
  /** `!CMD`: runs it with the approvals of a model's call. */
  runShell(command: string, host: ShellHost): Promise<void>;
  redact(text: string): string;
}

/** Who shows the conversation. Called in the order in which things happen; nothing here may throw. */
export interface Face {
  /** Named to others while its turn runs. */
  readonly surface: "cli" | "tui";
  /** A line of ours. */
  say(text: string, style?: Style): void;
  /** Text as it is. */
  show(text: string): void;
  /** After the conversation has taken note of it. */
  event(event: AgentEvent): void;
  /** Something begins that the user waits for. */
  started(): void;
  /** A command or message has led where it leads; a turn may run on. */
  settled(): void;
  /** What belonged to the old session is off the screen; `said` is the recap of the new one. */
  switched(session: SessionRow | null): void;
  /** The running turn took the text in: no turn of its own will show it. */
  steered(text: string): void;
  /** A question that no turn asks. */
  ask(question: ShellQuestion): Promise<ApprovalChoice>;
  /** Sessions to choose from; null: this face lists them as text. */
  readonly pick: ((sessions: readonly SessionRow[]) => void) | null;
  /** Sets the mode, or with null the next one. Returns what holds now. */
  toolProgress(mode: ToolProgress | null): ToolProgress;
  quit(): void;
}

export class Conversation implements SlashHost {
  readonly #deps: ConversationDeps;
  readonly #face: Face;
  #session: SessionRow | null = null;
  #sessionId: string | null = null;
  #subscription: Subscription | null = null;
  #running = false;
  #shell: AbortController | null = null;
  #yolo: boolean;
  /** Approvals that wait, oldest first. */
  readonly #approvals: string[] = [];

  constructor(deps: ConversationDeps, face: Face) {
    this.#deps = deps;
    this.#face = face;
    this.#yolo = deps.yolo;
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
  /** Of the session as it is now: a compression moves on to another one. */
  get sessionId(): string | null {
    return this.#sessionId;
  }
  get running(): boolean {
    return this.#running;
  }
  /** A command of the user's own runs. */
  get isShellRunning(): boolean {
    return this.#shell !== null;
  }
  get profile(): string {
    return this.#deps.profile;
  }
  get home(): string {
    return this.#deps.home;
  }

  /** Whatever a line leads to: its error is one line. */
  async guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#face.say(`✗ ${this.#deps.redact(oneLine(toHermesError(error)))}`, "red");
    }
    this.#face.settled();
  }

  /** `/command`, `!command` or a message. */
  async submit(text: string): Promise<void> {
    if (text.trim() === "") return;
    if (text.startsWith("/")) await runSlash(this, text);
    else if (text.startsWith("!")) await this.#runShell(text.slice(1).trim());
    else await this.#send(text, this.#deps.busyMode);
  }

  async send(text: string, whenBusy: "queue" | "steer"): Promise<void> {
    await this.#send(text, whenBusy);
  }

  async #send(text: string, whenBusy: BusyMode): Promise<void> {
    this.#deps.history.add(text);
    const session = await this.ensureSession();
    await this.#start(async () => {
      const { surface } = this.#face;
      const sent = { text, surface, answerable: true, whenBusy };
      const { status } = await this.sessions.send(session.id, sent);
      if (status === "steered") this.#face.steered(text);
    });
  }

  async retry(): Promise<void> {
    const session = await this.ensureSession();
    const { surface } = this.#face;
    await this.#start(async () => {
      await this.sessions.retry(session.id, { surface, answerable: true });
    });
  }

  /** A turn counts as running before its first event; not when it could not begin. */
  async #start(begin: () => Promise<void>): Promise<void> {
    const wasRunning = this.#running;
    this.#running = true;
    this.#face.started();
    try {
      await begin();
    } catch (error) {
      this.#running = wasRunning;
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
    this.#face.switched(session);
    if (session === null) {
      if (title !== undefined) await this.ensureSession(title);
      return this.print("New conversation.");
    }
    for (const line of await recapLines(this.store, session.id, this.#deps.recap))
      this.#face.say(line);
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
    this.#approvals.length = 0;
    this.#running = false;
  }

  #see(event: AgentEvent): void {
    if (event.type === "turn-start") this.#running = true;
    else if (event.type === "snapshot") this.#seeSnapshot(event);
    else if (event.type === "approval-request") this.#approvals.push(event.requestId);
    else if (event.type === "approval-end") this.#forget(event.requestId);
    else if (event.type === "session-change") this.#sessionId = event.toSessionId;
    else if (event.type === "turn-end") {
      this.#running = false;
      this.#approvals.length = 0;
    }
    if (event.type === "title" || event.type === "session-change") void this.#reloadSession();
    this.#face.event(event);
  }

  /** A session that is resumed while its turn runs, here or elsewhere. */
  #seeSnapshot({ turn }: Extract<AgentEvent, { type: "snapshot" }>): void {
    if (turn === null) return;
    this.#running = true;
    const waiting = turn.pending.filter((entry) => entry.type === "approval");
    this.#approvals.splice(0, Infinity, ...waiting.map((entry) => entry.requestId));
  }

  #forget(requestId: string): void {
    const index = this.#approvals.indexOf(requestId);
    if (index !== -1) this.#approvals.splice(index, 1);
  }

  async #reloadSession(): Promise<void> {
    const id = this.#sessionId;
    const row = id === null ? null : await this.store.getSession(id).catch(() => null);
    if (row && this.#sessionId === row.id) this.#session = row;
  }

  async answer(choice: ApprovalChoice): Promise<void> {
    const [requestId] = this.#approvals;
    if (requestId === undefined) return this.print("Nothing is being asked.");
    await this.answerApproval(requestId, choice);
  }

  async answerApproval(requestId: string, choice: ApprovalChoice): Promise<void> {
    if (this.#sessionId === null) return;
    await this.sessions.answerApproval(this.#sessionId, requestId, choice, this.#face.surface);
  }

  async answerClarify(requestId: string, answer: string): Promise<void> {
    if (this.#sessionId === null) return;
    await this.sessions.answerClarify(this.#sessionId, requestId, answer, this.#face.surface);
  }

  async #runShell(command: string): Promise<void> {
    if (command === "") return;
    if (this.#running || this.#shell)
      throw new HermesError("BUSY", "! waits for the turn to end; /stop interrupts it.");
    this.#deps.history.add(`!${command}`);
    const session = await this.ensureSession();
    this.#shell = new AbortController();
    this.#face.started();
    try {
      await this.#deps.runShell(command, {
        sessionId: session.id,
        yolo: this.#yolo,
        signal: this.#shell.signal,
        show: (text) => this.#face.show(text),
        ask: (question) => this.#face.ask(question),
      });
    } finally {
      this.#shell = null;
    }
  }

  /** Ctrl-C: ends what runs; false when nothing does. */
  interrupt(): boolean {
    if (this.#shell) this.#shell.abort(new Error("interrupted"));
    else if (this.#running && this.#sessionId !== null) {
      const id = this.#sessionId;
      void this.guard(async () => void (await this.sessions.stop(id)));
    } else return false;
    return true;
  }

  /** Ends what runs, before the face goes. */
  async leave(): Promise<void> {
    this.#shell?.abort(new Error("interrupted"));
    if (this.#running && this.#sessionId !== null) {
      await this.sessions.stop(this.#sessionId).catch(() => false);
    }
  }

  print(text: string): void {
    this.#face.show(this.#deps.redact(text));
  }
  quit(): void {
    this.#face.quit();
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
  toolProgress(mode: ToolProgress | null): ToolProgress {
    return this.#face.toolProgress(mode);
  }
  async toggleYolo(): Promise<boolean> {
    const session = await this.ensureSession();
    this.#yolo = await this.sessions.setYolo(session.id, !this.#yolo);
    return this.#yolo;
  }
  async offerSessions(): Promise<void> {
    const { pick } = this.#face;
    if (pick) pick(await recentSessions(this, PICKED_FROM));
    else await runSlash(this, "/sessions");
  }
}
