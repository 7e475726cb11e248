// Who ran in a slot before (container.md §2.7, §9.1): only the very process is ended, never one with its number.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { processStartTime } from "#base/process-identity.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { until } from "../../test/kit/until.ts";
import { evict, processName, readOrphan, writeIdentity } from "./identity.ts";

function slotDir(t: TestContext): string {
  const dir = tempDir(t);
  mkdirSync(join(dir, "data"));
  return dir;
}

/** A shell in a group of its own, once it says that it is there. */
async function program(t: TestContext, script: string): Promise<ChildProcess & { pid: number }> {
  const child = spawn("sh", ["-c", script], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  t.after(() => child.kill("SIGKILL"));
  let text = "";
  child.stdout.on("data", (bytes: Buffer) => (text += bytes.toString()));
  await until("it runs", () => text.includes("up"));
  return child as ChildProcess & { pid: number };
}

test("a process writes who it is, for its owner only", (t) => {
  const dir = slotDir(t);
  writeIdentity(dir, "gateway-a", "/home/a");
  const path = join(dir, "data", "identity.json");
  assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), {
    pid: process.pid,
    start_time: processStartTime(process.pid),
    slot: "gateway-a",
    home: "/home/a",
  });
  assert.equal(statSync(path).mode & 0o777, 0o600);
  // It is no orphan of itself.
  assert.equal(readOrphan(dir, "gateway-a", "/home/a"), null);
});

test("an orphan is the process of this slot and home with that start time", async (t) => {
  const { pid } = await program(t, "echo up; exec sleep 60");
  const startTime = processStartTime(pid) ?? "";
  const whole = { pid, start_time: startTime, slot: "gateway-a", home: "/home/a" };
  const rows: readonly (readonly [what: string, record: unknown, isOrphan: boolean])[] = [
    ["the very one", whole, true],
    ["another start time: the number was given anew", { ...whole, start_time: "1" }, false],
    ["no start time", { ...whole, start_time: "" }, false],
    ["a start time of another type", { ...whole, start_time: Number(startTime) }, false],
    ["another slot", { ...whole, slot: "gateway-b" }, false],
    ["another home", { ...whole, home: "/home/b" }, false],
    ["a number that is none", { ...whole, pid: -1 }, false],
    ["a number of nobody", { ...whole, pid: 4_194_305 }, false],
    ["no number", { ...whole, pid: String(pid) }, false],
    ["a list", [whole], false],
  ];
  const dir = slotDir(t);
  assert.equal(readOrphan(dir, "gateway-a", "/home/a"), null, "no record");
  for (const [what, record, isOrphan] of rows) {
    writeFileSync(join(dir, "data", "identity.json"), JSON.stringify(record));
    assert.deepEqual(readOrphan(dir, "gateway-a", "/home/a"), isOrphan ? whole : null, what);
  }
});

const identityOf = (pid: number): Parameters<typeof evict>[0] => ({
  pid,
  start_time: processStartTime(pid) ?? "",
  slot: "gateway-a",
  home: "/home/a",
});

test("an orphan that heeds TERM says goodbye", async (t) => {
  const child = await program(t, "trap 'exit 7' TERM; echo up; while :; do sleep 0.02; done");
  const ended = new Promise((resolve) => child.once("exit", (code) => resolve(code)));
  await evict(identityOf(child.pid));
  assert.equal(await ended, 7);
});

test("one that does not is killed with its children", async (t) => {
  const dir = tempDir(t);
  const script = `trap '' TERM; sleep 60 & echo $! >${dir}/child; echo up; wait; wait`;
  const child = await program(t, script);
  const grandchild = Number(readFileSync(join(dir, "child"), "utf8"));
  const ended = new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)));
  await evict(identityOf(child.pid), { termMs: 100, killMs: 5000 });
  assert.equal(await ended, "SIGKILL");
  await until("its child is gone", () => processStartTime(grandchild) === null);
});

test("a process that is gone takes no time", async () => {
  await evict({ ...identityOf(process.pid), pid: 4_194_305, start_time: "1" });
});

test("a process is named by the kernel; none has no name", () => {
  assert.equal(processName(4_194_305), null);
  assert.equal(processName(process.pid), readFileSync("/proc/self/comm", "utf8").trim());
});
