// Holds a session for one turn, over all processes: 30 s of life, renewed every 10 s (agent.md §4.1).
import { epochSeconds, type Clock, type Timer } from "#base/clock.ts";
import { HermesError, messageOf } from "#base/errors.ts";
import type { Log } from "#base/log.ts";
import type { LeaseOwner, SessionStore } from "#agent/ports/session-store.ts";

const LIFE_SECONDS = 30;
const RENEW_MS = 10_000;

export interface LeaseDeps {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly log: Log;
}

export class LeaseKeeper {
  readonly #deps: LeaseDeps;
  readonly #turnId: string;
  readonly #lost: () => void;
  #sessionId: string;
  #timer: Timer | null = null;

  private constructor(deps: LeaseDeps, sessionId: string, turnId: string, lost: () => void) {
    this.#deps = deps;
    this.#sessionId = sessionId;
    this.#turnId = turnId;
    this.#lost = lost;
    this.#schedule();
  }

  /**
   * Takes the lease or throws `SESSION_BUSY` with `data.holder`. `lost` is called when another process took it over
   * (this one was stopped for more than 30 s): the turn must end, two turns would mix.
   */
  static async take(
    deps: LeaseDeps,
    sessionId: string,
    turnId: string,
    owner: LeaseOwner,
    lost: () => void,
  ): Promise<LeaseKeeper> {
    const now = epochSeconds(deps.clock);
    const attempt = await deps.store.takeLease(sessionId, {
      turnId,
      owner,
      now,
      ttlSeconds: LIFE_SECONDS,
    });
    if (!attempt.taken) throw sessionBusy(attempt.holder.surface, attempt.holder.pid);
    return new LeaseKeeper(deps, sessionId, turnId, lost);
  }

  /** A compression moved the conversation: the store moved the lease with it. */
  moveTo(sessionId: string): void {
    this.#sessionId = sessionId;
  }

  async release(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    await this.#deps.store.dropLease(this.#sessionId, this.#turnId).catch((error: unknown) => {
      this.#deps.log.warn("a session lease could not be dropped; it runs out by itself", {
        session: this.#sessionId,
        error: messageOf(error),
      });
    });
  }

  #schedule(): void {
    this.#timer = this.#deps.clock.after(RENEW_MS, () => void this.#renew());
  }

  async #renew(): Promise<void> {
    const expiresAt = epochSeconds(this.#deps.clock) + LIFE_SECONDS;
    try {
      const ours = await this.#deps.store.renewLease(this.#sessionId, this.#turnId, expiresAt);
      if (!ours) {
        if (this.#timer) this.#lost();
        return;
      }
    } catch (error) {
      this.#deps.log.warn("a session lease could not be renewed", {
        session: this.#sessionId,
        error: messageOf(error),
      });
    }
    if (this.#timer) this.#schedule();
  }
}

export function sessionBusy(surface: string, pid: number | null): HermesError {
  const where = pid === null || pid === process.pid ? "" : ` (process ${pid})`;
  return new HermesError(
    "SESSION_BUSY",
    `a turn is running in this session, started from ${surface}${where}`,
    {
      fix: "wait for it, stop it there, or start a new session",
      data: { holder: surface },
    },
  );
}
