// Waiting for something that may never come: with a limit on the injected clock, and until an abort.
import type { Clock, Timer } from "#base/clock.ts";

export type Within<T> =
  | { readonly came: "value"; readonly value: T }
  | { readonly came: "timeout" }
  | { readonly came: "abort" };

export interface Limit {
  readonly clock: Clock;
  /** null: no limit. */
  readonly ms: number | null;
  /** null: nothing aborts this wait. */
  readonly signal: AbortSignal | null;
}

/** Whichever comes first. Rejects only when the promise does; a promise that loses is left to settle unheard. */
export function within<T>(promise: Promise<T>, limit: Limit): Promise<Within<T>> {
  return new Promise((resolve, reject) => {
    let timer: Timer | null = null;
    const settle = (run: () => void): void => {
      timer?.cancel();
      limit.signal?.removeEventListener("abort", onAbort);
      run();
    };
    const onAbort = (): void => settle(() => resolve({ came: "abort" }));
    promise.then(
      (value) => settle(() => resolve({ came: "value", value })),
      (error: unknown) => settle(() => reject(error)),
    );
    if (limit.signal?.aborted) return onAbort();
    limit.signal?.addEventListener("abort", onAbort, { once: true });
    if (limit.ms !== null) {
      timer = limit.clock.after(limit.ms, () => settle(() => resolve({ came: "timeout" })));
    }
  });
}
