// Gateways where nothing supervises (container.md §7.4): real processes that play one, a lock that a test holds.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { processStartTime } from "#base/process-identity.ts";
import type { ProcessLock } from "#base/process-lock.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { until } from "../../test/kit/until.ts";
import { openManager } from "./open.ts";
import type { ServiceManager } from "./port.ts";

/** Plays `gateway run`: a file of that name is its lock, its record says what it does. */
const PROGRAM = `
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
const stat = readFileSync("/proc/self/stat", "latin1");
const start_time = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
const self = { pid: process.pid, start_time, host: hostname(), home: process.cwd() };
const [, , ...words] = process.argv;
writeFileSync("words", JSON.stringify(words));
console.log("a line of the gateway");
if (process.env.PLAY === "refuse") process.exit(78);
if (process.env.PLAY === "die") process.exit(3);
writeFileSync("gateway.pid", JSON.stringify(self));
writeFileSync("gateway.lock", "");
process.on("SIGTERM", () => {
  appendFileSync("words", " TERM");
  if (process.env.PLAY === "stay") return;
  rmSync("gateway.lock");
  process.exit(0);
});
if (process.env.PLAY !== "slow")
  writeFileSync("gateway_state.json", JSON.stringify({ ...self, gateway_state: "running" }));
setInterval(() => undefined, 1000);
`;

const HOW = { waitMs: 20_000, by: "gateway start", source: "cli" } as const;

/** Held while the file is there. */
const lock: ProcessLock = {
  isHeld: (path) => existsSync(path),
  take: () => assert.fail("nothing is taken here"),
};

interface Machine {
  readonly home: string;
  readonly manager: ServiceManager;
  desired(): string;
}

function machine(t: TestContext, play = ""): Machine {
  let home = "";
  t.after(() => {
    const pid = pidOf(home);
    if (pid !== null) process.kill(pid, "SIGKILL");
  });
  const folder = tempDir(t);
  home = join(folder, "home");
  mkdirSync(join(folder, "bin"));
  mkdirSync(home);
  writeFileSync(join(folder, "bin", "hermes.mjs"), PROGRAM);
  const env = { PATH: process.env["PATH"], PLAY: play };
  // Without a bus, and no scan directory: nothing supervises here.
  const manager = openManager({ env, root: home, project: folder, lock });
  const desired = (): string =>
    (JSON.parse(readFileSync(join(home, "gateway_desired.json"), "utf8")) as { desired: string })
      .desired;
  return { home, manager, desired };
}

function pidOf(home: string): number | null {
  if (!existsSync(join(home, "gateway.pid"))) return null;
  const record = JSON.parse(readFileSync(join(home, "gateway.pid"), "utf8")) as {
    readonly pid: number;
    readonly start_time: string;
  } | null;
  return record && processStartTime(record.pid) === record.start_time ? record.pid : null;
}

test("a gateway is started in its own session, is left alone by a second start, stops by its record", async (t) => {
  const { home, manager, desired } = machine(t);
  const started = await manager.start("gateway-default", HOW);
  assert.equal(started.state, "ready");
  assert.equal(started.pid, pidOf(home));
  assert.equal(desired(), "running");
  assert.deepEqual(JSON.parse(readFileSync(join(home, "words"), "utf8")), [
    "-p",
    "default",
    "gateway",
    "run",
    "--no-supervise",
  ]);
  assert.match(
    readFileSync(join(home, "logs", "gateway-output.log"), "utf8"),
    /a line of the gateway/u,
  );
  assert.equal((await manager.start("gateway-default", HOW)).pid, started.pid);
  const again = await manager.restart("gateway-default", HOW);
  assert.equal(again.state, "ready");
  assert.notEqual(again.pid, started.pid);
  assert.equal((await manager.stop("gateway-default", HOW)).state, "stopped");
  assert.equal(desired(), "stopped");
  await until("it is gone", () => pidOf(home) === null);
  assert.equal((await manager.stop("gateway-default", HOW)).state, "stopped");
});

const DEATHS: readonly (readonly [play: string, code: string, exit: number])[] = [
  ["refuse", "refused", 78],
  ["die", "crash-looping", 1],
];

for (const [play, code, exit] of DEATHS) {
  test(`one that ends before it is ready (${play}) fails the start with ${exit} and its log`, async (t) => {
    const { manager, home } = machine(t, play);
    await assert.rejects(manager.start("gateway-default", HOW), {
      serviceCode: code,
      exit,
      fix: `Its output says why: ${join(home, "logs", "gateway-output.log")}`,
    });
  });
}

test("one that is not ready in time is still starting (75)", async (t) => {
  const { manager, home } = machine(t, "slow");
  const start = manager.start("gateway-default", { ...HOW, waitMs: 300 });
  await assert.rejects(start, { serviceCode: "timeout", exit: 75 });
  await until("it came up meanwhile", () => pidOf(home) !== null);
});

test("one that does not heed TERM fails the stop (1), and is sent nothing else", async (t) => {
  const { manager, home } = machine(t, "stay");
  await manager.start("gateway-default", HOW);
  const stop = manager.stop("gateway-default", { ...HOW, waitMs: 200 });
  await assert.rejects(stop, { serviceCode: "timeout", exit: 1 });
  await until("it got the signal", () =>
    readFileSync(join(home, "words"), "utf8").endsWith("TERM"),
  );
  assert.notEqual(pidOf(home), null);
});

test("nothing but the very process of this home is sent a signal", async (t) => {
  const victim = spawn("sleep", ["60"], { stdio: "ignore" });
  t.after(() => victim.kill("SIGKILL"));
  const pid = victim.pid ?? 0;
  const { home, manager } = machine(t);
  const whole = { pid, start_time: processStartTime(pid), host: hostname(), home };
  const rows: readonly (readonly [what: string, record: unknown])[] = [
    ["another start time", { ...whole, start_time: "1" }],
    ["no start time", { ...whole, start_time: "" }],
    ["another home", { ...whole, home: "/elsewhere" }],
    ["another host", { ...whole, start_time: "1", host: "other" }],
    ["the same numbers on another host", { ...whole, host: "other" }],
    ["a bare number", pid],
    ["no record", null],
  ];
  writeFileSync(join(home, "gateway.lock"), "");
  for (const [what, record] of rows) {
    writeFileSync(join(home, "gateway.pid"), JSON.stringify(record));
    const stop = manager.stop("gateway-default", { ...HOW, waitMs: 100 });
    await assert.rejects(stop, { serviceCode: "permission", exit: 77 }, what);
    assert.notEqual(processStartTime(pid), null, what);
  }
});

test("a home that somebody else holds is not started twice", async (t) => {
  const { home, manager } = machine(t);
  writeFileSync(join(home, "gateway.lock"), "");
  writeFileSync(
    join(home, "gateway.pid"),
    JSON.stringify({ pid: 9, start_time: "1", host: "other", home }),
  );
  await assert.rejects(manager.start("gateway-default", HOW), {
    serviceCode: "timeout",
    exit: 75,
    message: /held by pid 9 on other/u,
  });
  assert.equal(existsSync(join(home, "words")), false);
});

test("what it cannot do it says, with the way out", async (t) => {
  const { manager, home } = machine(t);
  const spec = { schema: 1, kind: "gateway", profile: "a", home, enabled: true } as const;
  const rows: readonly (readonly [
    what: string,
    done: () => Promise<unknown>,
    code: string,
    exit: number,
  ])[] = [
    ["register", () => manager.register(spec, { start: false }), "no-manager", 69],
    ["facts", () => manager.facts("gateway-a"), "no-manager", 69],
    ["start a dashboard", () => manager.start("dashboard", HOW), "no-manager", 69],
    ["start of no profile", () => manager.start("gateway-nosuch", HOW), "unknown-profile", 66],
    ["stop of no profile", () => manager.stop("gateway-nosuch", HOW), "unknown-profile", 66],
    ["start of no name", () => manager.start("gateway-../x", HOW), "invalid-name", 64],
    ["stop of no name", () => manager.stop("", HOW), "invalid-name", 64],
  ];
  for (const [what, done, serviceCode, exit] of rows) {
    await assert.rejects(done, { serviceCode, exit }, what);
  }
  await manager.unregister("gateway-a");
  await manager.rescan();
  assert.deepEqual(await manager.list(), []);
});
