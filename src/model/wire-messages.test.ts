// What history looks like on each wire: reasoning, cache marks, ids (agent.md §3.1).
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type { ModelMessage } from "#agent/ports/model-client.ts";
import { answer, call, text, think } from "../../test/kit/model-reply.ts";
import { startModelServer } from "../../test/kit/model-server.ts";
import {
  collect,
  modelRequest,
  openDeps,
  openTestTarget,
  settingsFor,
} from "../../test/kit/model-settings.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { toSdkMessages, type ReasoningDetails } from "./wire-messages.ts";

type Json = Readonly<Record<string, unknown>>;

const TOOL = { name: "terminal", description: "d", inputSchema: { type: "object" } };

async function bodyFor(
  t: TestContext,
  wire: "openai-chat" | "anthropic-messages",
  messages: readonly ModelMessage[],
): Promise<Json> {
  const server = await startModelServer(t, [{ reply: text("ok") }]);
  const target = await openTestTarget(openDeps(settingsFor(wire, server.baseUrl), tempDir(t)));
  await collect(target.client.stream(modelRequest({ messages, tools: [TOOL] })));
  server.assertInvariants();
  return server.requests[0]?.body ?? {};
}

function conversation(reasoning?: {
  provider: string;
  details: ReasoningDetails;
}): readonly ModelMessage[] {
  return [
    { role: "user", text: "first" },
    {
      role: "assistant",
      text: "Looking.",
      toolCalls: [
        { id: "functions.terminal:0", name: "terminal", arguments: '{"command":"a"}' },
        { id: "call_b", name: "terminal", arguments: "{broken" },
      ],
      ...(reasoning === undefined ? {} : { reasoning: { text: "hm", ...reasoning } }),
    },
    { role: "tool", callId: "functions.terminal:0", name: "terminal", content: '{"output":"A"}' },
    { role: "tool", callId: "call_b", name: "terminal", content: '{"error":"x"}' },
    { role: "assistant", text: "Done.", toolCalls: [] },
    { role: "user", text: "second" },
  ];
}

const SIGNED: ReasoningDetails = {
  blocks: [
    { text: "hm", signature: "sig-1" },
    { text: "", redactedData: "xyz" },
  ],
};

describe("openai-chat", () => {
  test("arguments without a floor go out as an empty object", async (t) => {
    const deep = `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    const body = await bodyFor(t, "openai-chat", [
      { role: "user", text: "first" },
      { role: "assistant", text: "", toolCalls: [{ id: "c", name: "terminal", arguments: deep }] },
      { role: "tool", callId: "c", name: "terminal", content: "{}" },
    ]);
    const sent = JSON.stringify(body["messages"]);
    assert.match(sent, /"name":"terminal","arguments":"\{\}"/);
  });

  test("one message per result, ids as they came, broken arguments as an object, no reasoning", async (t) => {
    const body = await bodyFor(
      t,
      "openai-chat",
      conversation({ provider: "custom", details: SIGNED }),
    );
    assert.deepEqual(body["messages"], [
      { role: "system", content: "You are a test." },
      { role: "user", content: "first" },
      {
        role: "assistant",
        content: "Looking.",
        tool_calls: [
          {
            id: "functions.terminal:0",
            type: "function",
            function: { name: "terminal", arguments: '{"command":"a"}' },
          },
          { id: "call_b", type: "function", function: { name: "terminal", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "functions.terminal:0", content: '{"output":"A"}' },
      { role: "tool", tool_call_id: "call_b", content: '{"error":"x"}' },
      { role: "assistant", content: "Done." },
      { role: "user", content: "second" },
    ]);
    assert.ok(!JSON.stringify(body).includes("cache_control"));
  });
});

describe("anthropic-messages", () => {
  const MARK = { type: "ephemeral" };

  test("system and the last two user or tool messages are marked; results form one user message", async (t) => {
    const body = await bodyFor(t, "anthropic-messages", conversation());
    assert.deepEqual(body["system"], [
      { type: "text", text: "You are a test.", cache_control: MARK },
    ]);
    assert.deepEqual(body["messages"], [
      { role: "user", content: [{ type: "text", text: "first" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Looking." },
          {
            type: "tool_use",
            id: "functions_terminal_0",
            name: "terminal",
            input: { command: "a" },
          },
          { type: "tool_use", id: "call_b", name: "terminal", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "functions_terminal_0", content: '{"output":"A"}' },
          {
            type: "tool_result",
            tool_use_id: "call_b",
            content: '{"error":"x"}',
            cache_control: MARK,
          },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "Done." }] },
      { role: "user", content: [{ type: "text", text: "second", cache_control: MARK }] },
    ]);
  });

  test("its own reasoning goes back with its signature, before the text", async (t) => {
    const body = await bodyFor(
      t,
      "anthropic-messages",
      conversation({ provider: "anthropic", details: SIGNED }),
    );
    const assistant = (body["messages"] as Json[])[1] ?? {};
    assert.deepEqual((assistant["content"] as Json[]).slice(0, 3), [
      { type: "thinking", thinking: "hm", signature: "sig-1" },
      { type: "redacted_thinking", data: "xyz" },
      { type: "text", text: "Looking." },
    ]);
  });

  test("another provider's reasoning, and details that are no such thing, are dropped", () => {
    const other = toSdkMessages(
      conversation({ provider: "openrouter", details: SIGNED }),
      "anthropic-messages",
      "anthropic",
    );
    assert.ok(!JSON.stringify(other).includes("sig-1"));
    for (const details of [null, "x", { blocks: 7 }, { blocks: [{ text: "unsigned" }] }]) {
      const messages = conversation({
        provider: "anthropic",
        details: details as ReasoningDetails,
      });
      assert.ok(
        !JSON.stringify(toSdkMessages(messages, "anthropic-messages", "anthropic")).includes(
          "reasoning",
        ),
      );
    }
  });

  test("what finish hands out comes back the same on the next request", async (t) => {
    const server = await startModelServer(t, [
      {
        reply: answer(
          { reasoning: "", redacted: "blob" },
          think(["a", "b"], "sig-9"),
          "T",
          call("terminal", { command: "x" }),
        ),
      },
      { reply: text("ok") },
    ]);
    const target = await openTestTarget(
      openDeps(settingsFor("anthropic-messages", server.baseUrl), tempDir(t)),
    );
    const first = (await collect(target.client.stream(modelRequest({ tools: [TOOL] })))).at(-1);
    assert.equal(first?.type, "finish");
    const messages: ModelMessage[] = [
      { role: "user", text: "hello" },
      {
        role: "assistant",
        text: "T",
        toolCalls: [{ id: "call_0_0", name: "terminal", arguments: '{"command":"x"}' }],
        reasoning: {
          provider: "anthropic",
          text: "ab",
          details: JSON.parse(JSON.stringify(first.reasoningDetails)) as unknown,
        },
      },
      { role: "tool", callId: "call_0_0", name: "terminal", content: "{}" },
    ];
    await collect(target.client.stream(modelRequest({ messages, tools: [TOOL] })));
    const assistant = server.requests[1]?.messages[1];
    assert.deepEqual(assistant?.role === "assistant" ? assistant.reasoning : null, [
      { type: "redacted_thinking", data: "blob" },
      { type: "thinking", thinking: "ab", signature: "sig-9" },
    ]);
    server.assertInvariants();
  });
});
