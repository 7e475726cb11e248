import assert from "node:assert/strict";
import { test } from "node:test";
import { HermesError } from "#base/errors.ts";
import { FakeLock } from "../../test/kit/fake-lock.ts";
import { FakeFiles, FakePlatform, SELF, startGateway } from "../../test/kit/gateway-kit.ts";
import { until } from "../../test/kit/until.ts";
import type { GatewayDeps } from "./deps.ts";
import type { TurnGate } from "./turn-gate.ts";

const connected = (name: string) => new FakePlatform(name, (context) => context.state("connected"));

function code(expected: string, exit: number) {
  return (error: unknown): boolean =>
    error instanceof HermesError && error.code === expected && error.exit === exit;
}

test("ready is told after the state is written, and the end is too", async (t) => {
  const run = startGateway(t, { slot: "gateway-default", platforms: [connected("one").spec] });
  await until("the readiness byte", () => run.readied.length > 0);
  assert.deepEqual(run.readied, ["running"]);
  assert.equal(run.files.pid?.slot, "gateway-default");
  assert.equal(run.files.last?.platforms["one"]?.state, "connected");
  run.signals.emit("SIGTERM");
  assert.equal(await run.ended, 75);
  assert.equal(run.files.pid, null);
  assert.equal(run.files.last?.gateway_state, "stopped");
  assert.equal(run.files.last?.exit_reason, "SIGTERM");
  assert.equal(run.files.last?.platforms["one"]?.state, "stopped");
  assert.equal(run.lock.isHeld(`${run.home}/gateway.lock`), false);
});

for (const [signal, slot, expected] of [
  ["SIGTERM", undefined, 0],
  ["SIGINT", undefined, 0],
  ["SIGHUP", undefined, 0],
  ["SIGINT", "gateway-x", 75],
  ["SIGHUP", "gateway-x", 75],
  ["SIGUSR1", undefined, 75],
  ["SIGUSR1", "gateway-x", 75],
] as const) {
  test(`${signal} ${slot === undefined ? "outside" : "inside"} a slot ends with ${expected}`, async (t) => {
    const run = startGateway(t, slot === undefined ? {} : { slot });
    await until("running", () => run.files.last?.gateway_state === "running");
    run.signals.emit(signal);
    assert.equal(await run.ended, expected);
    assert.equal(run.files.last?.restart_requested, signal === "SIGUSR1");
  });
}

test("a second gateway names the holder at once and is refused after 30 s", async (t) => {
  const lock = new FakeLock();
  const files = new FakeFiles();
  let path = "";
  const run = startGateway(t, {
    lock,
    files,
    change: (deps) => {
      path = `${deps.loaded().home}/gateway.lock`;
      lock.hold(path, "gateway");
      return deps;
    },
  });
  await until("the sentence", () => run.said.length > 0);
  assert.match(run.said[0] ?? "", /pid 4242, host elsewhere/);
  await run.clock.advance(29_000);
  assert.equal(run.said.length, 1);
  await run.clock.advance(2000);
  await assert.rejects(run.ended, code("GATEWAY_RUNNING", 78));
  assert.deepEqual(files.records, []);
});

test("the wait ends as soon as the home is free, and with a signal", async (t) => {
  const lock = new FakeLock();
  let free = (): void => undefined;
  const run = startGateway(t, {
    lock,
    change: (deps) => {
      const held = lock.hold(`${deps.loaded().home}/gateway.lock`, "gateway");
      free = () => held.release();
      return deps;
    },
  });
  await until("it waits", () => run.clock.pending > 0);
  free();
  await run.clock.advance(200);
  await until("running", () => run.files.last?.gateway_state === "running");
  run.signals.emit("SIGTERM");
  assert.equal(await run.ended, 0);

  const other = startGateway(t, {
    lock,
    slot: "gateway-default",
    change: (deps) => {
      lock.hold(`${deps.loaded().home}/gateway.lock`, "gateway");
      return deps;
    },
  });
  await until("it waits", () => other.clock.pending > 0);
  other.signals.emit("SIGTERM");
  assert.equal(await other.ended, 75);
});

test("root is refused unless it is allowed", async (t) => {
  const change = (deps: GatewayDeps) => ({ ...deps, uid: 0 });
  await assert.rejects(startGateway(t, { change }).ended, code("GATEWAY_ROOT", 78));
  const allowed = startGateway(t, { change, env: { HERMES_ALLOW_ROOT_GATEWAY: "1" } });
  await until("running", () => allowed.files.last?.gateway_state === "running");
  allowed.signals.emit("SIGTERM");
  assert.equal(await allowed.ended, 0);
});

test("a home that cannot be written is refused", async (t) => {
  const files = new FakeFiles();
  files.failWith = Object.assign(new Error("EROFS: read-only file system"), { code: "EROFS" });
  await assert.rejects(startGateway(t, { files }).ended, code("GATEWAY_HOME", 78));
});

test("a platform that hangs or throws never keeps the others, and degrades", async (t) => {
  const run = startGateway(t, {
    slot: "gateway-default",
    platforms: [
      connected("good").spec,
      new FakePlatform("hangs", () => new Promise(() => undefined)).spec,
      new FakePlatform("throws", () => {
        throw new Error("bad token");
      }).spec,
    ],
  });
  await until("the others settle", () => run.files.last?.platforms["throws"]?.state === "fatal");
  assert.deepEqual(run.readied, []);
  await run.clock.advance(30_000);
  await until("ready", () => run.readied.length > 0);
  assert.deepEqual(run.readied, ["degraded"]);
  assert.deepEqual(run.files.last?.reasons, [
    "hangs is fatal: not connected after 30 s (gateway.platform_connect_timeout)",
    "throws is fatal: bad token",
  ]);
  run.signals.emit("SIGTERM");
  assert.equal(await run.ended, 75);
});

test("degraded ends when the platform recovers; no model counts only with a platform", async (t) => {
  const shaky = new FakePlatform("shaky", (context) =>
    context.state("retrying", { code: "NETWORK", message: "no route" }),
  );
  const run = startGateway(t, { platforms: [shaky.spec] });
  await until("degraded", () => run.files.last?.gateway_state === "degraded");
  shaky.contexts[0]?.state("connected");
  assert.equal(run.files.last?.gateway_state, "running");
  run.signals.emit("SIGTERM");
  await run.ended;

  const noModel = (deps: GatewayDeps) => ({ ...deps, modelTrouble: () => "none is set" });
  const bare = startGateway(t, { change: noModel });
  await until("running", () => bare.files.last?.gateway_state === "running");
  bare.signals.emit("SIGTERM");
  const asked = startGateway(t, { change: noModel, platforms: [connected("one").spec] });
  await until("degraded", () => asked.files.last?.gateway_state === "degraded");
  assert.deepEqual(asked.files.last?.reasons, ["no model: none is set"]);
  asked.signals.emit("SIGTERM");
  await Promise.all([bare.ended, asked.ended]);
});

test("a damaged store: the platforms are served, the state says why; any other failure ends it", async (t) => {
  const damage = new HermesError("STORE_CORRUPT", "state.db is damaged");
  const platform = connected("one");
  const run = startGateway(t, {
    platforms: [platform.spec],
    change: (deps) => ({ ...deps, openStore: () => Promise.reject(damage) }),
  });
  await until("degraded", () => run.files.last?.gateway_state === "degraded");
  assert.deepEqual(run.files.last?.reasons, ["state.db is damaged"]);
  await assert.rejects(platform.contexts[0]?.conversations() ?? Promise.resolve(), damage);
  run.signals.emit("SIGTERM");
  assert.equal(await run.ended, 0);

  const busy = startGateway(t, {
    change: (deps) => ({
      ...deps,
      openStore: () => Promise.reject(new HermesError("STORE_BUSY", "busy")),
    }),
  });
  await assert.rejects(busy.ended, code("STORE_BUSY", 1));
  assert.equal(busy.files.last?.gateway_state, "startup_failed");
  assert.equal(busy.files.pid, null);
});

test("a turn gets the drain time, no new one begins, and what is left is aborted", async (t) => {
  const platform = connected("one");
  const run = startGateway(t, {
    platforms: [platform.spec],
    config: "agent:\n  restart_drain_timeout: 5\n",
  });
  await until("running", () => run.files.last?.gateway_state === "running");
  const turns = platform.contexts[0]?.turns as TurnGate;
  const leave = turns.enter();
  run.signals.emit("SIGTERM");
  await until("draining", () => run.files.last?.gateway_state === "draining");
  assert.equal(turns.enter(), null);
  await run.clock.advance(4000);
  assert.equal(platform.disconnects, 0);
  leave?.();
  assert.equal(await run.ended, 0);
  assert.equal(platform.disconnects, 1);
});

for (const [what, seconds, act] of [
  ["the drain time is over", 5, () => undefined],
  ["the drain time is 0", 0, () => undefined],
  [
    "a second signal comes",
    5,
    (signals: { emit(name: string): unknown }) => signals.emit("SIGINT"),
  ],
] as const) {
  test(`a turn that does not end: ${what}`, async (t) => {
    const platform = connected("one");
    const run = startGateway(t, {
      platforms: [platform.spec],
      config: `agent:\n  restart_drain_timeout: ${seconds}\n`,
    });
    await until("running", () => run.files.last?.gateway_state === "running");
    platform.contexts[0]?.turns.enter();
    run.signals.emit("SIGTERM");
    await until("draining", () => run.files.last?.gateway_state === "draining");
    act(run.signals);
    if (act.length === 0) await run.clock.advance(seconds * 1000);
    assert.equal(await run.ended, 0);
  });
}

test("a restart waits for the turn; a terminating signal after it does not", async (t) => {
  const platform = connected("one");
  const run = startGateway(t, { platforms: [platform.spec] });
  await until("running", () => run.files.last?.gateway_state === "running");
  platform.contexts[0]?.turns.enter();
  run.signals.emit("SIGUSR1");
  await until("draining", () => run.files.last?.gateway_state === "draining");
  await run.clock.advance(59_000);
  assert.equal(run.files.last?.gateway_state, "draining");
  run.signals.emit("SIGTERM");
  assert.equal(await run.ended, 75);
});

test("a planned stop is the reason; the heartbeat writes each minute", async (t) => {
  const files = new FakeFiles();
  files.wanted = "stopped";
  const run = startGateway(t, { files });
  await until("running", () => files.last?.gateway_state === "running");
  const count = files.records.length;
  await run.clock.advance(120_000);
  assert.equal(files.records.length, count + 2);
  assert.equal(files.last?.desired_state, "stopped");
  assert.equal(files.last?.pid, SELF.pid);
  files.planned = "takeover";
  run.signals.emit("SIGTERM");
  await run.ended;
  assert.equal(files.last?.exit_reason, "asked for: takeover");
});

test("it is told to stop while it starts", async (t) => {
  const run = startGateway(t, {
    platforms: [new FakePlatform("hangs", () => new Promise(() => undefined)).spec],
  });
  await until("connecting", () => run.files.last?.platforms["hangs"]?.state === "connecting");
  run.signals.emit("SIGTERM");
  assert.equal(await run.ended, 0);
  assert.equal(run.files.last?.gateway_state, "stopped");
});
