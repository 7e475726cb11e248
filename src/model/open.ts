// From a choice to something that can be called.
import { HermesError } from "#base/errors.ts";
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import type { ModelTarget } from "#agent/ports/model-client.ts";
import type { ModelChoice } from "./choose.ts";
import type { ModelSettings, SecretReader } from "./settings.ts";

export interface OpenDeps {
  readonly settings: ModelSettings;
  readonly secret: SecretReader;
  readonly clock: Clock;
  /** `cache/` of the home. */
  readonly cacheDir: string;
  readonly log: Log;
  /** HERMES_DEMO_DELAY_MS as a number; undefined: 15. */
  readonly demoDelayMs?: number | undefined;
  /** Takes secrets out of text that goes to logs or messages. The key that is sent is always taken out. */
  readonly redact?: ((text: string) => string) | undefined;
}

/** Throws HermesError `CONTEXT_TOO_SMALL` (78) for a window below 8192 tokens. */
export async function openTarget(choice: ModelChoice, _deps: OpenDeps): Promise<ModelTarget> {
  throw new HermesError("NOT_BUILT", choice.model);
}
