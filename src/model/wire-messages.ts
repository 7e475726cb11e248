// History in the SDK's form (agent.md §3.1): reasoning only where it came from, cache marks, ids and inputs that every wire takes.
import type { AssistantModelMessage, ModelMessage as SdkMessage, ToolModelMessage } from "ai";
import type { ModelMessage, StoredReasoning } from "#agent/ports/model-client.ts";
import type { ToolCall } from "#protocol/messages.ts";
import { isTooDeep } from "./nesting.ts";
import type { Wire } from "./providers.ts";

/** One block of thinking as the Anthropic wire signed it. */
export interface ReasoningBlock {
  readonly text: string;
  readonly signature?: string;
  /** Encrypted block without text. */
  readonly redactedData?: string;
}

/** What `finish.reasoningDetails` holds and `StoredReasoning.details` brings back. */
export interface ReasoningDetails {
  readonly blocks: readonly ReasoningBlock[];
}

const CACHE_MARK = { anthropic: { cacheControl: { type: "ephemeral" } } } as const;
/** System prompt and the two newest user or tool messages: three of the four marks that the API allows. */
const MARKED_MESSAGES = 2;

export function toSdkMessages(
  messages: readonly ModelMessage[],
  wire: Wire,
  provider: string,
): SdkMessage[] {
  const converted: SdkMessage[] = [];
  for (const message of messages) {
    const last = converted.at(-1);
    if (message.role === "tool" && last?.role === "tool") {
      // Results of one reply stand together, so that a cache mark lies on the end of all of them.
      converted[converted.length - 1] = {
        ...last,
        content: [...last.content, toolResult(message, wire)],
      };
    } else {
      converted.push(toSdkMessage(message, wire, provider));
    }
  }
  return wire === "anthropic-messages" ? markForCache(converted) : converted;
}

/** The system prompt; as a message object with a cache mark on the Anthropic wire. */
export function toInstructions(
  system: string,
  wire: Wire,
): string | { role: "system"; content: string; providerOptions: typeof CACHE_MARK } {
  return wire === "anthropic-messages"
    ? { role: "system", content: system, providerOptions: CACHE_MARK }
    : system;
}

function toSdkMessage(message: ModelMessage, wire: Wire, provider: string): SdkMessage {
  if (message.role === "user") return { role: "user", content: message.text };
  if (message.role === "tool") return { role: "tool", content: [toolResult(message, wire)] };
  return { role: "assistant", content: assistantContent(message, wire, provider) };
}

type AssistantContent = Exclude<AssistantModelMessage["content"], string>;

function assistantContent(
  message: Extract<ModelMessage, { role: "assistant" }>,
  wire: Wire,
  provider: string,
): AssistantContent {
  return [
    ...reasoningParts(message.reasoning, wire, provider),
    ...(message.text === "" ? [] : [{ type: "text", text: message.text } as const]),
    ...message.toolCalls.map((call) => toolCall(call, wire)),
  ];
}

/** Only the Anthropic wire takes its own signed blocks back; elsewhere they would go out as plain text. */
function reasoningParts(
  stored: StoredReasoning | undefined,
  wire: Wire,
  provider: string,
): AssistantContent {
  if (wire !== "anthropic-messages" || stored?.provider !== provider) return [];
  return blocksOf(stored.details).flatMap((block): AssistantContent => {
    if (block.signature !== undefined) {
      return [
        {
          type: "reasoning",
          text: block.text,
          providerOptions: { anthropic: { signature: block.signature } },
        },
      ];
    }
    if (block.redactedData === undefined) return [];
    return [
      {
        type: "reasoning",
        text: "",
        providerOptions: { anthropic: { redactedData: block.redactedData } },
      },
    ];
  });
}

function blocksOf(details: unknown): readonly ReasoningBlock[] {
  if (typeof details !== "object" || details === null || !("blocks" in details)) return [];
  return Array.isArray(details.blocks) ? (details.blocks as ReasoningBlock[]) : [];
}

function toolCall(call: ToolCall, wire: Wire): AssistantContent[number] {
  return {
    type: "tool-call",
    toolCallId: wireId(call.id, wire),
    toolName: call.name,
    input: inputOf(call.arguments),
  };
}

function toolResult(
  message: Extract<ModelMessage, { role: "tool" }>,
  wire: Wire,
): ToolModelMessage["content"][number] {
  return {
    type: "tool-result",
    toolCallId: wireId(message.callId, wire),
    toolName: message.name,
    output: { type: "text", value: message.content },
  };
}

/** Anthropic takes letters, digits, `_` and `-` only; another provider's ids may hold more. */
function wireId(id: string, wire: Wire): string {
  return wire === "anthropic-messages" ? id.replaceAll(/[^a-zA-Z0-9_-]/g, "_") : id;
}

/** Both wires want an object. Unparsable arguments were answered with the parser's message, so `{}` loses nothing. */
function inputOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject && !isTooDeep(value) ? value : {};
  } catch {
    return {};
  }
}

function markForCache(messages: readonly SdkMessage[]): SdkMessage[] {
  const marked = new Set<SdkMessage>(
    messages
      .filter((message) => message.role === "user" || message.role === "tool")
      .slice(-MARKED_MESSAGES),
  );
  return messages.map((message) =>
    marked.has(message) ? { ...message, providerOptions: CACHE_MARK } : message,
  );
}
