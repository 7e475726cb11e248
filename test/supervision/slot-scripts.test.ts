// The scripts of a slot by themselves (container.md §6.2, §6.4): what finish answers to each end, how delays grow, how run waits.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { processStartTime } from "#base/process-identity.ts";
import { parseBackoff } from "#supervisor/backoff.ts";
import { PROJECT } from "../kit/cli.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const SCRIPTS = join(PROJECT, "docker", "rootfs", "opt", "hermes", "libexec", "slot");
const STAY_DOWN = 125;

const uptime = (): number => Math.trunc(Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]));

function slotDir(t: TestContext): string {
  const dir = tempDir(t);
  mkdirSync(join(dir, "data"));
  return dir;
}

/** As s6-supervise calls it: code or 256, signal, name, process group. */
function finish(dir: string, ...args: readonly (string | number)[]): number | null {
  const end = spawnSync("sh", [join(SCRIPTS, "finish"), ...args.map(String)], {
    cwd: dir,
    encoding: "utf8",
  });
  assert.equal(end.stderr, "");
  return end.status;
}

function backoff(dir: string): { readonly n: number; readonly seconds: number } | null {
  const path = join(dir, "data", "backoff");
  if (!existsSync(path)) return null;
  const now = uptime();
  const parsed = parseBackoff(readFileSync(path, "utf8"), now, 0);
  assert.ok(parsed);
  return { n: parsed.n, seconds: parsed.until / 1000 };
}

const PERMANENT: ReadonlySet<number> = new Set([0, 64, 78]);

test("every exit code: 0, 64 and 78 stay down, 75 starts anew, all others are deaths", (t) => {
  const dir = slotDir(t);
  for (let code = 0; code <= 255; code++) {
    writeFileSync(join(dir, "data", "backoff"), "2 1\n");
    const rc = finish(dir, code, 0, "gateway-a", 4_194_305);
    assert.equal(rc, PERMANENT.has(code) ? STAY_DOWN : 0, `exit ${code}`);
    const n = backoff(dir)?.n ?? null;
    assert.equal(n, PERMANENT.has(code) || code === 75 ? null : 3, `exit ${code}`);
  }
});

test("a signal is a death", (t) => {
  const dir = slotDir(t);
  assert.equal(finish(dir, 256, 11, "gateway-a", 4_194_305), 0);
  assert.equal(backoff(dir)?.n, 1);
});

test("delays grow to a minute and stay there", (t) => {
  const dir = slotDir(t);
  const delays = Array.from({ length: 10 }, (_, index) => {
    assert.equal(finish(dir, 1, 0, "gateway-a", 4_194_305), 0);
    const { n, seconds } = backoff(dir) ?? { n: 0, seconds: 0 };
    assert.equal(n, index + 1);
    return seconds;
  });
  const wanted = [0, 2, 4, 8, 16, 32, 60, 60, 60, 60];
  for (const [index, delay] of delays.entries()) {
    // A second may pass between the script's look at the clock and ours.
    assert.ok([0, 1].includes((wanted[index] ?? 0) - delay), delays.join(" "));
  }
});

for (const [lived, n] of [
  [58, 6],
  [61, 1],
] as const) {
  test(`after a life of ${lived} s the next death is number ${n}`, (t) => {
    const dir = slotDir(t);
    writeFileSync(join(dir, "data", "backoff"), "5 1\n");
    writeFileSync(join(dir, "data", "started"), `${uptime() - lived}\n`);
    finish(dir, 1, 0, "gateway-a", 4_194_305);
    assert.equal(backoff(dir)?.n, n);
  });
}

test("what a killed process left in its group is killed", async (t) => {
  const dir = slotDir(t);
  const leader = spawn("sh", ["-c", "sleep 60 & echo $! >child; wait"], {
    cwd: dir,
    detached: true,
    stdio: "ignore",
  });
  t.after(() => leader.kill("SIGKILL"));
  const child = await until("it has a child", () => {
    const path = join(dir, "child");
    return existsSync(path) ? Number(readFileSync(path, "utf8")) : 0;
  });
  const pid = leader.pid ?? 0;
  leader.kill("SIGKILL");
  await until("the leader is gone", () => processStartTime(pid) === null);
  assert.notEqual(processStartTime(child), null);
  // One that ended by itself keeps its children.
  finish(dir, 1, 0, "gateway-a", pid);
  assert.notEqual(processStartTime(child), null);
  finish(dir, 256, 9, "gateway-a", pid);
  await until("the child is gone", () => processStartTime(child) === null);
});

interface Run {
  readonly dir: string;
  readonly child: ReturnType<typeof spawn>;
  readonly ended: Promise<number | null>;
}

function run(t: TestContext, text: string | null): Run {
  const dir = slotDir(t);
  if (text !== null) writeFileSync(join(dir, "data", "backoff"), text);
  mkdirSync(join(dir, "bin"));
  writeFileSync(join(dir, "bin", "hermes"), '#!/bin/sh\necho "$@" >words\nexit 7\n', {
    mode: 0o755,
  });
  const child = spawn("sh", [join(SCRIPTS, "run"), "gateway-a"], {
    cwd: dir,
    env: { PATH: `${join(dir, "bin")}:/usr/bin:/bin` },
    stdio: "ignore",
  });
  t.after(() => child.kill("SIGKILL"));
  return {
    dir,
    child,
    ended: new Promise((resolve) => child.once("exit", (code) => resolve(code))),
  };
}

const READY_AT_ONCE: readonly (string | null)[] = [null, "", "1 0\n", `4 ${uptime()}\n`];

for (const text of READY_AT_ONCE) {
  test(`with ${JSON.stringify(text)} as its delay a slot starts at once, by its name`, async (t) => {
    const { dir, ended } = run(t, text);
    assert.equal(await ended, 7);
    assert.equal(readFileSync(join(dir, "words"), "utf8"), "slot-run gateway-a\n");
    const started = Number(readFileSync(join(dir, "data", "started"), "utf8"));
    assert.ok(Math.abs(started - uptime()) <= 5, `${started}`);
  });
}

test("a delay is waited for", async (t) => {
  const due = uptime() + 2;
  const { dir, ended } = run(t, `3 ${due}\n`);
  assert.equal(await ended, 7);
  assert.ok(Number(readFileSync(join(dir, "data", "started"), "utf8")) >= due);
});

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
  test(`${signal} ends the wait at once, as a restart that is asked for`, async (t) => {
    const { dir, child, ended } = run(t, `9 ${uptime() + 1000}\n`);
    const pid = child.pid ?? 0;
    const children = (): string => readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim();
    const sleep = await until("it sleeps", () => Number(children()));
    child.kill(signal);
    const before = performance.now();
    assert.equal(await ended, 75);
    assert.ok(performance.now() - before < 1000);
    await until("so does the sleep", () => processStartTime(sleep) === null);
    assert.equal(existsSync(join(dir, "words")), false);
  });
}
