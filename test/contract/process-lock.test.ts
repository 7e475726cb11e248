// The lock of a process's life (agent.md §7.2), with real second processes and kill -9.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { type Log, silentLog } from "#base/log.ts";
import { ownIdentity, processStartTime } from "#base/process-identity.ts";
import type { LockAttempt } from "#base/process-lock.ts";
import { createProcessLock } from "#store/process-lock.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const HOLDER = join(import.meta.dirname, "../fixtures/lock-holder.ts");

interface Other {
  readonly child: ChildProcess;
  readonly answer: { readonly held: boolean; readonly holder?: { readonly label: string } };
}

async function startOther(t: TestContext, path: string, label = "gateway"): Promise<Other> {
  const child = spawn(process.execPath, [HOLDER, path, label], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  assert.ok(child.stdout);
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, answer: JSON.parse(line) as Other["answer"] };
}

async function end(child: ChildProcess, how: "stdin" | "SIGKILL"): Promise<void> {
  const exit = once(child, "exit");
  if (how === "stdin") child.stdin?.end();
  else child.kill("SIGKILL");
  await exit;
}

function release(attempt: LockAttempt): void {
  assert.ok(attempt.held);
  attempt.lock.release();
}

test("a second process learns at once who holds the lock", async (t) => {
  const path = join(tempDir(t), "gateway.lock");
  const lock = createProcessLock();
  const mine = lock.take(path, "dashboard");
  assert.ok(mine.held);
  const other = await startOther(t, path);
  assert.deepEqual(other.answer, { held: false, holder: { ...ownIdentity(), label: "dashboard" } });
  release(mine);
  const next = await startOther(t, path);
  assert.equal(next.answer.held, true);
});

for (const how of ["stdin", "SIGKILL"] as const) {
  test(`the lock is free after its holder's end by ${how}`, async (t) => {
    const path = join(tempDir(t), "gateway.lock");
    const lock = createProcessLock();
    const { child, answer } = await startOther(t, path);
    assert.equal(answer.held, true);
    assert.equal(lock.isHeld(path), true);
    const attempt = lock.take(path, "second");
    assert.partialDeepStrictEqual(attempt, {
      held: false,
      holder: { pid: child.pid, label: "gateway", host: hostname() },
    });
    await end(child, how);
    assert.equal(lock.isHeld(path), false);
    assert.equal(existsSync(`${path}.holder`), how === "SIGKILL");
    release(lock.take(path, "second"));
  });
}

test("asking is not taking, and does not disturb", async (t) => {
  const path = join(tempDir(t), "x.lock");
  const lock = createProcessLock();
  assert.equal(lock.isHeld(path), false);
  assert.equal(existsSync(path), false);
  const mine = lock.take(path, "a");
  assert.equal(lock.isHeld(path), true);
  // Our own probes must not have freed it.
  const other = await startOther(t, path);
  assert.equal(other.answer.held, false);
  release(mine);
});

test("one process cannot take the same lock twice, and may release twice", (t) => {
  const path = join(tempDir(t), "x.lock");
  const lock = createProcessLock();
  const first = lock.take(path, "a");
  const second = createProcessLock().take(path, "b");
  assert.partialDeepStrictEqual(second, { held: false, holder: { label: "a" } });
  release(first);
  release(first);
  release(lock.take(path, "c"));
});

test("lock file and record are private, the record is gone after release", (t) => {
  const path = join(tempDir(t), "x.lock");
  const attempt = createProcessLock().take(path, "a");
  assert.ok(attempt.held);
  for (const file of [path, `${path}.holder`]) assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(JSON.parse(readFileSync(`${path}.holder`, "utf8")), {
    ...ownIdentity(),
    label: "a",
  });
  release(attempt);
  assert.equal(existsSync(`${path}.holder`), false);
});

test("a file that is no lock file is replaced, and locks", async (t) => {
  const path = join(tempDir(t), "x.lock");
  writeFileSync(path, "12345\n".repeat(50));
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message) };
  const attempt = createProcessLock({ log }).take(path, "a");
  assert.ok(attempt.held);
  assert.deepEqual(warnings, []);
  const other = await startOther(t, path);
  assert.equal(other.answer.held, false);
  release(attempt);
});

const RECORDS = [
  [
    "a live process of this host",
    { pid: 1, startTime: processStartTime(1), host: hostname() },
    false,
  ],
  ["a recycled pid", { pid: 1, startTime: "7", host: hostname() }, true],
  ["a dead process", { pid: 4_000_001, startTime: "7", host: hostname() }, true],
  ["another host", { pid: 1, startTime: processStartTime(1), host: "elsewhere.invalid" }, true],
  ["nonsense", { pid: "x" }, true],
] as const;

for (const [what, record, free] of RECORDS) {
  test(`free lock, record of ${what}: ${free ? "taken" : "counts as held"}`, (t) => {
    const path = join(tempDir(t), "x.lock");
    writeFileSync(`${path}.holder`, JSON.stringify({ ...record, label: "old" }));
    const lock = createProcessLock();
    assert.equal(lock.isHeld(path), !free);
    const attempt = lock.take(path, "new");
    assert.equal(attempt.held, free);
    if (attempt.held) attempt.lock.release();
    else assert.equal(attempt.holder?.label, "old");
  });
}

test("where locking fails the record decides, with one warning", (t) => {
  const home = tempDir(t);
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message) };
  const lock = createProcessLock({ log });
  // A directory cannot be opened as a lock file.
  for (const name of ["a.lock", "b.lock"]) mkdirSync(join(home, name));
  const first = lock.take(join(home, "a.lock"), "a");
  assert.equal(lock.take(join(home, "a.lock"), "again").held, false);
  const second = lock.take(join(home, "b.lock"), "b");
  assert.equal(warnings.length, 1);
  release(first);
  release(second);
});

test("of many that start at once exactly one gets it", async (t) => {
  const path = join(tempDir(t), "x.lock");
  const others = await Promise.all(Array.from({ length: 5 }, () => startOther(t, path)));
  assert.equal(others.filter((other) => other.answer.held).length, 1);
  const lock = createProcessLock();
  for (const { child } of others) child.kill("SIGKILL");
  await until("the lock is free", () => !lock.isHeld(path));
});
