// One call to a provider: it ends after 10 s, whatever the provider does with its signal (dashboard.md §5.1).
import type { Clock } from "#base/clock.ts";
import { AuthError } from "./providers/auth-error.ts";
import { CALL_LIMIT_MS } from "./providers/provider.ts";

export async function callProvider<T>(
  clock: Clock,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const late = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener("abort", () =>
      reject(new AuthError("unreachable", "The provider did not answer within 10 seconds")),
    );
  });
  const timer = clock.after(CALL_LIMIT_MS, () => controller.abort());
  try {
    return await Promise.race([run(controller.signal), late]);
  } finally {
    timer.cancel();
  }
}
