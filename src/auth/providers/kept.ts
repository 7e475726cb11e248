// A document that is fetched when needed, kept while fresh, and used for a while longer when it cannot be fetched again.
import { messageOf } from "#base/errors.ts";
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import { AuthError } from "./auth-error.ts";
import { CALL_LIMIT_MS } from "./provider.ts";

export interface KeptOptions<T> {
  /** For logs. */
  readonly what: string;
  readonly freshMs: number;
  /** Age up to which the last good one serves while fetching fails. */
  readonly staleMs: number;
  /** After a failure nothing is asked for so long. */
  readonly failureMs: number;
  /** Not bound to any one caller: many wait for it. */
  fetch(limitMs: number): Promise<T>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Kept<T> {
  /** `isNew`: fetched for this very call. Rejects with what the fetch rejected with, or when the signal aborts. */
  get(signal: AbortSignal): Promise<{ readonly value: T; readonly isNew: boolean }>;
  /**
   * Fetches although the kept one is fresh, once per cool-down however many ask; joins a fetch under way; else what is at
   * hand, null for nothing.
   */
  renew(cooldownMs: number, signal: AbortSignal): Promise<T | null>;
  /** What is at hand, without asking anyone; null: nothing yet, or too old. */
  peek(): T | null;
}

/** A good copy must be used before the caller's own 10 s are over. */
const RENEW_LIMIT_MS = 5000;

/** Single-flight: however many ask, one fetch is under way. */
export function createKept<T>(options: KeptOptions<T>): Kept<T> {
  const { clock, log, what } = options;
  let good: { readonly value: T; readonly at: number } | null = null;
  let failure: { readonly error: unknown; readonly at: number } | null = null;
  let flight: Promise<T> | null = null;
  let renewedAt = Number.NEGATIVE_INFINITY;

  const usable = (withinMs: number): T | null =>
    good !== null && clock.monotonicMs() - good.at <= withinMs ? good.value : null;

  const fetchOnce = async (): Promise<T> => {
    try {
      const value = await options.fetch(good === null ? CALL_LIMIT_MS : RENEW_LIMIT_MS);
      good = { value, at: clock.monotonicMs() };
      failure = null;
      return value;
    } catch (error) {
      failure = { error, at: clock.monotonicMs() };
      const stale = usable(options.staleMs);
      if (stale === null) throw error;
      log.warn(`${what} cannot be fetched; the last good copy is used`, {
        reason: messageOf(error),
      });
      return stale;
    } finally {
      flight = null;
    }
  };

  const share = (signal: AbortSignal): Promise<T> => {
    flight ??= fetchOnce();
    return orAborted(flight, signal, what);
  };

  return {
    async get(signal) {
      const fresh = usable(options.freshMs);
      if (fresh !== null) return { value: fresh, isNew: false };
      if (failure !== null && clock.monotonicMs() - failure.at < options.failureMs) {
        const stale = usable(options.staleMs);
        if (stale === null) throw failure.error;
        return { value: stale, isNew: false };
      }
      return { value: await share(signal), isNew: true };
    },
    async renew(cooldownMs, signal) {
      if (flight === null) {
        if (clock.monotonicMs() - renewedAt < cooldownMs) return usable(options.staleMs);
        renewedAt = clock.monotonicMs();
      }
      return share(signal);
    },
    peek: () => usable(options.staleMs),
  };
}

/** The caller's signal ends the caller's waiting, not the work that others wait for. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new AuthError("unreachable", `${what}: no answer in time`));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
