import assert from "node:assert/strict";
import { test } from "node:test";
import { isHermesError } from "#base/errors.ts";
import { TurnQueue } from "./turn-queue.ts";
import type { SendOptions } from "./types.ts";

const from = (surface: string, text: string): SendOptions => ({ text, surface, answerable: true });

test("texts of one sender that follow each other are joined, others are not", () => {
  const queue = new TurnQueue();
  queue.add({ id: "1", options: from("web", "a"), mode: "queue" });
  queue.add({ id: "2", options: from("web", "b"), mode: "queue" });
  queue.add({ id: "3", options: from("cli", "c"), mode: "queue" });
  assert.equal(queue.next(null)?.text, "a\n\nb");
  assert.equal(queue.next(null)?.text, "c");
  assert.equal(queue.next(null), null);
});

test("an interrupting message goes first and alone", () => {
  const queue = new TurnQueue();
  queue.add({ id: "1", options: from("web", "later"), mode: "queue" });
  queue.add({ id: "2", options: from("web", "now"), mode: "interrupt" });
  assert.equal(queue.next(null)?.text, "now");
  assert.equal(queue.next(null)?.text, "later");
});

test("a steer text that found no tool round becomes the next turn, without its client key", () => {
  const queue = new TurnQueue();
  queue.steer("left");
  queue.steer("right");
  const next = queue.next({ ...from("web", "right"), clientKey: "k", whenBusy: "steer" });
  assert.deepEqual(next, { text: "left\n\nright", surface: "web", answerable: true });
});

test("the twenty-first message is refused and a removed one is not run", () => {
  const queue = new TurnQueue();
  for (let n = 0; n < 20; n++)
    queue.add({ id: `${n}`, options: from("web", `${n}`), mode: "queue" });
  assert.throws(
    () => queue.add({ id: "20", options: from("web", "x"), mode: "queue" }),
    (error: unknown) => isHermesError(error, "QUEUE_FULL"),
  );
  assert.equal(queue.remove("19"), true);
  assert.equal(queue.remove("19"), false);
  assert.equal(queue.items.length, 19);
});
