// placeholder
import type { Clock } from "#base/clock.ts";
import type { ModelClient } from "#agent/ports/model-client.ts";
export function createDemoClient(_options: {
  readonly clock: Clock;
  readonly delayMs?: number | undefined;
}): ModelClient {
  throw new Error("later");
}
