import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentEventBody } from "#protocol/events.ts";
import type { NumberedEvent } from "#session/types.ts";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import { createDeltaMerger } from "./delta-merger.ts";

function numbered(seq: number, body: AgentEventBody): NumberedEvent {
  const at = "2026-01-15T12:00:00.000Z";
  return { id: `run.${seq}`, event: { v: 1, seq, at, sessionId: "s", turnId: "t", ...body } };
}

const text = (seq: number, words: string, blockId = "a"): NumberedEvent =>
  numbered(seq, { type: "text-delta", blockId, text: words });

function setUp() {
  const clock = new FakeClock();
  const sent: NumberedEvent[] = [];
  const merger = createDeltaMerger(clock, (event) => sent.push(event));
  const shown = (): string[] =>
    sent.map(({ id, event }) => `${id} ${"text" in event ? event.text : event.type}`);
  return { clock, merger, shown };
}

test("the first delta goes at once, later ones wait for the frame and carry the last number", async () => {
  const { clock, merger, shown } = setUp();
  merger.push(text(1, "one "));
  merger.push(text(2, "two "));
  merger.push(text(3, "three"));
  assert.deepEqual(shown(), ["run.1 one "]);
  await clock.advance(34);
  assert.deepEqual(shown(), ["run.1 one ", "run.3 two three"]);
});

test("only neighbours of one block are joined, in order", async () => {
  const { clock, merger, shown } = setUp();
  merger.push(text(1, "x"));
  merger.push(text(2, "a1", "a"));
  merger.push(text(3, "b1", "b"));
  merger.push(text(4, "b2", "b"));
  merger.push(numbered(5, { type: "reasoning-delta", blockId: "b", text: "r" }));
  merger.push(text(6, "a2", "a"));
  await clock.advance(34);
  assert.deepEqual(shown(), ["run.1 x", "run.2 a1", "run.4 b1b2", "run.5 r", "run.6 a2"]);
});

test("any other event sends what waits before it", () => {
  const { merger, shown } = setUp();
  merger.push(text(1, "x"));
  merger.push(text(2, "y"));
  merger.push(numbered(3, { type: "status", state: "tools" }));
  assert.deepEqual(shown(), ["run.1 x", "run.2 y", "run.3 status"]);
});

test("tool output is joined per call and stream; a long wait is cut by size", () => {
  const { merger, shown } = setUp();
  const output = (seq: number, callId: string, words: string): NumberedEvent =>
    numbered(seq, { type: "tool-output", callId, stream: "stdout", text: words });
  merger.push(output(1, "c1", "x"));
  merger.push(output(2, "c1", "y"));
  merger.push(output(3, "c2", "z".repeat(70_000)));
  assert.deepEqual(
    shown().map((line) => line.slice(0, 7)),
    ["run.1 x", "run.2 y", "run.3 z"],
  );
});

test("after close nothing is sent", async () => {
  const { clock, merger, shown } = setUp();
  merger.push(text(1, "x"));
  merger.push(text(2, "y"));
  merger.close();
  await clock.advance(1000);
  assert.deepEqual(shown(), ["run.1 x"]);
});
