import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import { epochSeconds, systemClock, waitFor } from "./clock.ts";

test("waiting ends when the clock says so", async () => {
  const clock = new FakeClock();
  let isDone = false;
  const wait = waitFor(clock, 100).then(() => (isDone = true));
  await clock.advance(99);
  assert.equal(isDone, false);
  await clock.advance(1);
  await wait;
  assert.equal(isDone, true);
});

test("an abort ends the wait at once with its reason and takes the timer away", async () => {
  const clock = new FakeClock();
  const controller = new AbortController();
  const wait = waitFor(clock, 100, controller.signal);
  assert.equal(clock.pending, 1);
  controller.abort(new Error("enough"));
  await assert.rejects(wait, { message: "enough" });
  assert.equal(clock.pending, 0);
  await assert.rejects(waitFor(clock, 1, controller.signal), { message: "enough" });
  assert.equal(clock.pending, 0);
});

test("the system's clock tells milliseconds and runs timers; a cancelled one never runs", async () => {
  assert.ok(Math.abs(systemClock.now() - Date.now()) < 1000);
  assert.equal(epochSeconds(new FakeClock(1500)), 1.5);
  const ran: string[] = [];
  systemClock.after(1, () => ran.push("cancelled")).cancel();
  const keepAlive = setInterval(() => undefined, 1000);
  const before = systemClock.monotonicMs();
  await waitFor(systemClock, 5);
  clearInterval(keepAlive);
  assert.ok(systemClock.monotonicMs() - before >= 4);
  assert.deepEqual(ran, []);
});
