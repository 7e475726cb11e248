// One session in this process: its viewers, its queue, its running turn.
import { epochSeconds } from "#base/clock.ts";
import { EXIT } from "#base/exit-codes.ts";
import { HermesError, messageOf } from "#base/errors.ts";
import { randomHex } from "#base/ids.ts";
import { ownIdentity } from "#base/process-identity.ts";
import { runTurn } from "#agent/loop.ts";
import { MODEL_ERROR_RULES } from "#agent/model-error-rules.ts";
import type { ReasoningEffort } from "#agent/ports/model-client.ts";
import type { ToolBox } from "#agent/ports/tool.ts";
import type { SessionMemory, TurnDeps, TurnEnd } from "#agent/ports/turn.ts";
import type { AgentEventBody, ApprovalChoice, TurnError } from "#protocol/events.ts";
import { NO_USAGE } from "#protocol/messages.ts";
import { AnswerDesk } from "./answer-desk.ts";
import type { SessionDeps } from "./deps.ts";
import { LeaseKeeper, sessionBusy } from "./lease-keeper.ts";
import { TurnQueue } from "./turn-queue.ts";
import type { SendOptions, SendResult, TurnResult } from "./types.ts";
import { Viewers } from "./viewers.ts";

interface Running {
  readonly turnId: string;
  readonly options: SendOptions;
  readonly abort: AbortController;
  /** Settles when the turn's row is closed and its lease dropped. Never rejects. */
  readonly ended: Promise<TurnResult>;
}

/** What the service gives each live session. */
export interface LiveDeps extends SessionDeps {
  readonly run: string;
  openTools(live: LiveSession, options: SendOptions): Promise<ToolBox>;
  turnDeps(live: LiveSession, tools: ToolBox, options: SendOptions): Promise<TurnDeps>;
  /** The conversation moved to a child session, whose id the live session has already. */
  moved(live: LiveSession): void;
  /** After each turn: titles. Never throws. */
  turnEnded(live: LiveSession, end: TurnEnd, options: SendOptions): void;
}

/** Client keys that are remembered with their answer; older ones are found in the store. */
const MAX_KEYS = 100;

export class LiveSession {
  readonly viewers: Viewers;
  readonly queue = new TurnQueue();
  readonly approvals = new AnswerDesk<{ choice: ApprovalChoice; by: string }>();
  readonly questions = new AnswerDesk<{ answer: string; by: string }>();
  readonly memory: SessionMemory;
  readonly answered = new Map<string, Promise<SendResult>>();
  sessionId: string;
  yolo: boolean;
  effort: ReasoningEffort | null = null;
  contextWindow = 0;
  /** Highest id of a row that a turn of this process told its viewers. */
  lastSavedId = 0;
  #deps: LiveDeps;
  #running: Running | null = null;
  #steeredBy: SendOptions | null = null;
  #lastResult: TurnResult | null = null;
  #tools: Promise<ToolBox> | null = null;
  #closing = false;

  constructor(sessionId: string, cwd: string, deps: LiveDeps) {
    this.sessionId = sessionId;
    this.#deps = deps;
    this.yolo = deps.overrides.yolo ?? false;
    this.viewers = new Viewers(deps.run, deps.clock, deps.log);
    this.memory = {
      cwd,
      allowedKeys: new Set(),
      lastPromptTokens: 0,
      lastPromptMessages: 0,
      compressRetryAtMs: 0,
      compressFailures: 0,
    };
  }

  get running(): Running | null {
    return this.#running;
  }

  get lastResult(): TurnResult | null {
    return this.#lastResult;
  }

  emit(body: AgentEventBody): void {
    this.viewers.emit(this.sessionId, this.#running?.turnId ?? null, body);
    if (body.type === "message-saved") {
      this.lastSavedId = Math.max(this.lastSavedId, body.messageId);
    }
    if (body.type === "approval-end") this.approvals.settle(body.requestId, body.choice);
    if (body.type === "clarify-end")
      this.questions.settle(body.requestId, body.answer ?? body.reason);
    if (body.type === "session-change") {
      this.sessionId = body.toSessionId;
      this.#deps.moved(this);
    }
  }

  send(options: SendOptions): Promise<SendResult> {
    const known =
      options.clientKey === undefined ? undefined : this.answered.get(options.clientKey);
    if (known) return known;
    const result = this.#accept(options);
    if (options.clientKey !== undefined) this.#remember(options.clientKey, result);
    return result;
  }

  /** Aborts the running turn; false when none runs here. */
  async stop(): Promise<boolean> {
    const running = this.#running;
    if (!running) return false;
    running.abort.abort(new Error("interrupted"));
    await running.ended;
    return true;
  }

  /** Resolves when no turn runs here and nothing waits. */
  async settled(): Promise<TurnResult | null> {
    while (this.#running) await this.#running.ended;
    return this.#lastResult;
  }

  /** Made once, at first use: the tool list of a session is byte-stable (I1). */
  tools(options: SendOptions): Promise<ToolBox> {
    this.#tools ??= this.#deps.openTools(this, options);
    return this.#tools;
  }

  unqueue(queueId: string): boolean {
    const removed = this.queue.remove(queueId);
    if (removed) this.emit({ type: "queue", items: this.queue.items });
    return removed;
  }

  assertIdle(): void {
    if (this.#running) throw sessionBusy(this.#running.options.surface, null);
  }

  /** Work on the session that is no turn but must not meet one (`/compress`): it holds the lease meanwhile. */
  async between<T>(surface: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.assertIdle();
    const turnId = this.#newTurnId();
    const abort = new AbortController();
    const options = { text: "", surface, answerable: false };
    const done = this.#leased(turnId, options, abort, () => work(abort.signal));
    const ended = done
      .then(
        () => undefined,
        () => undefined,
      )
      .then(() => {
        this.#running = null;
        this.#startNext();
        return FAILED;
      });
    this.#running = { turnId, options, abort, ended };
    return done;
  }

  /** Ends the turn and what its tools left running. Nothing starts afterwards. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.stop();
    const tools = await this.#tools?.catch(() => null);
    await tools?.close();
  }

  async #accept(options: SendOptions): Promise<SendResult> {
    if (this.#closing)
      throw new HermesError("SHUTTING_DOWN", "this process is ending; send it again in a moment");
    const running = this.#running;
    if (!running) return this.#start(options);
    if (options.whenBusy === undefined) throw sessionBusy(running.options.surface, null);
    if (options.whenBusy === "steer") {
      this.queue.steer(options.text);
      this.#steeredBy = options;
      return { status: "steered", turnId: running.turnId, messageId: null };
    }
    const queueId = randomHex(8, this.#deps.random);
    this.queue.add({ id: queueId, options, mode: options.whenBusy });
    this.emit({ type: "queue", items: this.queue.items });
    if (options.whenBusy === "interrupt") running.abort.abort(new Error("interrupted"));
    return { status: "queued", turnId: null, messageId: null, queueId };
  }

  /** Runs one turn; resolves as soon as the user's message is stored, rejects when the turn ends before that. */
  #start(options: SendOptions): Promise<SendResult> {
    const turnId = this.#newTurnId();
    const abort = new AbortController();
    return new Promise((resolve, reject) => {
      const watch = this.viewers.subscribe(
        this.sessionId,
        this.viewers.lastEventId,
        ({ event }) => {
          if (event.type !== "turn-start" || event.turnId !== turnId) return;
          watch.close();
          resolve({ status: "started", turnId, messageId: event.userMessageId });
        },
      );
      const run = () => this.#runTurn(turnId, options, abort);
      const ended = this.#leased(turnId, options, abort, run).then(
        (end) => {
          reject(startFailed(end.error));
          return this.#finish(end, options);
        },
        (error: unknown) => {
          reject(error);
          return this.#finish(null, options);
        },
      );
      this.#running = { turnId, options, abort, ended: ended.finally(() => watch.close()) };
    });
  }

  async #runTurn(turnId: string, options: SendOptions, abort: AbortController): Promise<TurnEnd> {
    const tools = await this.tools(options);
    const isYolo = (): boolean => this.yolo;
    const deps = await this.#deps.turnDeps(this, tools, options);
    if (options.replaces !== undefined) await this.#takeBack(options.replaces, deps);
    return runTurn(
      {
        sessionId: this.sessionId,
        turnId,
        userText: options.text,
        clientKey: options.clientKey ?? null,
        surface: options.surface,
        answerable: options.answerable,
        // Read at each approval: /yolo counts during the turn too.
        get yolo() {
          return isYolo();
        },
        signal: abort.signal,
        owner: ownIdentity(),
      },
      deps,
    );
  }

  /** Under the lease, and only when there is a model to ask: a retry that cannot begin loses nothing. */
  async #takeBack(messageId: number, deps: TurnDeps): Promise<void> {
    await deps.target();
    await deps.store.deactivateFrom(this.sessionId, messageId);
    this.memory.lastPromptTokens = 0;
  }

  async #leased<T>(
    turnId: string,
    options: SendOptions,
    abort: AbortController,
    work: () => Promise<T>,
  ): Promise<T> {
    const owner = { ...ownIdentity(), surface: options.surface };
    const lease = await LeaseKeeper.take(this.#deps, this.sessionId, turnId, owner, () => {
      const text = "another process took this session over while this one stood still";
      this.emit({ type: "notice", level: "warning", code: "SESSION_TAKEN_OVER", text });
      abort.abort(new Error(text));
    });
    const here = this.viewers.lastEventId;
    const follow = this.viewers.subscribe(this.sessionId, here, ({ event }) => {
      if (event.type === "session-change") lease.moveTo(event.toSessionId);
    });
    try {
      // A turn that a dead process left open is closed as lost before ours begins.
      await this.#deps.store.recoverLostTurns(epochSeconds(this.#deps.clock));
      return await work();
    } finally {
      follow.close();
      await lease.release();
    }
  }

  #newTurnId(): string {
    return `turn_${randomHex(16, this.#deps.random)}`;
  }

  #finish(end: TurnEnd | null, options: SendOptions): TurnResult {
    this.#running = null;
    const result = end ? turnResult(end) : FAILED;
    this.#lastResult = result;
    if (end) this.#deps.turnEnded(this, end, options);
    this.#startNext();
    return result;
  }

  #startNext(): void {
    if (this.#closing) return;
    const next = this.queue.next(this.#steeredBy);
    this.#steeredBy = null;
    if (!next) return;
    this.emit({ type: "queue", items: this.queue.items });
    this.#start(next).catch((error: unknown) => {
      this.emit({
        type: "notice",
        level: "error",
        code: error instanceof HermesError ? error.code : "TURN_FAILED",
        text: `a waiting message could not be started: ${messageOf(error)}`,
      });
    });
  }

  #remember(clientKey: string, result: Promise<SendResult>): void {
    this.answered.set(clientKey, result);
    // A refusal is no answer to keep: the same message may be sent again.
    result.catch(() => this.answered.delete(clientKey));
    const oldest = this.answered.keys().next().value;
    if (this.answered.size > MAX_KEYS && oldest !== undefined) this.answered.delete(oldest);
  }
}

const FAILED: TurnResult = {
  outcome: "failed",
  text: "",
  messageId: null,
  exit: EXIT.failed,
  error: null,
  usage: NO_USAGE,
  apiCalls: 0,
  costUsd: null,
  sessionId: "",
  provider: null,
  model: null,
};

function startFailed(error: TurnError | null): HermesError {
  return new HermesError(
    error?.code ?? "TURN_FAILED",
    error?.message ?? "the turn ended before it began",
    {
      exit: exitOf(error),
    },
  );
}

function exitOf(error: TurnError | null): TurnResult["exit"] {
  if (!error) return EXIT.failed;
  if (error.code === "MODEL_NOT_CONFIGURED") return EXIT.refused;
  return error.kind === "store" || error.kind === "internal"
    ? EXIT.failed
    : MODEL_ERROR_RULES[error.kind].exit;
}

function turnResult(end: TurnEnd): TurnResult {
  const { budget, ...facts } = end;
  const exit = {
    done: EXIT.ok,
    interrupted: EXIT.interrupted,
    failed: exitOf(end.error),
    budget: budget === "wall-clock" ? EXIT.budget : EXIT.ok,
  }[end.outcome];
  return { ...facts, exit };
}
