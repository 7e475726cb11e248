// A request as the scripted model server saw it, in one form for both wires, and the invariants over a list of them.
import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import type { Wire } from "./model-wires.ts";

export interface WireCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly args: string;
}

/** One message of the request, both wires alike. A user message that also carries tool results gives several. */
export type WireMessage =
  | { readonly role: "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly WireCall[];
      readonly reasoning: readonly unknown[];
    }
  | { readonly role: "tool"; readonly callId: string; readonly content: string };

export interface RecordedRequest {
  readonly index: number;
  readonly wire: Wire;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The body as it came, and parsed. */
  readonly bodyText: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly model: string;
  readonly system: string;
  readonly messages: readonly WireMessage[];
  readonly toolNames: readonly string[];
  /** `auto`, `none`, …, or "" when not sent. */
  readonly toolChoice: string;
  readonly lastUserText: string;
  /** The client went away before the answer was complete. */
  aborted: boolean;
  /** The answer was sent to its end. */
  answered: boolean;
}

type Json = Readonly<Record<string, unknown>>;

export function describeRequest(
  seen: Pick<RecordedRequest, "index" | "wire" | "method" | "path" | "headers" | "bodyText" | "at">,
): RecordedRequest {
  const body = JSON.parse(seen.bodyText) as Json;
  const raw = list(body["messages"]);
  const parsed = seen.wire === "openai-chat" ? openAiMessages(raw) : anthropicMessages(raw);
  const system = seen.wire === "openai-chat" ? openAiSystem(raw) : textOf(body["system"]);
  const choice = body["tool_choice"];
  return {
    ...seen,
    body,
    system,
    model: stringOf(body["model"]),
    messages: parsed,
    toolNames: list(body["tools"]).map((tool) =>
      String((tool["function"] as Json | undefined)?.["name"] ?? tool["name"]),
    ),
    toolChoice: stringOf(choice) || stringOf((choice as Json | undefined)?.["type"]),
    lastUserText: parsed.findLast((message) => message.role === "user")?.text ?? "",
    aborted: false,
    answered: false,
  };
}

function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return list(content)
    .filter((block) => block["type"] === "text")
    .map((block) => String(block["text"]))
    .join("");
}

function openAiSystem(raw: readonly Json[]): string {
  return raw
    .filter((message) => message["role"] === "system")
    .map((message) => textOf(message["content"]))
    .join("\n");
}

function openAiMessages(raw: readonly Json[]): WireMessage[] {
  return raw.flatMap((message): WireMessage[] => {
    if (message["role"] === "user") return [{ role: "user", text: textOf(message["content"]) }];
    if (message["role"] === "tool") {
      return [
        {
          role: "tool",
          callId: String(message["tool_call_id"]),
          content: textOf(message["content"]),
        },
      ];
    }
    if (message["role"] !== "assistant") return [];
    const calls = list(message["tool_calls"]).map((call) => {
      const target = call["function"] as Json;
      return {
        id: String(call["id"]),
        name: String(target["name"]),
        args: String(target["arguments"]),
      };
    });
    const reasoning =
      message["reasoning_content"] === undefined ? [] : [message["reasoning_content"]];
    return [{ role: "assistant", text: textOf(message["content"]), calls, reasoning }];
  });
}

function anthropicMessages(raw: readonly Json[]): WireMessage[] {
  return raw.flatMap((message): WireMessage[] => {
    const blocks: readonly Json[] =
      typeof message["content"] === "string"
        ? [{ type: "text", text: message["content"] }]
        : list(message["content"]);
    if (message["role"] === "assistant") return [anthropicAssistant(blocks)];
    const results = blocks
      .filter((block) => block["type"] === "tool_result")
      .map(
        (block) =>
          ({
            role: "tool",
            callId: String(block["tool_use_id"]),
            content: textOf(block["content"]),
          }) as const,
      );
    const text = textOf(blocks);
    return text === "" && results.length > 0 ? results : [...results, { role: "user", text }];
  });
}

function anthropicAssistant(blocks: readonly Json[]): WireMessage {
  const calls = blocks
    .filter((block) => block["type"] === "tool_use")
    .map((block) => ({
      id: String(block["id"]),
      name: String(block["name"]),
      args: JSON.stringify(block["input"]),
    }));
  const reasoning = blocks.filter((block) => String(block["type"]).endsWith("thinking"));
  return { role: "assistant", text: textOf(blocks), calls, reasoning };
}

/**
 * Holds I1–I3 of agent.md §4.3 over requests of conversations. Requests belong to one conversation when wire, first user
 * text and "offers tools" agree. `newSessionAt`: indices of requests that begin a new session row (after a compression).
 */
export function assertRequestInvariants(
  requests: readonly RecordedRequest[],
  newSessionAt: readonly number[] = [],
): void {
  const previous = new Map<string, RecordedRequest>();
  for (const request of requests) {
    const where = `request ${request.index}`;
    assertAlternating(request.messages, where);
    assertCallsAnswered(request.messages, where);
    const key = conversationKey(request);
    const before = newSessionAt.includes(request.index) ? undefined : previous.get(key);
    if (before !== undefined) assertContinues(before, request);
    previous.set(key, request);
  }
}

function conversationKey(request: RecordedRequest): string {
  const first = request.messages.find((message) => message.role === "user")?.text ?? "";
  return JSON.stringify([request.wire, first.split("\n\n")[0], request.toolNames.length > 0]);
}

/** I1: same system prompt and tools, and the earlier messages first. */
function assertContinues(before: RecordedRequest, after: RecordedRequest): void {
  const where = `I1: request ${after.index} against ${before.index}`;
  assert.equal(after.system, before.system, `${where}: the system prompt changed`);
  assert.deepEqual(
    withoutMarks(after.body["tools"]),
    withoutMarks(before.body["tools"]),
    `${where}: the tools changed`,
  );
  before.messages.forEach((message, index) => {
    const now = after.messages[index];
    const isLast = index === before.messages.length - 1;
    // A user text that got no answer is joined with the next one (I2).
    const grew =
      isLast &&
      message.role === "user" &&
      now?.role === "user" &&
      now.text.startsWith(message.text);
    if (!grew)
      assert.deepEqual(
        withoutReasoning(now),
        withoutReasoning(message),
        `${where}: message ${index} changed`,
      );
  });
}

/** Cache marks move with the end of the conversation and are no content. */
function withoutMarks(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value ?? null, (key, inner: unknown) =>
      key === "cache_control" ? undefined : inner,
    ),
  );
}

function withoutReasoning(message: WireMessage | undefined): unknown {
  return message?.role === "assistant" ? { ...message, reasoning: [] } : message;
}

/** I2. Tool results may stand between an assistant and a user. */
function assertAlternating(messages: readonly WireMessage[], where: string): void {
  assert.equal(messages[0]?.role, "user", `I2: ${where} does not begin with a user message`);
  messages.forEach((message, index) => {
    const before = messages[index - 1];
    if (message.role !== "tool")
      assert.notEqual(
        before?.role,
        message.role,
        `I2: ${where}: two ${message.role} messages at ${index}`,
      );
    if (message.role === "assistant") {
      assert.ok(
        message.text !== "" || message.calls.length > 0,
        `I2: ${where}: empty assistant message at ${index}`,
      );
    }
  });
}

/** I3: the results of an assistant's calls follow it at once, one each, in call order. */
function assertCallsAnswered(messages: readonly WireMessage[], where: string): void {
  const results = messages.filter((message) => message.role === "tool").length;
  let expected = 0;
  messages.forEach((message, index) => {
    if (message.role !== "assistant") return;
    expected += message.calls.length;
    const answered = messages.slice(index + 1, index + 1 + message.calls.length);
    assert.deepEqual(
      answered.map((result) => (result.role === "tool" ? result.callId : result.role)),
      message.calls.map((made) => made.id),
      `I3: ${where}: calls of message ${index} are not answered in order`,
    );
  });
  assert.equal(results, expected, `I3: ${where}: a tool result belongs to no call`);
}
