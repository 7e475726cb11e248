// Real terminals with real programs: what they show, and that nothing of them stays (dashboard.md §14 row 50).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { silentLog } from "#base/log.ts";
import { processStartTime } from "#base/process-identity.ts";
import type { TerminalChild, TerminalHost } from "#dashboard/pty-port.ts";
import { childrenOf } from "../../../test/kit/child-processes.ts";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import { until } from "../../../test/kit/until.ts";
import type * as Host from "./host.ts";
import { openTerminalHost } from "./host.ts";

const PROJECT = join(import.meta.dirname, "..", "..", "..");
const SLOW = 30_000;

interface Shown {
  readonly child: TerminalChild;
  text(): string;
  readonly exits: readonly number[];
  readonly refusals: readonly string[];
  isGone(): boolean;
  /** Pids that the script printed as `NAME=123`. */
  pid(name: string): Promise<number>;
}

function openHost(
  t: TestContext,
  script: string,
  cwd: string,
  open: typeof openTerminalHost = openTerminalHost,
): TerminalHost {
  const host = open({
    project: PROJECT,
    log: silentLog,
    program: ({ cols, rows }) => ({
      file: "/bin/bash",
      args: ["--norc", "-c", script],
      cwd,
      env: { PATH: "/usr/bin:/bin", TERM: "xterm-256color" },
      cols,
      rows,
    }),
  });
  t.after(() => host.close());
  return host;
}

function start(host: TerminalHost, size = { cols: 80, rows: 24 }): Shown {
  const chunks: Buffer[] = [];
  const exits: number[] = [];
  const refusals: string[] = [];
  let isGone = false;
  const child = host.start(
    { profile: "default", resume: null, ...size },
    {
      output: (bytes) => void chunks.push(bytes),
      exited: (code) => void exits.push(code),
      gone: () => void (isGone = true),
      refused: (reason) => void refusals.push(reason),
      taken: () => undefined,
    },
  );
  const text = (): string => Buffer.concat(chunks).toString("utf8");
  const pid = async (name: string): Promise<number> => {
    const found = await until(`pid ${name}`, () => new RegExp(`${name}=(\\d+)`).exec(text()), SLOW);
    return Number(found[1]);
  };
  return { child, text, exits, refusals, isGone: () => isGone, pid };
}

const run = (t: TestContext, script: string): Shown => start(openHost(t, script, tempDir(t)));
const isAlive = (pid: number): boolean => processStartTime(pid) !== null;

/** Processes that hold terminals of this one. */
const keepers = (): readonly number[] => childrenOf(process.pid);

test("a program has a terminal of its size, and its exit code is told after its last output", async (t) => {
  const shown = run(t, 'stty size; read -r line; echo "got $line"; stty size; exit 3');
  await until("the size", () => shown.text().includes("24 80"), SLOW);
  shown.child.resize(100, 30);
  shown.child.write(Buffer.from("héllo\r"));
  await until("the end", () => shown.isGone());
  assert.match(shown.text(), /got héllo\r\n30 100\r\n$/);
  assert.deepEqual(shown.exits, [3]);
  assert.equal(shown.child.pendingBytes, 0);
  await until("the process that held it is gone, too", () => keepers().length === 0);
});

test("what is typed before the program runs reaches it, in order", async (t) => {
  const shown = run(t, 'read -r a; read -r b; echo "$b$a"');
  shown.child.write(Buffer.from("1\r"));
  shown.child.write(Buffer.from("2\r"));
  await until("both", () => shown.text().includes("21\r\n"), SLOW);
});

test("a program that dies by a signal: 128 + its number", async (t) => {
  const shown = run(t, "kill -TERM $$");
  await until("the exit", () => shown.exits.length > 0, SLOW);
  assert.deepEqual(shown.exits, [143]);
});

test("a program that is not there ends; a directory that is not there is told", async (t) => {
  const host = openHost(t, "true", join(tempDir(t), "gone"));
  const shown = start(host);
  await until("the end", () => shown.isGone() || shown.refusals.length > 0, SLOW);
  assert.ok(shown.exits[0] !== 0);
});

/** A job with a group of its own, one that ignores HUP, one that is stopped. */
const STUBBORN = `set -m
(trap "" HUP TERM; while :; do sleep 0.2; done) & echo "deaf=$!"
sleep 300 & echo "group=$!"
(kill -STOP $BASHPID; sleep 300) & echo "stopped=$!"
trap "" HUP
echo "leader=$$"
while :; do sleep 0.2; done`;

test("ending: HUP, 2 s, KILL to every process of the session, whatever its group", async (t) => {
  const shown = run(t, STUBBORN);
  const leader = await shown.pid("leader");
  const others = await Promise.all(["deaf", "group", "stopped"].map((name) => shown.pid(name)));
  assert.ok([leader, ...others].every(isAlive));
  const started = performance.now();
  shown.child.end();
  shown.child.end();
  await until("all are gone", () => shown.isGone(), SLOW);
  assert.ok(performance.now() - started > 1900, "the deaf ones had their 2 s");
  assert.deepEqual([leader, ...others].filter(isAlive), []);
});

test("what a program leaves behind in its session ends with it", async (t) => {
  const shown = run(t, 'set -m; sleep 300 & echo "left=$!"; exit 0');
  const left = await shown.pid("left");
  await until("all are gone", () => shown.isGone(), SLOW);
  assert.deepEqual(shown.exits, [0]);
  assert.equal(isAlive(left), false);
});

test("a program that never reads keeps its input waiting, and nobody else", async (t) => {
  const folder = tempDir(t);
  const script = `stty raw -echo; echo ready; until [ -e go ]; do sleep 0.1; done; head -c 300000 | wc -c`;
  const host = openHost(t, script, folder);
  const stuck = start(host);
  await until("it is ready", () => stuck.text().includes("ready"), SLOW);
  stuck.child.write(Buffer.alloc(300_000, "x"));
  const other = start(host);
  await until("another one starts meanwhile", () => other.text().includes("ready"), SLOW);
  assert.ok(stuck.child.pendingBytes > 200_000, `${stuck.child.pendingBytes} bytes wait`);
  writeFileSync(join(folder, "go"), "");
  await until("everything was read", () => stuck.text().includes("300000"), SLOW);
  assert.equal(stuck.child.pendingBytes, 0);
});

test("a paused program waits; resumed, nothing of its output is missing", async (t) => {
  const host = openHost(t, "echo ready; read -r _; seq 1 200000; echo end", tempDir(t));
  const shown = start(host);
  await until("it is ready", () => shown.text().includes("ready"), SLOW);
  shown.child.pause();
  shown.child.write(Buffer.from("\r"));
  const other = start(host);
  other.child.write(Buffer.from("\r"));
  await until("another one writes meanwhile", () => other.text().endsWith("end\r\n"), SLOW);
  assert.equal(shown.text(), "ready\r\n");
  shown.child.resume();
  await until("all of it", () => shown.text().endsWith("end\r\n"), SLOW);
  const lines = shown.text().trim().split("\r\n");
  assert.equal(lines.filter((line) => /^\d+$/.test(line)).length, 200_000);
});

test("the process that holds terminals is killed: what it held ends all the same, a new one starts", async (t) => {
  const host = openHost(t, STUBBORN, tempDir(t));
  const shown = start(host);
  const leader = await shown.pid("leader");
  const deaf = await shown.pid("deaf");
  const [keeper] = keepers();
  assert.ok(keeper !== undefined);
  process.kill(keeper, "SIGKILL");
  await until("all are gone", () => shown.isGone(), SLOW);
  assert.deepEqual([leader, deaf].filter(isAlive), []);
  const next = start(host);
  await next.pid("leader");
  next.child.end();
  await until("it, too", () => next.isGone(), SLOW);
});

test("close ends all of them within 3 s, the deaf ones too", async (t) => {
  const host = openHost(t, STUBBORN, tempDir(t));
  const shown = [start(host), start(host), start(host)];
  const pids = await Promise.all(shown.flatMap((one) => [one.pid("leader"), one.pid("deaf")]));
  const started = performance.now();
  await host.close();
  const took = performance.now() - started;
  assert.deepEqual(pids.filter(isAlive), []);
  assert.ok(took < 3000, `${took} ms`);
});

test("kill -9 of whoever asked for a terminal: nothing of it is left", async (t) => {
  const main = join(PROJECT, "test", "fixtures", "terminal-holder.ts");
  const holder = spawn(process.execPath, [main, STUBBORN, tempDir(t)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  holder.stdout.setEncoding("utf8").on("data", (more: string) => (text += more));
  t.after(() => holder.kill("SIGKILL"));
  const pids = await Promise.all(
    ["keeper", "leader", "deaf", "group", "stopped"].map(async (name) => {
      const found = await until(name, () => new RegExp(`${name}=(\\d+)`).exec(text), SLOW);
      return Number(found[1]);
    }),
  );
  assert.ok(pids.every(isAlive));
  holder.kill("SIGKILL");
  await until("all are gone", () => !pids.some(isAlive), 10_000);
});

test("without the native package: said in one sentence", async (t) => {
  const project = tempDir(t);
  // The sources beside a package that cannot be loaded, as on a system that it was not built for.
  mkdirSync(join(project, "src"));
  for (const room of ["base", "cli/terminal"]) {
    cpSync(join(PROJECT, "src", room), join(project, "src", room), { recursive: true });
  }
  cpSync(join(PROJECT, "package.json"), join(project, "package.json"));
  const broken = join(project, "node_modules", "@lydell", "node-pty");
  mkdirSync(broken, { recursive: true });
  writeFileSync(
    join(broken, "index.js"),
    "exports.spawn = 0; throw new Error('/secret/path: invalid ELF header')",
  );
  const file = join(project, "src", "cli", "terminal", "host.ts");
  const elsewhere = (await import(file)) as typeof Host;
  const shown = start(openHost(t, "true", project, elsewhere.openTerminalHost));
  await until("the refusal", () => shown.refusals[0], SLOW);
  assert.match(shown.refusals[0] ?? "", /^the optional package @lydell\/node-pty cannot be loaded/);
  assert.doesNotMatch(shown.refusals[0] ?? "", /secret|\n/);
});
