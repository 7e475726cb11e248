// Following a session whose turn runs in another process: whole messages through the store, at most a second late.
import { epochSeconds, type Clock, type Timer } from "#base/clock.ts";
import { messageOf } from "#base/errors.ts";
import type { Log } from "#base/log.ts";
import type { SessionStore } from "#agent/ports/session-store.ts";
import type { LiveSession } from "./live-session.ts";

const EVERY_MS = 1000;
const PAGE = 200;

export interface FollowDeps {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** What it needs of a LiveSession. */
export type Followed = Pick<
  LiveSession,
  "sessionId" | "lastSavedId" | "running" | "viewers" | "emit"
>;

/** Asks once a second while somebody watches and no turn runs here; costs one pragma while nothing changes. */
export class Follower {
  readonly #deps: FollowDeps;
  readonly #live: Followed;
  #timer: Timer | null = null;
  #token: string | null = null;
  #lastId = 0;
  #foreign = false;

  constructor(live: Followed, deps: FollowDeps) {
    this.#live = live;
    this.#deps = deps;
  }

  /** Where the watching starts: everything stored so far is known to the viewer. Safe to call again. */
  async start(): Promise<void> {
    if (this.#timer) return;
    this.#timer = this.#deps.clock.after(EVERY_MS, () => void this.#tick());
    const { store } = this.#deps;
    this.#token = await store.changeToken();
    const page = await store.readMessages(this.#live.sessionId, { limit: 1, order: "desc" });
    this.#lastId = page.messages[0]?.id ?? 0;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = null;
  }

  async #tick(): Promise<void> {
    if (this.#live.viewers.count === 0) {
      this.stop();
      return;
    }
    try {
      await this.#look();
    } catch (error) {
      this.#deps.log.debug("following a session failed; tried again in a second", {
        session: this.#live.sessionId,
        error: messageOf(error),
      });
    }
    if (this.#timer) this.#timer = this.#deps.clock.after(EVERY_MS, () => void this.#tick());
  }

  async #look(): Promise<void> {
    const token = await this.#deps.store.changeToken();
    if (token === this.#token && !this.#foreign) return;
    this.#token = token;
    const { sessionId } = this.#live;
    const page = await this.#deps.store.readMessages(sessionId, {
      limit: PAGE,
      after: this.#lastId,
      order: "asc",
    });
    for (const message of page.messages) {
      this.#lastId = message.id;
      // Rows of this process's own turns were told at once.
      if (this.#live.running || message.id <= this.#live.lastSavedId) continue;
      this.#live.emit({
        type: "message-saved",
        messageId: message.id,
        role: message.role,
        kind: message.kind,
      });
    }
    await this.#tellState(sessionId);
  }

  async #tellState(sessionId: string): Promise<void> {
    if (this.#live.running) return;
    const holder = await this.#deps.store.leaseOf(sessionId, epochSeconds(this.#deps.clock));
    if (holder && !this.#foreign) {
      this.#live.emit({ type: "status", state: "calling", detail: `running in ${holder.surface}` });
    }
    if (!holder && this.#foreign) this.#live.emit({ type: "status", state: "idle" });
    this.#foreign = holder !== null;
  }
}
