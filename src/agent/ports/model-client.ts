// Port to a language model. Adapters live in the `model` room.
import type { ToolCall, Usage } from "#protocol/messages.ts";
import type { ModelError } from "#protocol/model-errors.ts";

/** JSON Schema of a tool's input, as it goes on the wire. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

/** Reasoning of an earlier answer; replayed only to the provider that made it, with its own signature. */
export interface StoredReasoning {
  readonly provider: string;
  readonly text: string;
  readonly details: unknown;
}

export type ModelMessage =
  | { readonly role: "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly toolCalls: readonly ToolCall[];
      readonly reasoning?: StoredReasoning;
    }
  | {
      readonly role: "tool";
      readonly callId: string;
      readonly name: string;
      readonly content: string;
    };

export type ReasoningEffort = "" | "none" | "low" | "medium" | "high";

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSpec[];
  /** `none` leaves the tools on the wire and forbids their use. */
  readonly toolChoice: "auto" | "none";
  readonly effort: ReasoningEffort;
  /** null: leave it to the provider. */
  readonly maxOutputTokens: number | null;
  readonly signal: AbortSignal;
  /**
   * Sign of life without an event: the answer's headers came, or a piece of a tool call's arguments. Ends the first-byte
   * watchdog and starts the one between chunks anew (agent.md §3.4).
   */
  readonly onProgress?: () => void;
}

export type FinishReason = "stop" | "length" | "tool-calls" | "content-filter" | "other";

export type ModelEvent =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string }
  | {
      readonly type: "tool-call";
      readonly callId: string;
      readonly name: string;
      /** Parsed arguments; when `invalid` is there, whatever could be made of them (`{}`). */
      readonly input: unknown;
      /** Arguments as they came over the wire. */
      readonly inputText: string;
      /** The parser's message: unparsable arguments. Unknown names are the loop's business, not marked here. */
      readonly invalid?: string;
    }
  | {
      readonly type: "finish";
      readonly reason: FinishReason;
      readonly usage: Usage;
      readonly reasoningDetails?: unknown;
    }
  | { readonly type: "error"; readonly error: ModelError };

/**
 * One call of `stream` is exactly one HTTP request. It never retries, never runs tools and never throws: the last event
 * is `finish` or `error`, once. After an abort it ends with `error` of kind `aborted`, within a second.
 * A stream that carried an `error` part must not end with `finish`.
 */
export interface ModelClient {
  stream(request: ModelRequest): AsyncIterable<ModelEvent>;
}

/** A model that was chosen and can be called, with the facts that the loop needs. */
export interface ModelTarget {
  /** Provider id: `openrouter`, `anthropic`, `custom`, `demo`, … */
  readonly provider: string;
  readonly model: string;
  readonly client: ModelClient;
  /** Context window in tokens. */
  readonly contextWindow: number;
  readonly maxOutputTokens: number | null;
  /** Watchdogs, §3.4: no byte at all, and no content between two chunks. */
  readonly firstByteTimeoutMs: number;
  readonly chunkTimeoutMs: number;
  /** True on the Anthropic wire: history sends reasoning back with its signature. */
  readonly replaysReasoning: boolean;
  /** True for the built-in demo model, which is labelled everywhere and never a fallback. */
  readonly demo: boolean;
}
