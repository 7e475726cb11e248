// One closed switch from the SDK's stream parts to our events (agent.md §3.1).
import type { TextStreamPart, ToolSet } from "ai";
import type { FinishReason, ModelEvent } from "#agent/ports/model-client.ts";
import type { Usage } from "#protocol/messages.ts";
import { isTooDeep, MOST_LEVELS } from "./nesting.ts";
import type { ReasoningBlock, ReasoningDetails } from "./wire-messages.ts";

type Part = TextStreamPart<ToolSet>;
type FinishStep = Extract<Part, { type: "finish-step" }>;

export type PartOutcome =
  | {
      readonly event: Extract<ModelEvent, { type: "text-delta" | "reasoning-delta" | "tool-call" }>;
    }
  /** Content that makes no event of its own. */
  | { readonly progress: true }
  | { readonly failure: unknown }
  | { readonly aborted: true }
  | null;

/** Reads the parts of one call, in order; `finish()` says how it ended. */
export class PartReader {
  #text = false;
  #calls = false;
  #step: FinishStep | null = null;
  readonly #inputs = new Map<string, string>();
  readonly #blocks = new Map<string, { text: string; signature?: string; redactedData?: string }>();

  read(part: Part): PartOutcome {
    switch (part.type) {
      case "text-delta":
        if (part.text === "") return null;
        this.#text = true;
        return { event: { type: "text-delta", text: part.text } };
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.#reasoning(part);
      case "tool-input-delta":
        this.#inputs.set(part.id, (this.#inputs.get(part.id) ?? "") + part.delta);
        return { progress: true };
      case "tool-input-start":
      case "tool-input-end":
      case "ping":
        return { progress: true };
      case "tool-call":
        this.#calls = true;
        return { event: toolCallEvent(part, this.#inputs.get(part.toolCallId)) };
      case "finish-step":
        this.#step = part;
        return null;
      case "error":
        return { failure: part.error };
      case "abort":
        return { aborted: true };
      case "start":
      case "start-step":
      case "finish":
      case "text-start":
      case "text-end":
      // Made up by the SDK for invalid calls: our loop answers those itself.
      case "tool-error":
      case "tool-result":
      case "tool-output-denied":
      case "tool-approval-request":
      case "tool-approval-response":
      case "steering-message":
      case "source":
      case "file":
      case "reasoning-file":
      case "custom":
      case "raw":
        return null;
      default:
        return part satisfies never;
    }
  }

  #reasoning(
    part: Extract<Part, { type: "reasoning-start" | "reasoning-delta" | "reasoning-end" }>,
  ): PartOutcome {
    const block = this.#blocks.get(part.id) ?? { text: "" };
    this.#blocks.set(part.id, block);
    const signed = part.providerMetadata?.["anthropic"];
    if (typeof signed?.["signature"] === "string") block.signature = signed["signature"];
    if (typeof signed?.["redactedData"] === "string") block.redactedData = signed["redactedData"];
    if (part.type !== "reasoning-delta" || part.text === "") return null;
    block.text += part.text;
    return { event: { type: "reasoning-delta", text: part.text } };
  }

  /** null: the stream ended without a usable end. */
  finish(): FinishedCall | null {
    const reason = this.#step === null ? null : finishReason(this.#step);
    if (this.#step === null || reason === null) return null;
    return {
      // Some servers say `stop` behind their calls.
      reason: this.#calls && (reason === "stop" || reason === "other") ? "tool-calls" : reason,
      usage: usageOf(this.#step.usage),
      details: this.#details(),
      isEmpty: !this.#text && !this.#calls,
    };
  }

  #details(): ReasoningDetails | null {
    const blocks: readonly ReasoningBlock[] = [...this.#blocks.values()].filter(
      (block) => block.signature !== undefined || block.redactedData !== undefined,
    );
    return blocks.length === 0 ? null : { blocks };
  }
}

export interface FinishedCall {
  readonly reason: FinishReason;
  readonly usage: Usage;
  readonly details: ReasoningDetails | null;
  readonly isEmpty: boolean;
}

/** `error`, `interrupted` (cut before its end) and an `other` that the provider never said are no way to end. */
function finishReason({
  finishReason: reason,
  rawFinishReason: raw,
}: FinishStep): FinishReason | null {
  switch (reason) {
    case "stop":
    case "length":
    case "tool-calls":
    case "content-filter":
      return reason;
    case "other":
      return raw === undefined ? null : reason;
    case "error":
    case "interrupted":
      return null;
    default:
      return reason satisfies never;
  }
}

function usageOf(usage: FinishStep["usage"]): Usage {
  return {
    input: usage.inputTokens ?? 0,
    output: usage.outputTokens ?? 0,
    cacheRead: usage.inputTokenDetails.cacheReadTokens ?? 0,
    cacheWrite: usage.inputTokenDetails.cacheWriteTokens ?? 0,
    reasoning: usage.outputTokenDetails.reasoningTokens ?? 0,
  };
}

/** The SDK calls unknown names invalid too; those are the loop's business, only unparsable arguments are marked here. */
function toolCallEvent(
  part: Extract<Part, { type: "tool-call" }>,
  streamed: string | undefined,
): Extract<ModelEvent, { type: "tool-call" }> {
  const inputText =
    streamed ?? (typeof part.input === "string" ? part.input : JSON.stringify(part.input ?? {}));
  const head = {
    type: "tool-call",
    callId: part.toolCallId,
    name: part.toolName,
    inputText,
  } as const;
  if (inputText.trim() === "") return { ...head, input: {} };
  try {
    const input = JSON.parse(inputText) as unknown;
    if (!isTooDeep(input)) return { ...head, input };
    return { ...head, input: {}, invalid: `nested more than ${MOST_LEVELS} levels deep` };
  } catch (error) {
    return { ...head, input: {}, invalid: (error as Error).message };
  }
}
