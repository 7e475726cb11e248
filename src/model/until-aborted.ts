// Reading a stream that may hang.

/** The items of `stream`; ends at once when `signal` aborts, even where the SDK or the socket does not. */
export async function* untilAborted<T>(
  stream: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const iterator = stream[Symbol.asyncIterator]();
  const { promise, resolve } = Promise.withResolvers<"aborted">();
  const onAbort = (): void => resolve("aborted");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    for (;;) {
      const next = iterator.next();
      next.catch(() => undefined);
      const step = await Promise.race([promise, next]);
      if (step === "aborted" || step.done) return;
      yield step.value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
    // Not awaited: it may hang as long as the socket does.
    iterator.return?.().catch(() => undefined);
  }
}
