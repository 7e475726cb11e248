// One request to a model: streamed to viewers, collected into a reply. Never retries (agent.md §3.4 is model-call.ts).
import type { ModelError } from "#protocol/model-errors.ts";
import type { Usage } from "#protocol/messages.ts";
import { LiveText } from "./live-text.ts";
import type { FinishReason, ModelEvent, ModelRequest } from "./ports/model-client.ts";
import { countUsage, type Turn } from "./turn.ts";
import { watchedStream } from "./watched-stream.ts";
import { wireHistory } from "./wire-history.ts";

export type ModelCall = Extract<ModelEvent, { type: "tool-call" }>;

export interface Reply {
  /** As shown, redacted. */
  readonly text: string;
  readonly reasoning: string;
  /** Provider's own form, or null when there is none that may be stored. */
  readonly reasoningDetails: unknown;
  readonly calls: readonly ModelCall[];
  readonly finishReason: FinishReason;
}

export type Attempt =
  | { readonly ok: true; readonly reply: Reply }
  | { readonly ok: false; readonly error: ModelError; readonly shown: boolean };

export type ToolChoice = ModelRequest["toolChoice"];

interface Ending {
  readonly calls: readonly ModelCall[];
  readonly last: Extract<ModelEvent, { type: "finish" | "error" }>;
}

/**
 * Emits `model-start`, the deltas and, for a good reply, `model-end`. No tool starts here: calls are handed back only
 * after the stream's end (I6). A failed attempt leaves nothing in `turn.live`; a stopped one leaves what was shown.
 */
export async function attemptCall(
  turn: Turn,
  toolChoice: ToolChoice,
  attempt: number,
): Promise<Attempt> {
  const { target, deps } = turn;
  const startedMs = deps.clock.monotonicMs();
  const { provider, model } = target;
  turn.apiCalls++;
  turn.live = new LiveText(deps, { turnId: turn.input.turnId, sessionId: turn.session.id });
  deps.emit({ type: "model-start", attempt, provider, model });
  const sentRows = turn.rows.length;
  const { calls, last } = await collect(turn, turn.live, requestOf(turn, toolChoice));
  const error = last.type === "error" ? last.error : unusable(last.reason, turn.live.text, calls);
  if (error) return failed(turn, turn.live, error);
  await endWell(turn, last as FinishEvent, sentRows, startedMs);
  return { ok: true, reply: replyOf(turn, turn.live, calls, last as FinishEvent) };
}

type FinishEvent = Extract<ModelEvent, { type: "finish" }>;

function requestOf(turn: Turn, toolChoice: ToolChoice): ModelRequest {
  return {
    system: turn.system,
    messages: wireHistory(turn.rows, turn.target),
    tools: turn.tools,
    toolChoice,
    effort: turn.deps.settings.effort,
    maxOutputTokens: turn.target.maxOutputTokens,
    signal: turn.stop.signal,
  };
}

async function collect(turn: Turn, live: LiveText, request: ModelRequest): Promise<Ending> {
  const calls: ModelCall[] = [];
  for await (const event of watchedStream(turn.target, request, turn.deps.clock)) {
    switch (event.type) {
      case "text-delta":
        await live.push("text", event.text);
        break;
      case "reasoning-delta":
        await live.push("reasoning", event.text);
        break;
      case "tool-call":
        // After the last call (toolChoice none) calls have no place: what a model asks for against orders is dropped.
        if (request.toolChoice === "auto") calls.push(event);
        break;
      case "finish":
        await live.end();
        return { calls, last: event };
      case "error":
        return { calls, last: event };
    }
  }
  return { calls, last: { type: "error", error: { kind: "garbled", message: "no end" } } };
}

function unusable(
  reason: FinishReason,
  text: string,
  calls: readonly ModelCall[],
): ModelError | null {
  if (reason === "content-filter") {
    return { kind: "filtered", message: "the answer was blocked by the provider" };
  }
  return text.trim() === "" && calls.length === 0
    ? { kind: "empty", message: "the model's answer was empty" }
    : null;
}

async function failed(turn: Turn, live: LiveText, error: ModelError): Promise<Attempt> {
  const { deps, target, input } = turn;
  if (turn.stop.cause !== null) return { ok: false, error, shown: false };
  turn.live = null;
  const shown = live.text !== "" || live.reasoning !== "";
  if (live.text !== "") await deps.store.clearDraft(input.turnId);
  deps.log.error("a model call failed", {
    provider: target.provider,
    model: target.model,
    kind: error.kind,
    status: error.status,
    detail: error.logDetail,
  });
  return { ok: false, error: { ...error, message: deps.redactor.text(error.message) }, shown };
}

async function endWell(
  turn: Turn,
  end: FinishEvent,
  sentRows: number,
  startedMs: number,
): Promise<void> {
  const { deps } = turn;
  rememberSize(turn, end.usage, sentRows);
  const cost = await countUsage(turn, turn.target, end.usage);
  deps.emit({
    type: "model-end",
    finishReason: end.reason,
    usage: end.usage,
    ...(cost === null ? {} : { costUsd: cost }),
    durationMs: Math.round(deps.clock.monotonicMs() - startedMs),
  });
}

/** What the provider counted is the base of the next estimate (§4.7); a server that counts nothing leaves it unset. */
function rememberSize(turn: Turn, usage: Usage, sentRows: number): void {
  turn.deps.memory.lastPromptTokens = usage.input;
  turn.deps.memory.lastPromptMessages = usage.input > 0 ? sentRows : 0;
}

function replyOf(turn: Turn, live: LiveText, calls: readonly ModelCall[], end: FinishEvent): Reply {
  return {
    text: live.text,
    reasoning: live.reasoning,
    reasoningDetails: storableDetails(turn, end.reasoningDetails),
    calls,
    finishReason: end.reason,
  };
}

/** Signed reasoning is kept whole or not at all: with a secret taken out its signature would not hold. */
function storableDetails(turn: Turn, details: unknown): unknown {
  if (details === undefined || details === null) return null;
  const text = JSON.stringify(details);
  return turn.deps.redactor.text(text) === text
    ? { provider: turn.target.provider, details }
    : null;
}
