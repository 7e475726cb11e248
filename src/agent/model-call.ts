// A model call with its retries and fallbacks: attempts until one reply, or ModelFailed (agent.md §3.4).
import { waitFor } from "#base/clock.ts";
import { messageOf } from "#base/errors.ts";
import type { ModelError } from "#protocol/model-errors.ts";
import { attemptCall, type Attempt, type Reply, type ToolChoice } from "./model-attempt.ts";
import { jitterOf, nextStep } from "./model-retry.ts";
import type { ModelTarget } from "./ports/model-client.ts";
import { ModelFailed, showState, type Turn } from "./turn.ts";

/** Entries of fallback_providers that are looked at; the port cannot tell "no more" from "cannot be used". */
const MAX_FALLBACKS = 16;

export type CallOutcome =
  | { readonly type: "reply"; readonly reply: Reply }
  /** The conversation does not fit; what to do about it is the loop's business. */
  | { readonly type: "too-long"; readonly error: ModelError };

/** Throws TurnStopped when the turn was stopped, ModelFailed when nothing is left to try. */
export async function callModel(turn: Turn, toolChoice: ToolChoice): Promise<CallOutcome> {
  const { settings } = turn.deps;
  const maxAttempts = (settings.apiMaxRetries + 1) * (MAX_FALLBACKS + 1);
  let failedBefore = 0;
  for (let attempt = 1; ; attempt++) {
    showState(turn, "calling");
    const result = await attemptCall(turn, toolChoice, attempt);
    turn.stop.throwIfStopped();
    if (result.ok) return { type: "reply", reply: result.reply };
    const facts = {
      failedBefore: failedBefore++,
      maxRetries: settings.apiMaxRetries,
      jitter: jitterOf(turn.input.turnId, attempt),
    };
    const next = nextStep(result.error, facts);
    if (next.step === "give-up" || attempt >= maxAttempts) throw new ModelFailed(result.error);
    if (next.step === "compress") return tooLong(turn, result, attempt);
    if (next.step === "wait") await waitAndRetry(turn, result, attempt, next.ms);
    else {
      await moveOn(turn, result, attempt);
      failedBefore = 0;
    }
  }
}

type Failure = Extract<Attempt, { ok: false }>;

function tooLong(turn: Turn, failure: Failure, attempt: number): CallOutcome {
  if (failure.shown) tellRetry(turn, failure, attempt, 0);
  return { type: "too-long", error: failure.error };
}

async function waitAndRetry(
  turn: Turn,
  failure: Failure,
  attempt: number,
  ms: number,
): Promise<void> {
  tellRetry(turn, failure, attempt, ms);
  await waitFor(turn.deps.clock, ms, turn.stop.signal);
}

/** The fallback stays for the rest of the turn; the next turn starts with the session's model again. */
async function moveOn(turn: Turn, failure: Failure, attempt: number): Promise<void> {
  const target = await nextFallback(turn);
  turn.stop.throwIfStopped();
  if (!target) throw new ModelFailed(failure.error);
  turn.target = target;
  tellRetry(turn, failure, attempt, 0, target);
}

async function nextFallback(turn: Turn): Promise<ModelTarget | null> {
  while (turn.nextFallback < MAX_FALLBACKS) {
    const target = await turn.deps.fallback(turn.nextFallback++).catch((error: unknown) => {
      turn.deps.log.warn("a fallback model cannot be used", { error: messageOf(error) });
      return null;
    });
    if (target) return target;
  }
  return null;
}

function tellRetry(
  turn: Turn,
  failure: Failure,
  attempt: number,
  waitMs: number,
  fallback?: ModelTarget,
): void {
  const { kind, message } = failure.error;
  turn.deps.emit({
    type: "model-retry",
    attempt,
    kind,
    message,
    waitMs,
    discardText: failure.shown,
    ...(fallback ? { fallback: { provider: fallback.provider, model: fallback.model } } : {}),
  });
}
