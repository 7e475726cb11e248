// The wire of a completion: one object, or chunks as server-sent events. Shapes are those of OpenAI's chat completions.
import { randomHex } from "#base/ids.ts";
import type { Usage } from "#protocol/messages.ts";

export interface Heading {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

export function makeHeading(model: string, nowMs: number): Heading {
  return { id: `chatcmpl-${randomHex(24)}`, created: Math.floor(nowMs / 1000), model };
}

export type FinishReason = "stop" | "length";

export function completionBody(
  { id, created, model }: Heading,
  text: string,
  finish: FinishReason,
  usage: Usage,
): Readonly<Record<string, unknown>> {
  const message = { role: "assistant", content: text, refusal: null };
  return {
    id,
    object: "chat.completion",
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage: usageBody(usage),
  };
}

export function chunkBody(
  { id, created, model }: Heading,
  delta: Readonly<Record<string, unknown>>,
  finish: FinishReason | null = null,
): Readonly<Record<string, unknown>> {
  const choice = { index: 0, delta, logprobs: null, finish_reason: finish };
  return { id, object: "chat.completion.chunk", created, model, choices: [choice] };
}

export function usageChunk(
  { id, created, model }: Heading,
  usage: Usage,
): Readonly<Record<string, unknown>> {
  return {
    id,
    object: "chat.completion.chunk",
    created,
    model,
    choices: [],
    usage: usageBody(usage),
  };
}

function usageBody(usage: Usage): Readonly<Record<string, unknown>> {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
  };
}
