// Counting tries per key in a sliding window, in memory (dashboard.md §10).
import type { Clock } from "#base/clock.ts";

const MOST_KEYS = 10_000;

export interface Limit {
  readonly most: number;
  readonly windowMs: number;
}

export interface Limiter {
  /** Counts one try. null: within the limit; else the seconds to wait, for `Retry-After`. */
  hit(key: string): number | null;
  clear(): void;
}

export function createLimiter(limit: Limit, clock: Clock): Limiter {
  const tries = new Map<string, number[]>();
  return {
    hit(key) {
      const now = clock.monotonicMs();
      const recent = (tries.get(key) ?? []).filter((at) => now - at < limit.windowMs);
      // Deleted and set again: the map's order is then the order of last use, and its first entry the one to drop.
      tries.delete(key);
      tries.set(key, recent);
      if (tries.size > MOST_KEYS) dropOldest(tries);
      const oldest = recent[0];
      if (recent.length >= limit.most && oldest !== undefined) {
        return Math.max(1, Math.ceil((oldest + limit.windowMs - now) / 1000));
      }
      recent.push(now);
      return null;
    },
    clear: () => tries.clear(),
  };
}

function dropOldest(tries: Map<string, number[]>): void {
  const first = tries.keys().next();
  if (!first.done) tries.delete(first.value);
}
