// A viewer that comes at any moment sees each text once, equal to the stored row (§12.2 row 20).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentEvent, AgentEventBody } from "#protocol/events.ts";
import type { StoredMessage } from "#protocol/messages.ts";
import { fakeTool } from "../../test/kit/fake-tools.ts";
import { callsStep, errorStep, textStep } from "../../test/kit/scripted-model.ts";
import { turnKit } from "../../test/kit/turn-kit.ts";
import { foldEvent, idleView, type TurnView } from "./fold.ts";

function numbered(body: AgentEventBody, seq: number): AgentEvent {
  return { v: 1, seq, at: "2026-01-15T12:00:00.000Z", sessionId: "s", turnId: "turn_1", ...body };
}

/** All assistant text that a viewer shows: stored rows that it may count, then what is live. */
function shownText(view: TurnView, rows: readonly StoredMessage[]): string {
  const stored = rows.filter((row) => row.role === "assistant").map((row) => row.content ?? "");
  return [...stored, view.turn?.text ?? ""].join("");
}

test("snapshot plus stored rows plus later events is the whole text, wherever the viewer comes in", async () => {
  const noisy = fakeTool("noisy", {
    run: (input, context) => {
      context.output("stdout", `out ${String(input)}`);
      return {};
    },
  });
  const kit = await turnKit({
    steps: [
      errorStep("overloaded", { retryAfterMs: 0 }, "withdrawn"),
      callsStep(
        [
          { name: "noisy", input: 1 },
          { name: "noisy", input: 2 },
        ],
        "First I look. ",
      ),
      textStep("Then I answer at length."),
    ],
    tools: [noisy],
  });
  const events: AgentEvent[] = [];
  const moments: {
    readonly at: number;
    readonly view: TurnView;
    readonly rows: readonly StoredMessage[];
  }[] = [];
  let view = idleView;
  kit.onEvent = (body) => {
    const event = numbered(body, events.length + 1);
    events.push(event);
    view = foldEvent(view, event);
    moments.push({ at: events.length, view, rows: [...kit.store.messages] });
    if (body.type === "model-retry") setImmediate(() => void kit.clock.advance(0));
  };
  await kit.run("go");
  const whole = "First I look. Then I answer at length.";
  assert.ok(moments.length > 15);
  for (const { at, view: early, rows } of moments) {
    const savedUpTo = early.turn?.savedUpTo ?? Number.POSITIVE_INFINITY;
    const known = rows.filter((row) => row.id <= savedUpTo);
    const text = shownText(early, known);
    assert.ok(whole.startsWith(text) || "withdrawn".startsWith(text), `at ${at}: ${text}`);
    const late = events.slice(at).reduce((sum, event) => foldEvent(sum, event), early);
    assert.deepEqual(late, view, `the view differs for who came at ${at}`);
  }
  assert.equal(shownText(view, kit.store.messages), whole);
  assert.deepEqual(view, idleView);
});

test("calls, output and open questions are in the snapshot; output keeps its last 16 KiB", () => {
  const request = {
    requestId: "req_1",
    callId: "c2",
    kind: "command",
    title: "t",
    detail: "d",
    rule: "r",
    choices: ["once", "deny"] as const,
    expiresAt: "2026-01-15T12:05:00.000Z",
  };
  const bodies: AgentEventBody[] = [
    { type: "turn-start", source: "cli", userMessageId: 7, text: "x", provider: "p", model: "m" },
    { type: "model-start", attempt: 1, provider: "p", model: "m" },
    { type: "reasoning-delta", blockId: "b", text: "hm" },
    { type: "message-saved", messageId: 8, role: "assistant", kind: null },
    { type: "tool-call", callId: "c1", name: "a", input: { x: 1 }, index: 0, of: 2 },
    { type: "tool-call", callId: "c2", name: "b", input: {}, index: 1, of: 2 },
    { type: "tool-start", callId: "c1" },
    { type: "tool-output", callId: "c1", stream: "stdout", text: "y".repeat(20_000) },
    { type: "tool-output", callId: "c1", stream: "stdout", text: "end" },
    {
      type: "tool-end",
      callId: "c1",
      ok: false,
      summary: "no",
      durationMs: 1,
      bytes: 2,
      truncated: false,
    },
    { type: "approval-request", ...request },
    { type: "status", state: "waiting-approval" },
    { type: "queue", items: [{ id: "q", text: "later", mode: "queue" }] },
  ];
  const view = bodies.reduce((sum, body, index) => foldEvent(sum, numbered(body, index)), idleView);
  assert.equal(view.state, "waiting-approval");
  assert.deepEqual(
    view.queue.map((item) => item.id),
    ["q"],
  );
  const [first, second] = view.turn?.calls ?? [];
  assert.deepEqual([first?.state, first?.summary, second?.state], ["failed", "no", "waiting"]);
  assert.equal(first?.output.length, 16_384);
  assert.ok(first?.output.endsWith("yend"));
  assert.deepEqual(view.turn?.pending, [{ type: "approval", ...request }]);
  assert.equal(view.turn?.savedUpTo, 8);
  const end: AgentEventBody = {
    type: "approval-end",
    requestId: "req_1",
    choice: "once",
    by: "web",
  };
  assert.deepEqual(foldEvent(view, numbered(end, 99)).turn?.pending, []);
  assert.equal(
    foldEvent(view, numbered({ type: "model-start", attempt: 1, provider: "p", model: "m" }, 99))
      .turn?.calls.length,
    0,
  );
});

test("events outside a turn and from a newer program change nothing", () => {
  const stray: AgentEventBody = { type: "text-delta", blockId: "b", text: "x" };
  assert.equal(foldEvent(idleView, numbered(stray, 1)), idleView);
  const unknown = { type: "from-the-future" } as unknown as AgentEventBody;
  assert.equal(foldEvent(idleView, numbered(unknown, 1)), idleView);
});
