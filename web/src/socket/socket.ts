// One WebSocket per tab: subscriptions that survive reconnects, every event once (dashboard.md §9, §4.4).
import type { AgentEvent } from "#protocol/events.ts";
import type { ClientFrame, ServerEvent, ServerFrame, Topic } from "#protocol/socket.ts";
import { actionFor, MOST_REFUSALS, waitMs } from "./backoff.ts";

export type LinkState =
  | "connecting"
  | "open"
  /** Lost; trying again with back-off. */
  | "waiting"
  /** The credential is refused. */
  | "signed-out"
  /** Too many sockets of this session; tried again each 30 s. */
  | "limited"
  /** Closed for good; only a reload helps. */
  | "stopped";

export interface WireSocket {
  send(text: string): void;
  close(): void;
}

export interface WireListener {
  onText(text: string): void;
  onClose(code: number): void;
}

export interface SocketDeps {
  /** A URL with a fresh credential. Rejects when none can be had. */
  readonly makeUrl: () => Promise<string>;
  readonly open: (url: string, listener: WireListener) => WireSocket;
  readonly after: (delayMs: number, run: () => void) => { cancel(): void };
  readonly random: () => number;
  /** Whose sessions are followed; null: those of the active profile. */
  readonly profile?: string | null;
  /** Asks the HTTP side whether we are still signed in; it reloads or signs in by itself. */
  readonly checkCredential: () => Promise<void>;
}

/** What a follower of a session is told. */
export interface SessionListener {
  onEvent(event: AgentEvent): void;
  /** The server cannot follow the session (`not_found`, `store_busy`, …). */
  onRefused(code: string, detail: string): void;
}

interface SessionSubscription {
  /** `<run>.<seq>` of the last event that was handed on; null: a snapshot is due. */
  after: string | null;
  readonly listeners: Set<SessionListener>;
}

const LIMITED_WAIT_MS = 30_000;
/** No frame for this long after opening: the upgrade went through a proxy that swallows it. */
const READY_LIMIT_MS = 15_000;

export class LiveSocket {
  readonly #deps: SocketDeps;
  readonly #whose: { readonly profile?: string };
  readonly #sessions = new Map<string, SessionSubscription>();
  readonly #topics = new Map<Topic, Set<(event: ServerEvent) => void>>();
  readonly #stateListeners = new Set<() => void>();
  readonly #serverListeners = new Set<() => void>();
  #state: LinkState = "connecting";
  #socket: WireSocket | null = null;
  #ready = false;
  #server: string | null = null;
  #attempt = 0;
  #refusals = 0;
  #started = false;
  #timer: { cancel(): void } | null = null;

  constructor(deps: SocketDeps) {
    this.#deps = deps;
    this.#whose = typeof deps.profile === "string" ? { profile: deps.profile } : {};
  }

  get state(): LinkState {
    return this.#state;
  }

  onState(listener: () => void): () => void {
    this.#stateListeners.add(listener);
    return () => void this.#stateListeners.delete(listener);
  }

  /** Called when another server process answers than before: everything fetched may be stale. */
  onNewServer(listener: () => void): () => void {
    this.#serverListeners.add(listener);
    return () => void this.#serverListeners.delete(listener);
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    void this.#connect();
  }

  /** Network back or tab visible: connect now instead of after the wait. */
  nudge(): void {
    if (this.#socket !== null || this.#state !== "waiting") return;
    this.#timer?.cancel();
    this.#attempt = 0;
    void this.#connect();
  }

  /** Events of one session, in order, each once; the first one is a `snapshot`. Returns the way out. */
  followSession(sessionId: string, listener: SessionListener): () => void {
    const known = this.#sessions.get(sessionId);
    const subscription = known ?? { after: null, listeners: new Set<SessionListener>() };
    subscription.listeners.add(listener);
    // A later listener needs the snapshot too: ask anew without `after`.
    subscription.after = null;
    this.#sessions.set(sessionId, subscription);
    this.#subscribeSession(sessionId);
    return () => {
      subscription.listeners.delete(listener);
      if (subscription.listeners.size > 0 || this.#sessions.get(sessionId) !== subscription) return;
      this.#sessions.delete(sessionId);
      this.#send({ type: "unsubscribe", session: sessionId, ...this.#whose });
    };
  }

  followTopic(topic: Topic, listener: (event: ServerEvent) => void): () => void {
    const listeners = this.#topics.get(topic) ?? new Set();
    listeners.add(listener);
    this.#topics.set(topic, listeners);
    if (listeners.size === 1) this.#send({ type: "subscribe", topic });
    return () => {
      listeners.delete(listener);
      if (listeners.size > 0) return;
      this.#topics.delete(topic);
      this.#send({ type: "unsubscribe", topic });
    };
  }

  #set(state: LinkState): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const listener of this.#stateListeners) listener();
  }

  async #connect(): Promise<void> {
    this.#set(this.#server === null && this.#attempt === 0 ? "connecting" : "waiting");
    let url: string;
    try {
      url = await this.#deps.makeUrl();
    } catch {
      this.#later();
      return;
    }
    this.#ready = false;
    const socket: WireSocket = this.#deps.open(url, {
      onText: (text) => {
        if (this.#socket !== socket) return;
        limit.cancel();
        this.#receive(text);
      },
      onClose: (code) => {
        limit.cancel();
        if (this.#socket !== socket) return;
        this.#socket = null;
        this.#closed(code);
      },
    });
    this.#socket = socket;
    const limit = this.#deps.after(READY_LIMIT_MS, () => socket.close());
  }

  #closed(code: number): void {
    this.#ready = false;
    switch (actionFor(code)) {
      case "retry":
        this.#later();
        return;
      case "credential":
        this.#refused();
        return;
      case "limit":
        this.#set("limited");
        this.#timer = this.#deps.after(LIMITED_WAIT_MS, () => void this.#connect());
        return;
      case "stop":
        this.#set("stopped");
    }
  }

  #refused(): void {
    this.#refusals += 1;
    if (this.#refusals >= MOST_REFUSALS) {
      this.#set("signed-out");
      return;
    }
    const again = () => this.#later();
    this.#deps.checkCredential().then(again, again);
  }

  #later(): void {
    this.#set("waiting");
    const delay = waitMs(this.#attempt, this.#deps.random());
    this.#attempt += 1;
    this.#timer = this.#deps.after(delay, () => void this.#connect());
  }

  #receive(text: string): void {
    const frame = parseFrame(text);
    if (frame === null) return;
    if (frame.type === "ready") this.#greeted(frame.server);
    else if (frame.type === "event") this.#deliver(frame.session, frame.id, frame.event);
    else if (frame.type === "change") {
      for (const listener of this.#topics.get(frame.topic) ?? []) listener(frame);
    } else if (frame.session !== undefined) {
      const listeners = this.#sessions.get(frame.session)?.listeners ?? [];
      for (const listener of listeners) listener.onRefused(frame.code, frame.detail);
    }
  }

  #greeted(server: string): void {
    const changed = this.#server !== null && this.#server !== server;
    this.#server = server;
    this.#ready = true;
    this.#attempt = 0;
    this.#refusals = 0;
    this.#set("open");
    for (const topic of this.#topics.keys()) this.#send({ type: "subscribe", topic });
    for (const id of this.#sessions.keys()) this.#subscribeSession(id);
    if (changed) for (const listener of this.#serverListeners) listener();
  }

  #subscribeSession(sessionId: string): void {
    const after = this.#sessions.get(sessionId)?.after ?? null;
    this.#send(
      after === null
        ? { type: "subscribe", session: sessionId, ...this.#whose }
        : { type: "subscribe", session: sessionId, after, ...this.#whose },
    );
  }

  #deliver(sessionId: string, id: string, event: AgentEvent): void {
    const subscription = this.#sessions.get(sessionId);
    if (!subscription) return;
    if (event.type !== "snapshot" && !isLater(id, subscription.after)) return;
    subscription.after = id;
    for (const listener of subscription.listeners) listener.onEvent(event);
  }

  #send(frame: ClientFrame): void {
    if (this.#ready) this.#socket?.send(JSON.stringify(frame));
  }
}

/** Whether event `id` comes after `last`; only a snapshot may open a stream or change the run. */
export function isLater(id: string, last: string | null): boolean {
  if (last === null) return false;
  const [run, seq] = splitId(id);
  const [lastRun, lastSeq] = splitId(last);
  return run === lastRun && seq > lastSeq;
}

function splitId(id: string): [string, number] {
  const dot = id.lastIndexOf(".");
  return [id.slice(0, dot), Number(id.slice(dot + 1))];
}

/** A frame of ours, or null: unknown types belong to newer servers and are skipped. */
export function parseFrame(text: string): ServerFrame | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || !("type" in value)) return null;
  switch (value.type) {
    case "ready":
    case "event":
    case "change":
    case "error":
      return value as ServerFrame;
    default:
      return null;
  }
}
