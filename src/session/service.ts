// Conversations of one home: find or make a session, take its lease, run its turns, tell every viewer.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { epochSeconds } from "#base/clock.ts";
import { HermesError, messageOf } from "#base/errors.ts";
import { makeSessionId, randomHex } from "#base/ids.ts";
import { compressSession } from "#agent/compress.ts";
import type { TurnEnd } from "#agent/ports/turn.ts";
import { cleanUserTitle } from "#agent/title.ts";
import type { ApprovalChoice } from "#protocol/events.ts";
import type { SessionRow } from "#protocol/messages.ts";
import type { SessionDeps } from "./deps.ts";
import { Follower } from "./follower.ts";
import { LiveSession, type LiveDeps } from "./live-session.ts";
import { asEffort, effortOfRow, modelOfRow, Models } from "./models.ts";
import { findSession, newestVisible } from "./find-session.ts";
import { openSessionTools } from "./session-tools.ts";
import { stateOf } from "./session-state.ts";
import { makeTitle } from "./titles.ts";
import { makeTurnDeps } from "./turn-deps.ts";
import type {
  AnswerResult,
  NumberedEvent,
  SendOptions,
  SendResult,
  SessionService,
  SessionState,
  StartOptions,
  Subscription,
  TurnResult,
} from "./types.ts";

/** Longer texts belong into a file whose path is named. */
const MAX_TEXT = 256 * 1024;
/** How far back a client key is looked for in the store: a resend comes soon after. */
const KEY_WINDOW = 50;
/** A turn's events are kept this long after its end (dashboard.md §9.3). */
const RING_LIFE_MS = 10 * 60_000;
/** Their sessions mostly have one turn and nobody looks on; one that goes on is opened anew from the store. */
const ONE_TURN_SURFACES: ReadonlySet<string> = new Set(["api-server", "webhook"]);

/** Opens the service. Turns that dead processes left open are marked lost first. Call `close` before the store closes. */
export async function openSessionService(deps: SessionDeps): Promise<SessionService> {
  await deps.store.recoverLostTurns(epochSeconds(deps.clock));
  return new Service(deps);
}

class Service implements SessionService {
  readonly #deps: SessionDeps;
  readonly #models: Models;
  readonly #run: string;
  readonly #lives = new Map<string, Promise<LiveSession>>();
  readonly #followers = new WeakMap<LiveSession, Follower>();
  readonly #background = new Set<Promise<unknown>>();
  readonly #ending = new AbortController();

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    this.#models = new Models(deps);
    this.#run = randomHex(12, deps.random);
  }

  async start(options: StartOptions): Promise<SessionRow> {
    const choice = this.#models.choose({ provider: options.provider, model: options.model });
    const { store, clock, random } = this.#deps;
    const title = options.title === undefined ? null : fitTitle(options.title);
    const startedAt = epochSeconds(clock);
    const row = await store.createSession({
      id: makeSessionId(clock.now(), 6, random),
      source: options.source,
      model: choice.model,
      modelConfig: {
        provider: choice.provider,
        ...(options.instructions === undefined ? {} : { instructions: options.instructions }),
      },
      title,
      titleSource: title === null ? null : "user",
      cwd: resolve(options.cwd ?? this.#deps.loaded().config.terminal.cwd),
      userId: options.userId ?? null,
      startedAt,
    });
    const { history = [] } = options;
    if (history.length === 0) return row;
    await store.appendMessages(
      row.id,
      history.map((message) => ({ ...message, timestamp: startedAt })),
    );
    return row;
  }

  resolve(ref: string): Promise<SessionRow> {
    return findSession(this.#deps.store, ref);
  }

  latest(options: { readonly cwd: string; readonly title?: string }): Promise<SessionRow | null> {
    return newestVisible(this.#deps.store, options);
  }

  async state(sessionId: string): Promise<SessionState> {
    const live = await this.#live(sessionId);
    const row = await this.#row(live.sessionId);
    const foreign = live.running
      ? null
      : await this.#deps.store.leaseOf(live.sessionId, epochSeconds(this.#deps.clock));
    return stateOf(live, row, foreign?.surface ?? null);
  }

  async send(sessionId: string, options: SendOptions): Promise<SendResult> {
    checkText(options.text);
    const live = await this.#live(sessionId);
    const stored = await this.#storedAnswer(live, options.clientKey);
    return stored ?? live.send(options);
  }

  async settled(sessionId: string): Promise<TurnResult | null> {
    return (await this.#live(sessionId)).settled();
  }

  async stop(sessionId: string): Promise<boolean> {
    return (await this.#live(sessionId)).stop();
  }

  async answerApproval(
    sessionId: string,
    requestId: string,
    choice: ApprovalChoice,
    by: string,
  ): Promise<AnswerResult> {
    return (await this.#live(sessionId)).approvals.answer(requestId, { choice, by }, choice);
  }

  async answerClarify(
    sessionId: string,
    requestId: string,
    answer: string,
    by: string,
  ): Promise<AnswerResult> {
    return (await this.#live(sessionId)).questions.answer(requestId, { answer, by }, answer);
  }

  async subscribe(
    sessionId: string,
    after: string | null,
    listener: (event: NumberedEvent) => void,
  ): Promise<Subscription> {
    const live = await this.#live(sessionId);
    const follower = this.#followers.get(live) ?? new Follower(live, this.#deps);
    this.#followers.set(live, follower);
    await follower.start();
    return live.viewers.subscribe(live.sessionId, after, listener);
  }

  async undo(sessionId: string): Promise<number> {
    const live = await this.#idle(sessionId);
    // Under the lease: a turn of another process must not lose the rows that it stands on.
    return live.between("undo", async () => {
      const last = await this.#lastUserMessage(live.sessionId);
      if (!last) throw nothingTo("undo");
      live.memory.lastPromptTokens = 0;
      return this.#deps.store.deactivateFrom(live.sessionId, last.id);
    });
  }

  async retry(sessionId: string, options: Omit<SendOptions, "text">): Promise<SendResult> {
    const live = await this.#idle(sessionId);
    const last = await this.#lastUserMessage(live.sessionId);
    if (!last?.content) throw nothingTo("retry");
    return live.send({ ...options, text: last.content, replaces: last.id });
  }

  async compress(sessionId: string, focus?: string): Promise<{ ok: boolean; sessionId: string }> {
    const live = await this.#idle(sessionId);
    return live.between("compress", async (signal) => {
      const row = await this.#row(live.sessionId);
      const options = { text: "", surface: "compress", answerable: false };
      const deps = makeTurnDeps(
        this.#deps,
        this.#models,
        live,
        row,
        await live.tools(options),
        options,
      );
      return compressSession(
        live.sessionId,
        deps,
        focus === undefined ? { signal } : { focus, signal },
      );
    });
  }

  async rename(sessionId: string, title: string): Promise<SessionRow> {
    const live = await this.#live(sessionId);
    const row = await this.#deps.store.updateSession(live.sessionId, {
      title: fitTitle(title),
      titleSource: "user",
    });
    live.emit({ type: "title", title: row.title ?? "" });
    return row;
  }

  async setModel(
    sessionId: string,
    wanted: { readonly provider?: string; readonly model: string },
  ): Promise<SessionRow> {
    const live = await this.#idle(sessionId);
    const choice = this.#models.choose(wanted);
    const row = await this.#row(live.sessionId);
    live.memory.lastPromptTokens = 0;
    return this.#deps.store.updateSession(live.sessionId, {
      model: choice.model,
      modelConfig: { ...row.modelConfig, provider: choice.provider },
    });
  }

  async setEffort(sessionId: string, effort: string): Promise<void> {
    const level = asEffort(effort);
    if (level === null) {
      throw new HermesError("EFFORT_UNKNOWN", `"${effort}" is no reasoning level`, {
        fix: "one of: none, low, medium, high",
      });
    }
    const live = await this.#live(sessionId);
    live.effort = level;
    const row = await this.#row(live.sessionId);
    if (effortOfRow(row) === level) return;
    await this.#deps.store.updateSession(live.sessionId, {
      modelConfig: { ...row.modelConfig, reasoning_effort: level },
    });
  }

  async setYolo(sessionId: string, on: boolean): Promise<boolean> {
    const live = await this.#live(sessionId);
    live.yolo = on;
    return live.yolo;
  }

  async unqueue(sessionId: string, queueId: string): Promise<boolean> {
    return (await this.#live(sessionId)).unqueue(queueId);
  }

  async close(_reason: "shutdown" | "done"): Promise<void> {
    this.#ending.abort(new Error("this process is ending"));
    const lives = await Promise.allSettled(new Set(this.#lives.values()));
    const open = lives.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    await Promise.all(open.map((live) => this.#closeLive(live)));
    await Promise.allSettled(this.#background);
  }

  async #closeLive(live: LiveSession): Promise<void> {
    this.#followers.get(live)?.stop();
    await live.close();
  }

  /** The session in this process; a session that was compressed leads to the one that goes on. */
  #live(sessionId: string): Promise<LiveSession> {
    const known = this.#lives.get(sessionId);
    if (known) return known;
    const opened = this.#open(sessionId);
    this.#lives.set(sessionId, opened);
    // An unknown session must not be remembered as such: it may be made later.
    opened.catch(() => this.#lives.delete(sessionId));
    return opened;
  }

  async #open(sessionId: string): Promise<LiveSession> {
    const row = await this.#row(sessionId);
    const fallback = resolve(this.#deps.loaded().config.terminal.cwd);
    const cwd = row.cwd !== null && existsSync(row.cwd) ? row.cwd : fallback;
    return new LiveSession(row.id, cwd, this.#liveDeps());
  }

  #liveDeps(): LiveDeps {
    const deps = this.#deps;
    return {
      ...deps,
      run: this.#run,
      openTools: async (live, options) =>
        openSessionTools(deps, live, await this.#row(live.sessionId), !options.answerable),
      turnDeps: async (live, tools, options) =>
        makeTurnDeps(deps, this.#models, live, await this.#row(live.sessionId), tools, options),
      moved: (live) => this.#lives.set(live.sessionId, Promise.resolve(live)),
      turnEnded: (live, end, options) => this.#turnEnded(live, end, options),
    };
  }

  #turnEnded(live: LiveSession, end: TurnEnd, options: SendOptions): void {
    const turns = this.#deps.clock.after(RING_LIFE_MS, () => {
      if (live.running || live.viewers.count > 0) return;
      live.viewers.forget();
      if (ONE_TURN_SURFACES.has(options.surface)) this.#inBackground(this.#release(live));
    });
    this.#ending.signal.addEventListener("abort", () => turns.cancel(), { once: true });
    if (end.outcome === "done") this.#inBackground(this.#afterAnswer(live, end, options));
    this.#inBackground(this.#keepCwd(live));
  }

  /** A server that answers for months must not keep every session it ever had in memory. */
  async #release(live: LiveSession): Promise<void> {
    for (const [id, opened] of this.#lives) {
      if ((await opened.catch(() => null)) === live) this.#lives.delete(id);
    }
    await this.#closeLive(live);
  }

  async #afterAnswer(live: LiveSession, end: TurnEnd, options: SendOptions): Promise<void> {
    const row = await this.#row(end.sessionId);
    // A caller of the API asks for answers; titles nobody sees would double its model calls.
    if (row.title !== null || row.source === "api-server") return;
    const title = await makeTitle({
      store: this.#deps.store,
      sessionId: row.id,
      userText: options.text,
      answer: end.text,
      target: () =>
        this.#models.auxiliary("title_generation", this.#models.choose(modelOfRow(row))),
      signal: AbortSignal.any([
        this.#ending.signal,
        AbortSignal.timeout(this.#models.auxiliaryTimeoutMs("title_generation")),
      ]),
      onFailure: (message) =>
        this.#deps.log.debug("no title from the model", { session: row.id, message }),
    });
    if (title !== null) live.emit({ type: "title", title });
  }

  async #keepCwd(live: LiveSession): Promise<void> {
    const row = await this.#row(live.sessionId);
    if (row.cwd !== live.memory.cwd) {
      await this.#deps.store.updateSession(row.id, { cwd: live.memory.cwd });
    }
  }

  #inBackground(work: Promise<unknown>): void {
    const watched = work.catch((error: unknown) =>
      this.#deps.log.warn("work after a turn failed", { error: messageOf(error) }),
    );
    this.#background.add(watched);
    void watched.finally(() => this.#background.delete(watched));
  }

  async #idle(sessionId: string): Promise<LiveSession> {
    const live = await this.#live(sessionId);
    live.assertIdle();
    return live;
  }

  async #row(sessionId: string): Promise<SessionRow> {
    const row = await this.#deps.store.getSession(sessionId);
    if (!row)
      throw new HermesError(
        "SESSION_NOT_FOUND",
        `there is no session ${JSON.stringify(sessionId)}`,
      );
    return row;
  }

  async #lastUserMessage(sessionId: string) {
    const { messages } = await this.#deps.store.loadHistory(sessionId);
    return messages.findLast((message) => message.role === "user" && message.kind === null) ?? null;
  }

  /** A message that another life of this process took already (same client key, after a restart). */
  async #storedAnswer(
    live: LiveSession,
    clientKey: string | undefined,
  ): Promise<SendResult | null> {
    if (clientKey === undefined || live.answered.has(clientKey)) return null;
    const page = await this.#deps.store.readMessages(live.sessionId, {
      limit: KEY_WINDOW,
      order: "desc",
    });
    const row = page.messages.find((message) => message.clientKey === clientKey);
    return row ? { status: "started", turnId: row.turnId ?? "", messageId: row.id } : null;
  }
}

function checkText(text: string): void {
  if (text.trim() === "") throw new HermesError("MESSAGE_EMPTY", "the message is empty");
  if (text.length > MAX_TEXT) {
    throw new HermesError(
      "MESSAGE_TOO_LARGE",
      `the message has ${text.length} characters, the limit is ${MAX_TEXT}`,
      {
        fix: "put it into a file and name the file's path",
      },
    );
  }
}

function fitTitle(title: string): string {
  const clean = cleanUserTitle(title);
  if (clean === null)
    throw new HermesError("TITLE_EMPTY", "the title holds nothing that can be shown");
  return clean;
}

function nothingTo(what: string): HermesError {
  return new HermesError("NOTHING_TO_RETRY", `there is no message of yours to ${what}`);
}
