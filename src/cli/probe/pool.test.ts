import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../../test/kit/until.ts";
import { runBounded } from "./pool.ts";

test("never more than asked for, started in order, results in the order of the items", async () => {
  const gates = Array.from({ length: 7 }, () => Promise.withResolvers<void>());
  const started: number[] = [];
  let running = 0;
  let most = 0;
  const pending = runBounded([0, 1, 2, 3, 4, 5, 6], 3, async (item) => {
    started.push(item);
    most = Math.max(most, ++running);
    await gates[item]?.promise;
    running--;
    return item * 10;
  });
  assert.deepEqual(started, [0, 1, 2]);
  for (const item of [2, 1]) gates[item]?.resolve();
  await until("two more started", () => started.length === 5);
  for (const gate of gates) gate.resolve();
  assert.deepEqual(await Promise.all(pending), [0, 10, 20, 30, 40, 50, 60]);
  assert.deepEqual(started, [0, 1, 2, 3, 4, 5, 6]);
  assert.equal(most, 3);
});

test("a rejection is its own item's, and the others go on", async () => {
  const pending = runBounded([1, 2, 3], 1, async (item) => {
    if (item === 2) throw new Error("two");
    return item;
  });
  assert.equal(await pending[2], 3);
  await assert.rejects(pending[1] as Promise<number>, /two/);
});

test("fewer items than places; none", async () => {
  assert.deepEqual(await Promise.all(runBounded(["a"], 32, async (item) => item)), ["a"]);
  assert.deepEqual(
    runBounded([], 32, async (item) => item),
    [],
  );
});
