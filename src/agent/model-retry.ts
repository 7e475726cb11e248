// What follows a failed attempt: the waits of agent.md §3.4 over the kinds of §3.5. Pure.
import type { ModelError } from "#protocol/model-errors.ts";
import { MODEL_ERROR_RULES } from "./model-error-rules.ts";

const LONGEST_WAIT_MS = 30_000;
/** A longer `Retry-After` moves on at once. */
const LONGEST_RETRY_AFTER_MS = 60_000;
/** Attempts after the first for answers that cannot be used. */
const UNUSABLE_RETRIES = 2;

export type NextStep =
  | { readonly step: "wait"; readonly ms: number }
  | { readonly step: "fallback" }
  | { readonly step: "compress" }
  | { readonly step: "give-up" };

export interface RetryFacts {
  /** Failed attempts on this target before this one. */
  readonly failedBefore: number;
  readonly maxRetries: number;
  /** 0..1, spreads the waits over 0.8..1.2. */
  readonly jitter: number;
}

export function nextStep(error: ModelError, facts: RetryFacts): NextStep {
  const rule = MODEL_ERROR_RULES[error.kind];
  if (rule.retry === "compress") return { step: "compress" };
  const limit =
    rule.retry === "no"
      ? 0
      : rule.retry === "twice"
        ? Math.min(UNUSABLE_RETRIES, facts.maxRetries)
        : facts.maxRetries;
  const isTooLong = (error.retryAfterMs ?? 0) > LONGEST_RETRY_AFTER_MS;
  if (facts.failedBefore < limit && !isTooLong) return { step: "wait", ms: waitMs(error, facts) };
  return rule.fallback === "never" ? { step: "give-up" } : { step: "fallback" };
}

/** 1, 2, 4 … ≤ 30 s, each × 0.8..1.2; what `Retry-After` asks for is taken as it is. */
function waitMs(error: ModelError, facts: RetryFacts): number {
  if (error.retryAfterMs !== undefined) return error.retryAfterMs;
  const base = Math.min(LONGEST_WAIT_MS, 1000 * 2 ** facts.failedBefore);
  return Math.round(base * (0.8 + 0.4 * facts.jitter));
}

/** A number in 0..1 from a random id and a counter: spreads processes without a source of randomness in this room. */
export function jitterOf(id: string, count: number): number {
  let hash = 0x811c9dc5;
  for (const char of `${id}/${count}`) {
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  }
  return (hash >>> 8) / 0x1000000;
}
