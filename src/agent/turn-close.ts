// The end of a turn: final row and turn row in one transaction, then `turn-end` (I4, I5, I7).
import { EXIT } from "#base/exit-codes.ts";
import { type HermesError, isHermesError, messageOf } from "#base/errors.ts";
import type { TurnError } from "#protocol/events.ts";
import { NO_USAGE } from "#protocol/messages.ts";
import type { Reply } from "./model-attempt.ts";
import type { NewMessage } from "./ports/session-store.ts";
import type { TurnDeps, TurnEnd, TurnInput } from "./ports/turn.ts";
import { ModelFailed, now, tellSaved, type Turn } from "./turn.ts";

export type Ending =
  | { readonly outcome: "done"; readonly reply: Reply }
  | { readonly outcome: "budget"; readonly budget: "rounds"; readonly reply: Reply | null }
  | { readonly outcome: "budget"; readonly budget: "wall-clock" }
  | { readonly outcome: "interrupted" }
  | { readonly outcome: "failed"; readonly error: TurnError };

/** Never throws. A store that takes nothing any more makes the outcome `failed`; the text is still in `turn-end`. */
export async function closeTurn(turn: Turn, ending: Ending): Promise<TurnEnd> {
  turn.deps.emit({
    type: "status",
    state: ending.outcome === "failed" ? "failed" : "finishing",
  });
  const row = finalRow(turn, ending);
  const error = ending.outcome === "failed" ? ending.error : null;
  const closed = await tryClose(turn, ending, row);
  if (closed.ok) return tellEnd(turn, { ending, row, messageId: closed.messageId, error });
  const failure = error ?? closed.error;
  const failed: Ending = { outcome: "failed", error: failure };
  return tellEnd(turn, { ending: failed, row, messageId: null, error: failure });
}

/** For a turn that ended before it began: nothing is stored, viewers are told. Never throws. */
export function refuseTurn(
  input: TurnInput,
  deps: TurnDeps,
  startedMs: number,
  cause: unknown,
): TurnEnd {
  const error = turnErrorOf(cause, deps);
  deps.emit({ type: "status", state: "failed" });
  deps.emit({
    type: "turn-end",
    outcome: "failed",
    text: "",
    messageId: null,
    usage: NO_USAGE,
    durationMs: Math.round(deps.clock.monotonicMs() - startedMs),
    error,
  });
  return {
    sessionId: input.sessionId,
    outcome: "failed",
    text: "",
    messageId: null,
    usage: NO_USAGE,
    apiCalls: 0,
    costUsd: 0,
    provider: null,
    model: null,
    budget: null,
    error,
  };
}

/** What viewers and the exit code are told of something thrown. The message holds no secret. */
export function turnErrorOf(cause: unknown, deps: Pick<TurnDeps, "redactor" | "log">): TurnError {
  if (cause instanceof ModelFailed) return { kind: cause.error.kind, message: cause.error.message };
  const message = deps.redactor.text(messageOf(cause));
  if (!isHermesError(cause)) {
    deps.log.error("a turn failed inside", { error: message, stack: stackOf(cause) });
    return { kind: "internal", message: `internal error: ${message}` };
  }
  return { kind: kindOf(cause), message, code: cause.code };
}

function kindOf(error: HermesError): TurnError["kind"] {
  if (error.code.startsWith("STORE_") || error.code === "SESSION_NOT_FOUND") return "store";
  if (error.exit !== EXIT.refused) return "internal";
  // Both kinds end a command with 78, which is what the error asks for.
  return error.code.startsWith("CREDENTIAL") ? "auth" : "model-missing";
}

function stackOf(cause: unknown): string | null {
  return cause instanceof Error ? (cause.stack ?? null) : null;
}

/** The answer, or what was shown of it when the turn ended early; null when there is nothing to store (I2). */
function finalRow(turn: Turn, ending: Ending): NewMessage | null {
  const reply = "reply" in ending ? ending.reply : null;
  const text = reply?.text ?? turn.live?.text ?? "";
  if (text === "") return null;
  return {
    role: "assistant",
    content: text,
    timestamp: now(turn),
    finishReason: reply?.finishReason ?? "interrupted",
    reasoning: (reply?.reasoning ?? turn.live?.reasoning) || null,
    reasoningDetails: reply?.reasoningDetails ?? null,
    turnId: turn.input.turnId,
  };
}

type Closed =
  | { readonly ok: true; readonly messageId: number | null }
  | { readonly ok: false; readonly error: TurnError };

async function tryClose(turn: Turn, ending: Ending, row: NewMessage | null): Promise<Closed> {
  const error = ending.outcome === "failed" ? ending.error : null;
  // What waited for the store to its limit already, or found it damaged, is not tried a second time.
  if (error?.code === "STORE_BUSY" || error?.code === "STORE_CORRUPT") return { ok: false, error };
  try {
    const ids = await turn.deps.store.closeTurn({
      turnId: turn.input.turnId,
      sessionId: turn.session.id,
      outcome: ending.outcome,
      errorKind: error?.kind ?? null,
      endedAt: now(turn),
      messages: row ? [row] : [],
      state: "idle",
    });
    return { ok: true, messageId: ids[0] ?? null };
  } catch (failure) {
    return { ok: false, error: turnErrorOf(failure, turn.deps) };
  }
}

interface End {
  readonly ending: Ending;
  readonly row: NewMessage | null;
  readonly messageId: number | null;
  readonly error: TurnError | null;
}

function tellEnd(turn: Turn, { ending, row, messageId, error }: End): TurnEnd {
  const { deps, usage } = turn;
  const { outcome } = ending;
  const text = row?.content ?? "";
  const durationMs = Math.round(deps.clock.monotonicMs() - turn.startedMs);
  if (row && messageId !== null) tellSaved(turn, messageId, row);
  deps.emit({
    type: "turn-end",
    outcome,
    text,
    messageId,
    usage,
    durationMs,
    ...(error ? { error } : {}),
  });
  return {
    sessionId: turn.session.id,
    outcome,
    text,
    messageId,
    usage,
    apiCalls: turn.apiCalls,
    costUsd: turn.costUsd,
    provider: turn.target.provider,
    model: turn.target.model,
    budget: "budget" in ending ? ending.budget : null,
    error,
  };
}
