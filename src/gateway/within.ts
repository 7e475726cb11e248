// A limit on a wait.
import type { Clock } from "#base/clock.ts";

/** `work`, or the error that `late` makes once `limitMs` are over. The work itself goes on unheard. */
export async function within<T>(
  clock: Clock,
  limitMs: number,
  work: Promise<T>,
  late: () => Error,
): Promise<T> {
  let timer: { cancel(): void } | null = null;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = clock.after(limitMs, () => reject(late()));
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    (timer as { cancel(): void } | null)?.cancel();
    work.catch(() => undefined);
  }
}

/** Resolves when the work has ended either way, or `limitMs` are over: true when it ended in time. */
export function endsWithin(
  clock: Clock,
  limitMs: number,
  work: Promise<unknown>,
): Promise<boolean> {
  return within(clock, limitMs, work, () => new Error("too late")).then(
    () => true,
    () => false,
  );
}
