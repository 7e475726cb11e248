// WS /api/ws: everything a tab needs over one socket, server events and any number of chat sessions (dashboard.md §9.2, §9.3).
import * as z from "zod/mini";
import type { WebSocket } from "ws";
import type { Clock } from "#base/clock.ts";
import { isHermesError, messageOf } from "#base/errors.ts";
import type { Log } from "#base/log.ts";
import { CLOSE, type ClientFrame, type ServerFrame, type Topic, TOPICS } from "#protocol/socket.ts";
import type { Subscription } from "#session/types.ts";
import type { Changes } from "./changes.ts";
import { createDeltaMerger } from "./delta-merger.ts";
import type { ProfileDirectory } from "./deps.ts";
import { HttpFailure, mapHermesError } from "./errors.ts";
import { keepAlive } from "./keep-alive.ts";
import { ownerOf } from "./owner.ts";
import type { Socket } from "./routing.ts";
import { closeSocket } from "./upgrade.ts";

const MOST_SOCKETS = 256;
const MOST_PER_OWNER = 32;
const MOST_SUBSCRIPTIONS = 256;
const MOST_BAD_FRAMES = 20;
const MOST_BUFFERED_BYTES = 4 * 1024 * 1024;

export interface HubDeps {
  readonly profiles: ProfileDirectory;
  readonly changes: Changes;
  readonly clock: Clock;
  readonly log: Log;
  /** Names this process life: a changed one tells a tab to fetch everything again. */
  readonly serverId: string;
  readonly version: string;
}

export interface SocketHub {
  open(socket: Socket): void;
  /** The session of this owner is over: close code 4401 to its sockets. */
  endOwner(owner: string): void;
  /** Close code 1001 to everybody. */
  close(): void;
  readonly size: number;
}

export function createSocketHub(deps: HubDeps): SocketHub {
  const viewers = new Map<Viewer, string | null>();
  const countOf = (owner: string | null): number =>
    owner === null ? 0 : [...viewers.values()].filter((other) => other === owner).length;
  return {
    open({ ws, caller }) {
      const owner = ownerOf(caller);
      if (viewers.size >= MOST_SOCKETS || countOf(owner) >= MOST_PER_OWNER) {
        closeSocket(ws, deps.clock, CLOSE.tooMany, "too many sockets");
        return;
      }
      const viewer = new Viewer(ws, deps);
      viewers.set(viewer, owner);
      ws.once("close", () => {
        viewers.delete(viewer);
        viewer.end();
      });
      viewer.start();
    },
    endOwner(owner) {
      for (const [viewer, whose] of viewers) {
        if (whose === owner) viewer.close(CLOSE.unauthorized, "session ended");
      }
    },
    close() {
      for (const viewer of viewers.keys()) viewer.close(CLOSE.goingAway, "server stops");
    },
    get size() {
      return viewers.size;
    },
  };
}

/** One socket: its subscriptions, its keep-alive, its limits. */
class Viewer {
  readonly #ws: WebSocket;
  readonly #deps: HubDeps;
  readonly #sessions = new Map<string, () => void>();
  readonly #topics = new Set<Topic>();
  #unwatch: (() => void) | null = null;
  #badFrames = 0;
  #ended = false;

  constructor(ws: WebSocket, deps: HubDeps) {
    this.#ws = ws;
    this.#deps = deps;
  }

  start(): void {
    const { serverId, version } = this.#deps;
    this.#ws.on("message", (data, isBinary) => this.#receive(isBinary ? null : textOf(data)));
    this.#send({ type: "ready", server: serverId, version });
    keepAlive(this.#ws, this.#deps.clock);
  }

  /** Everything that belongs to the socket is gone when this returns. */
  end(): void {
    this.#ended = true;
    this.#unwatch?.();
    for (const stop of this.#sessions.values()) stop();
    this.#sessions.clear();
  }

  close(code: number, reason: string): void {
    this.end();
    closeSocket(this.#ws, this.#deps.clock, code, reason);
  }

  #receive(text: string | null): void {
    if (this.#ended) return;
    const frame = text === null ? null : parseFrame(text);
    if (!frame) this.#rejectFrame();
    else if ("topic" in frame) this.#setTopic(frame.topic, frame.type === "subscribe");
    else if (frame.type === "unsubscribe") this.#drop(keyOf(frame));
    else void this.#subscribe(frame);
  }

  #rejectFrame(): void {
    this.#badFrames++;
    this.#send({ type: "error", code: "invalid", detail: "Frame not understood" });
    if (this.#badFrames >= MOST_BAD_FRAMES) this.close(CLOSE.badParameter, "malformed frames");
  }

  #setTopic(topic: Topic, on: boolean): void {
    if (on) this.#topics.add(topic);
    else this.#topics.delete(topic);
    this.#unwatch?.();
    this.#unwatch =
      this.#topics.size === 0
        ? null
        : this.#deps.changes.watch(this.#topics, (event) => this.#send(event));
  }

  async #subscribe(frame: SessionFrame): Promise<void> {
    const key = keyOf(frame);
    this.#drop(key);
    if (this.#sessions.size >= MOST_SUBSCRIPTIONS) {
      this.#rejectFrame();
      return;
    }
    const { session } = frame;
    const merger = createDeltaMerger(this.#deps.clock, ({ id, event }) =>
      this.#send({ type: "event", session, id, event }),
    );
    let subscription: Subscription | null = null;
    let stopped = false;
    const stop = (): void => {
      stopped = true;
      merger.close();
      subscription?.close();
    };
    this.#sessions.set(key, stop);
    try {
      const { sessions } = await this.#deps.profiles.open(frame.profile);
      const after = frame.after ?? null;
      subscription = await sessions.subscribe(session, after, (event) => {
        if (!stopped) merger.push(event);
      });
      if (stopped) subscription.close();
    } catch (error) {
      if (this.#sessions.get(key) === stop) this.#drop(key);
      this.#send({ type: "error", session, ...this.#explain(error) });
    }
  }

  #explain(error: unknown): { code: ErrorFrameCode; detail: string } {
    const failure = isHermesError(error) ? mapHermesError(error) : null;
    if (failure instanceof HttpFailure && failure.status === 404) {
      return { code: "not_found", detail: failure.message };
    }
    if (failure?.status === 503) return { code: "store_failed", detail: failure.message };
    this.#deps.log.error(`subscription failed: ${messageOf(error)}`);
    return { code: "internal", detail: "Internal server error" };
  }

  #drop(key: string): void {
    this.#sessions.get(key)?.();
    this.#sessions.delete(key);
  }

  #send(frame: ServerFrame): void {
    if (this.#ended || this.#ws.readyState !== this.#ws.OPEN) return;
    this.#ws.send(JSON.stringify(frame));
    if (this.#ws.bufferedAmount > MOST_BUFFERED_BYTES) {
      this.close(CLOSE.tryAgainLater, "reads too slowly");
    }
  }
}

type ErrorFrameCode = Extract<ServerFrame, { type: "error" }>["code"];
type SessionFrame = Extract<ClientFrame, { session: string }> & { readonly after?: string };

const id = z.string().check(z.minLength(1), z.maxLength(200));
const frames: z.ZodMiniType<ClientFrame> = z.union([
  z.strictObject({
    type: z.literal("subscribe"),
    session: id,
    after: z.exactOptional(id),
    profile: z.exactOptional(id),
  }),
  z.strictObject({
    type: z.literal("unsubscribe"),
    session: id,
    profile: z.exactOptional(id),
  }),
  z.strictObject({ type: z.enum(["subscribe", "unsubscribe"]), topic: z.enum(TOPICS) }),
]);

function parseFrame(text: string): ClientFrame | null {
  try {
    const parsed = frames.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

function keyOf({ profile = "", session }: SessionFrame): string {
  return `${profile} ${session}`;
}

function textOf(data: unknown): string {
  if (data instanceof ArrayBuffer) return Buffer.from(data).toString("utf8");
  return Array.isArray(data)
    ? Buffer.concat(data as Buffer[]).toString("utf8")
    : (data as Buffer).toString("utf8");
}
