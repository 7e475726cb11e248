// I1–I3 and I10 on histories of any kind: stored by us, cut short, undone, imported.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoredMessage } from "#protocol/messages.ts";
import { fakeTool } from "../../test/kit/fake-tools.ts";
import {
  callsStep,
  errorStep,
  hangStep,
  textStep,
  type Step,
} from "../../test/kit/scripted-model.ts";
import { assertInvariants, turnKit } from "../../test/kit/turn-kit.ts";
import type { ModelRequest } from "./ports/model-client.ts";
import { wireHistory } from "./wire-history.ts";

const TARGET = { provider: "anthropic", replaysReasoning: true };
const BASE = {
  system: "",
  tools: [],
  toolChoice: "auto",
  effort: "",
  maxOutputTokens: null,
} as const;

let nextId = 0;
function row(
  role: StoredMessage["role"],
  content: string | null,
  more: Partial<StoredMessage> = {},
): StoredMessage {
  return {
    id: ++nextId,
    sessionId: "s",
    role,
    content,
    toolCallId: null,
    toolCalls: null,
    toolName: null,
    timestamp: 0,
    tokenCount: null,
    finishReason: null,
    reasoning: null,
    reasoningDetails: null,
    active: true,
    kind: null,
    turnId: null,
    platformMessageId: null,
    clientKey: null,
    ...more,
  };
}

const calls = (...ids: string[]) => ({
  toolCalls: ids.map((id) => ({ id, name: "t", arguments: "{}" })),
});
const result = (id: string, content: string) =>
  row("tool", content, { toolCallId: id, toolName: "t" });

function assertWire(rows: readonly StoredMessage[]): void {
  const messages = wireHistory(rows, TARGET);
  const request: ModelRequest = { ...BASE, messages, signal: new AbortController().signal };
  assertInvariants([request]);
}

test("user texts that wait together are joined; notices and empty answers are not sent", () => {
  const rows = [
    row("user", "one"),
    row("assistant", ""),
    row("user", "shown only", { kind: "notice" }),
    row("user", "two", { kind: "nudge" }),
    row("assistant", "answer"),
  ];
  assert.deepEqual(wireHistory(rows, TARGET), [
    { role: "user", text: "one\n\ntwo" },
    { role: "assistant", text: "answer", toolCalls: [] },
  ]);
});

test("results stand right after their call and in call order, also repaired and repeated ones", () => {
  const rows = [
    row("user", "go"),
    row("assistant", null, calls("a", "b", "c")),
    result("b", "B"),
    row("user", "and?"),
    result("a", "A"),
    result("stray", "?"),
    row("assistant", null, calls("a")),
    result("a", "A2"),
  ];
  assertWire(rows);
  const results = wireHistory(rows, TARGET).flatMap((message) =>
    message.role === "tool" ? [`${message.callId} ${message.content}`] : [],
  );
  assert.deepEqual(results, [
    "a A",
    "b B",
    'c {"error":"interrupted","note":"outcome unknown"}',
    "a A2",
  ]);
});

test("a beginning without the user and two answers in a row still alternate", () => {
  assertWire([row("assistant", "left over"), row("assistant", "more"), row("user", "x")]);
  assertWire([row("assistant", "a"), row("assistant", null, calls("q")), result("q", "r")]);
});

test("reasoning goes back only to the provider that made it, and only where the wire wants it", () => {
  const details = { provider: "anthropic", details: [{ signature: "sig" }] };
  const rows = [
    row("user", "x"),
    row("assistant", "y", { reasoning: "hm", reasoningDetails: details }),
  ];
  const sent = (target: typeof TARGET) => wireHistory(rows, target)[1];
  assert.deepEqual(sent(TARGET), {
    role: "assistant",
    text: "y",
    toolCalls: [],
    reasoning: { provider: "anthropic", text: "hm", details: [{ signature: "sig" }] },
  });
  for (const target of [
    { ...TARGET, provider: "other" },
    { ...TARGET, replaysReasoning: false },
  ]) {
    assert.deepEqual(sent(target), { role: "assistant", text: "y", toolCalls: [] });
  }
});

/** Numbers in 0..1 that are the same at each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

test("random histories, in any order and with anything missing, give a lawful request", () => {
  const random = seeded(7);
  const pick = <T>(options: readonly T[]): T => options[Math.floor(random() * options.length)] as T;
  for (let round = 0; round < 300; round++) {
    const rows = Array.from({ length: Math.floor(random() * 14) }, () => {
      const id = pick(["a", "b", "c"]);
      const role = pick(["user", "assistant", "assistant", "tool", "tool"] as const);
      if (role === "tool") return result(id, pick(["", "r"]));
      if (role === "user")
        return row("user", pick(["", "text"]), { kind: pick([null, "notice", "summary"]) });
      return row("assistant", pick([null, "", "text"]), random() < 0.5 ? calls(id, `${id}2`) : {});
    });
    if (wireHistory(rows, TARGET).length > 0) assertWire(rows);
  }
});

test("random conversations: whatever models, tools and users do, I1–I3 hold over all requests", async () => {
  for (let seed = 1; seed <= 40; seed++) {
    const random = seeded(seed);
    const moody = fakeTool("moody", {
      exclusive: seed % 3 === 0,
      run: (input) => {
        if (random() < 0.3) throw new Error("no");
        return { input };
      },
    });
    const kit = await turnKit({
      tools: [moody],
      settings: { maxTurns: 3, apiMaxRetries: 1, maxParallelTools: 2 },
    });
    const step = (): Step => {
      const dice = random();
      if (dice < 0.2)
        return errorStep(dice < 0.1 ? "bad-request" : "auth", {}, dice < 0.05 ? "half" : "");
      if (dice < 0.35) return hangStep(dice < 0.3 ? "half an answer" : "");
      if (dice < 0.7) {
        const count = 1 + Math.floor(random() * 3);
        const many = Array.from({ length: count }, (_, n) => ({
          name: random() < 0.2 ? "nobody" : "moody",
          input: n,
          callId: random() < 0.5 ? "call_0" : `call_${random()}`,
        }));
        return callsStep(many, random() < 0.5 ? "text" : "");
      }
      return textStep("answer");
    };
    for (let turn = 0; turn < 6; turn++) {
      kit.model.add(...Array.from({ length: 6 }, step));
      const abort = new AbortController();
      kit.onEvent = (event) => {
        // A stream that hangs, or a random moment, is stopped by the user.
        if (event.type === "model-start" || random() < 0.03)
          setImmediate(() => void setImmediate(() => abort.abort()));
      };
      const end = await kit.run(`question ${turn}`, { signal: abort.signal });
      assert.equal(kit.types().at(-1), "turn-end");
      assert.notEqual(end.error?.kind, "internal", end.error?.message ?? "");
    }
    assertInvariants(kit.model.requests);
    const rows = await kit.rows();
    const open = rows.flatMap((entry) => entry.toolCalls ?? []).map((call) => call.id);
    const answered = rows.filter((entry) => entry.role === "tool").map((entry) => entry.toolCallId);
    assert.deepEqual(answered, open, "I3: stored in call order, exactly once");
  }
});
