// Time is injected: production code takes a Clock, tests hand in one that they move by hand.

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds that never go back; only differences mean something. */
  monotonicMs(): number;
  /** Calls `run` once after `delayMs`. The timer does not keep the process alive by itself. */
  after(delayMs: number, run: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    const handle = setTimeout(run, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

/**
 * Resolves after `delayMs` of the clock, or rejects with the signal's reason as soon as it aborts.
 * Keep-alive is the caller's business: the timer itself is unreferenced.
 */
export function waitFor(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason as Error);
    };
    const timer = clock.after(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Seconds since 1970 with fraction, the unit of every time column in the store. */
export function epochSeconds(clock: Clock): number {
  return clock.now() / 1000;
}
