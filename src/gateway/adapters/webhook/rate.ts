// So many requests per minute and route (agent.md §7.9).
import type { Clock } from "#base/clock.ts";

const WINDOW_MS = 60_000;

export class RateLimit {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #taken = new Map<string, number[]>();

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  /** Seconds until the next one is taken; 0: this one is, and counts. */
  take(key: string): number {
    const now = this.#clock.monotonicMs();
    const recent = (this.#taken.get(key) ?? []).filter((at) => now - at < WINDOW_MS);
    this.#taken.set(key, recent);
    const [oldest] = recent;
    if (recent.length >= this.#most && oldest !== undefined)
      return Math.max(1, Math.ceil((oldest + WINDOW_MS - now) / 1000));
    recent.push(now);
    return 0;
  }
}
