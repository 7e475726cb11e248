// Waiting for a condition with a deadline: the only way a test may wait.

/**
 * Asks `condition` until it returns something truthy and returns that. Fails with `what` and the last error after
 * `deadlineMs` (10 s by default), which outlives no test runner limit because the runner sets none.
 */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  deadlineMs = 10_000,
): Promise<NonNullable<T>> {
  const end = performance.now() + deadlineMs;
  let last: unknown = "the condition stayed false";
  for (;;) {
    try {
      const value = await condition();
      if (value) return value;
    } catch (error) {
      last = error;
    }
    if (performance.now() > end) {
      throw new Error(`waited ${deadlineMs} ms for: ${what}`, { cause: last });
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
}
