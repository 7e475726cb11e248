// What each kind of model error leads to: the table of agent.md §3.5, once.
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import type { ModelErrorKind } from "#protocol/model-errors.ts";

export interface ModelErrorRule {
  /** `yes`: up to agent.api_max_retries; `twice`: two more attempts at most; `compress`: see §4.7; `no`: not again. */
  readonly retry: "yes" | "twice" | "compress" | "no";
  /** Goes to the next fallback provider: `now` without a retry, `after-retries`, or `never`. */
  readonly fallback: "now" | "after-retries" | "never";
  /** Exit code of `chat -q`. */
  readonly exit: ExitCode;
}

const RETRYABLE = { retry: "yes", fallback: "after-retries", exit: EXIT.failed } as const;

export const MODEL_ERROR_RULES: Readonly<Record<ModelErrorKind, ModelErrorRule>> = {
  auth: { retry: "no", fallback: "now", exit: EXIT.refused },
  billing: { retry: "no", fallback: "now", exit: EXIT.failed },
  "model-missing": { retry: "no", fallback: "now", exit: EXIT.refused },
  "rate-limit": RETRYABLE,
  overloaded: RETRYABLE,
  server: RETRYABLE,
  network: RETRYABLE,
  stalled: RETRYABLE,
  context: { retry: "compress", fallback: "never", exit: EXIT.failed },
  filtered: { retry: "no", fallback: "never", exit: EXIT.failed },
  garbled: { retry: "twice", fallback: "after-retries", exit: EXIT.failed },
  empty: { retry: "twice", fallback: "after-retries", exit: EXIT.failed },
  "bad-request": { retry: "no", fallback: "never", exit: EXIT.failed },
  aborted: { retry: "no", fallback: "never", exit: EXIT.interrupted },
};
