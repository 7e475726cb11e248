// True for the first call with a key in a minute: for audit lines that somebody could repeat at will.
import type { Clock } from "#base/clock.ts";

const MINUTE_MS = 60_000;
const MOST_KEYS = 10_000;

export function createMinuteOnce(clock: Clock): (key: string) => boolean {
  const seen = new Map<string, number>();
  return (key) => {
    const now = clock.monotonicMs();
    const last = seen.get(key);
    if (last !== undefined && now - last < MINUTE_MS) return false;
    seen.delete(key);
    seen.set(key, now);
    const oldest = seen.keys().next();
    if (seen.size > MOST_KEYS && !oldest.done) seen.delete(oldest.value);
    return true;
  };
}
