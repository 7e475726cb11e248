// How often somebody may try a password or start a login (dashboard.md §10). In memory; the owner clears it with
// `hermes dashboard unlock`, so that a lock never keeps the owner out (field-rules J14).
import { createHash } from "node:crypto";
import type { Clock } from "#base/clock.ts";
import { limiterKey } from "./addresses.ts";
import { createLimiter } from "./limiter.ts";

const MOST_KEYS = 10_000;
const FREE_FAILURES = 5;
const LONGEST_DELAY_MS = 15 * 60_000;
/** Failures are forgotten this long after the last one. */
const MEMORY_MS = 24 * 3_600_000;

export interface LoginLimits {
  /** Before a password is looked at. null: go on; else the seconds to wait. Counts the try, right or wrong. */
  beforePassword(username: string, client: string): number | null;
  passwordFailed(username: string, client: string): void;
  passwordRight(username: string, client: string): void;
  /** `/auth/login` and `/auth/callback`. */
  beforeRedirect(client: string): number | null;
  /** null: everybody. */
  unlock(username: string | null): void;
}

interface Failures {
  readonly user: string;
  count: number;
  lastAt: number;
  blockedUntil: number;
}

export function createLoginLimits(clock: Clock): LoginLimits {
  const tries = createLimiter({ most: 10, windowMs: 60_000 }, clock);
  const redirects = createLimiter({ most: 30, windowMs: 60_000 }, clock);
  const failures = new Map<string, Failures>();

  const find = (key: string): Failures | null => {
    const found = failures.get(key);
    if (found && clock.monotonicMs() - found.lastAt < MEMORY_MS) return found;
    failures.delete(key);
    return null;
  };
  return {
    beforePassword(username, client) {
      const wait = tries.hit(limiterKey(client));
      if (wait !== null) return wait;
      const found = find(keyOf(username, client));
      const left = found === null ? 0 : found.blockedUntil - clock.monotonicMs();
      return left > 0 ? Math.ceil(left / 1000) : null;
    },
    passwordFailed(username, client) {
      const key = keyOf(username, client);
      const now = clock.monotonicMs();
      const count = (find(key)?.count ?? 0) + 1;
      // Deleted and set again: the first entry of the map is then the one that was used longest ago.
      failures.delete(key);
      failures.set(key, {
        user: digestOf(username),
        count,
        lastAt: now,
        blockedUntil: now + delayAfter(count),
      });
      dropOldest(failures);
    },
    passwordRight: (username, client) => void failures.delete(keyOf(username, client)),
    beforeRedirect: (client) => redirects.hit(limiterKey(client)),
    unlock(username) {
      tries.clear();
      redirects.clear();
      const user = username === null ? null : digestOf(username);
      for (const [key, entry] of failures) {
        if (user === null || entry.user === user) failures.delete(key);
      }
    },
  };
}

/** 1 s after the fifth failure, then doubling to 15 min. */
function delayAfter(count: number): number {
  if (count < FREE_FAILURES) return 0;
  return Math.min(LONGEST_DELAY_MS, 1000 * 2 ** Math.min(count - FREE_FAILURES, 20));
}

/** A digest: a name may be of any length, and need not lie in memory. */
function digestOf(username: string): string {
  return createHash("sha256").update(username, "utf8").digest("base64url");
}

function keyOf(username: string, client: string): string {
  return `${digestOf(username)} ${limiterKey(client)}`;
}

function dropOldest(failures: Map<string, Failures>): void {
  const first = failures.keys().next();
  if (failures.size > MOST_KEYS && !first.done) failures.delete(first.value);
}
