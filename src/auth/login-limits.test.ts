import assert from "node:assert/strict";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Log } from "#base/log.ts";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { controlPath, isControlPending, watchControl, writeControl } from "./control-file.ts";
import { createLoginLimits } from "./login-limits.ts";
import { createMinuteOnce } from "./minute-once.ts";

test("delays double from one second to fifteen minutes, per name and address", async () => {
  const clock = new FakeClock();
  const limits = createLoginLimits(clock);
  const waits: (number | null)[] = [];
  for (let n = 0; n < 18; n++) {
    limits.passwordFailed("ann", "192.0.2.1");
    waits.push(limits.beforePassword("ann", "192.0.2.1"));
    await clock.advance(60_001);
  }
  const known = [null, null, null, null, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900, 900];
  assert.deepEqual(waits, known);
  assert.equal(limits.beforePassword("bob", "192.0.2.1"), null);
  assert.equal(limits.beforePassword("ann", "192.0.2.2"), null);
  assert.equal(limits.beforePassword("ann", "192.0.2.1"), 840);
  limits.passwordRight("ann", "192.0.2.1");
  assert.equal(limits.beforePassword("ann", "192.0.2.1"), null);
});

test("one customer's IPv6 network is one client; failures are forgotten after a day", async () => {
  const clock = new FakeClock();
  const limits = createLoginLimits(clock);
  for (let n = 0; n < 5; n++) limits.passwordFailed("ann", `2001:db8::${n}`);
  assert.equal(limits.beforePassword("ann", "2001:db8::ffff"), 1);
  assert.equal(limits.beforePassword("ann", "2001:db8:0:1::1"), null);
  await clock.advance(24 * 3_600_000);
  limits.passwordFailed("ann", "2001:db8::1");
  assert.equal(limits.beforePassword("ann", "2001:db8::1"), null);
});

test("unlock clears one name, or everybody", () => {
  const limits = createLoginLimits(new FakeClock());
  for (const user of ["ann", "bob"]) {
    for (let n = 0; n < 6; n++) limits.passwordFailed(user, "192.0.2.1");
  }
  limits.unlock("ann");
  assert.equal(limits.beforePassword("ann", "192.0.2.1"), null);
  assert.equal(limits.beforePassword("bob", "192.0.2.1"), 2);
  limits.unlock(null);
  assert.equal(limits.beforePassword("bob", "192.0.2.1"), null);
});

test("starts of redirect logins: 30 a minute", () => {
  const limits = createLoginLimits(new FakeClock());
  for (let n = 0; n < 30; n++) assert.equal(limits.beforeRedirect("192.0.2.1"), null);
  assert.equal(limits.beforeRedirect("192.0.2.1"), 60);
  assert.equal(limits.beforeRedirect("192.0.2.2"), null);
});

test("orders reach the dashboard once; lines that are none are named and do no harm", async (t) => {
  const home = tempDir(t);
  const clock = new FakeClock();
  const warnings: string[] = [];
  const write = (message: string): void => void warnings.push(message);
  const log: Log = { debug: write, info: write, warn: write, error: write };
  const seen: (string | null)[] = [];
  const stop = watchControl(home, { clock, log }, ({ unlock }) => void seen.push(unlock));
  writeControl(home, { unlock: "ann" });
  writeControl(home, { unlock: null });
  assert.equal(statSync(controlPath(home)).mode & 0o777, 0o600);
  await clock.advance(1000);
  assert.deepEqual(seen, ["ann", null]);
  assert.equal(isControlPending(home), false);
  await clock.advance(5000);
  assert.equal(seen.length, 2);
  writeFileSync(controlPath(home), 'garbage\n{"unlock":"bob"}\n{"unlock":7}\n');
  await clock.advance(1000);
  assert.deepEqual(seen, ["ann", null, "bob"]);
  assert.equal(warnings.length, 1);
  writeFileSync(controlPath(home), `${"x".repeat(70_000)}\n`);
  await clock.advance(1000);
  assert.deepEqual([seen.length, warnings.length], [3, 2]);
  stop();
  writeControl(home, { unlock: null });
  await clock.advance(5000);
  assert.ok(existsSync(join(home, "dashboard", "control.jsonl")));
});

test("a minute's first is one per key", async () => {
  const clock = new FakeClock();
  const isFirst = createMinuteOnce(clock);
  assert.deepEqual([isFirst("a"), isFirst("a"), isFirst("b")], [true, false, true]);
  await clock.advance(60_000);
  assert.equal(isFirst("a"), true);
});
