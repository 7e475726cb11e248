import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentEvent } from "#protocol/events.ts";
import { EventRing } from "./event-ring.ts";

function delta(seq: number, text = "x"): AgentEvent {
  return {
    v: 1,
    seq,
    at: "2026-01-01T00:00:00.000Z",
    sessionId: "s",
    turnId: "t",
    type: "text-delta",
    blockId: "b",
    text,
  };
}

test("gives every later event once, and nothing for the newest", () => {
  const ring = new EventRing();
  for (let seq = 1; seq <= 5; seq++) ring.push(delta(seq));
  assert.deepEqual(
    ring.since(2)?.map((event) => event.seq),
    [3, 4, 5],
  );
  assert.deepEqual(ring.since(5), []);
  assert.deepEqual(ring.since(0)?.length, 5);
});

test("says so when events are no longer kept or come from the future", () => {
  const ring = new EventRing();
  for (let seq = 1; seq <= 2500; seq++) ring.push(delta(seq));
  assert.equal(ring.since(100), null);
  assert.equal(ring.since(499), null);
  assert.equal(ring.since(500)?.length, 2000);
  assert.equal(ring.since(2501), null);
});

test("keeps at most about two megabytes", () => {
  const ring = new EventRing();
  for (let seq = 1; seq <= 10; seq++) ring.push(delta(seq, "y".repeat(500_000)));
  assert.equal(ring.since(6), null);
  assert.equal(ring.since(7)?.length, 3);
});

test("a forgotten ring goes on counting", () => {
  const ring = new EventRing(7);
  assert.equal(ring.lastSeq, 7);
  assert.deepEqual(ring.since(7), []);
  assert.equal(ring.since(6), null);
});
