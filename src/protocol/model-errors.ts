// Kinds of a failed model call (agent.md §3.5). What each kind leads to stands in agent/model-error-rules.ts.
export type ModelErrorKind =
  | "auth"
  | "billing"
  | "model-missing"
  | "rate-limit"
  | "overloaded"
  | "server"
  | "network"
  | "stalled"
  | "context"
  | "filtered"
  | "garbled"
  | "empty"
  | "bad-request"
  | "aborted";

export interface ModelError {
  readonly kind: ModelErrorKind;
  /** One sentence for the user, without secrets and without the provider's raw body. */
  readonly message: string;
  /** HTTP status, where there was an answer. */
  readonly status?: number;
  /** Word of the system for a network failure: `ENOTFOUND`, `ECONNREFUSED`, `CERT_HAS_EXPIRED`, … */
  readonly code?: string;
  /** What `Retry-After` asked for. */
  readonly retryAfterMs?: number;
  /** Window in tokens that a context error named. */
  readonly contextLimit?: number;
  /** Redacted raw text for logs/errors.log; never shown. */
  readonly logDetail?: string;
}
