// The systemd backend against a recording systemctl: what it is told in which order, and what a start ends with.
import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { FakeLock } from "../../../test/kit/fake-lock.ts";
import { MemorySystemd } from "../../../test/kit/memory-systemd.ts";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import type { ServiceManager } from "../port.ts";
import { judgeUnit } from "../services.ts";
import { installUnit, removeUnit } from "./install.ts";
import { createSystemdManager } from "./manager.ts";
import type { SlotId } from "../slot-name.ts";
import type { UnitLayout } from "./unit.ts";

const SLOT = "gateway-default";
const UNIT = "hermes-gateway.service";
const DEFAULT: SlotId = { kind: "gateway", profile: "default" };
const HOW = { waitMs: 5000, by: "gateway start", source: "cli" } as const;

interface Subject {
  readonly root: string;
  readonly layout: UnitLayout;
  readonly systemd: MemorySystemd;
  readonly manager: ServiceManager;
  /** What the backend for gateways without a unit was asked. */
  readonly plain: readonly string[];
}

function open(t: TestContext, ownSlot: string | null = null): Subject {
  const root = join(tempDir(t), "home");
  mkdirSync(root);
  const layout = {
    directory: join(root, "..", "units"),
    program: ["/usr/bin/node", "/hermes.mjs"],
    root,
    path: "/usr/bin:/bin",
  };
  const systemd = new MemorySystemd(t, root);
  const plain: string[] = [];
  const ask = (verb: string) => (slot: unknown) => {
    plain.push(`${verb} ${typeof slot === "string" ? slot : "spec"}`);
    return Promise.reject(new Error("plain"));
  };
  const manager = createSystemdManager({
    layout,
    plain: {
      start: ask("start"),
      stop: ask("stop"),
      restart: ask("restart"),
      facts: ask("facts"),
      register: ask("register"),
    },
    judge: (facts) => judgeUnit({ root, lock: new FakeLock() }, facts),
    ownSlot,
    run: systemd.run,
  });
  return { root, layout, systemd, manager, plain };
}

async function installed(t: TestContext, ownSlot: string | null = null): Promise<Subject> {
  const subject = open(t, ownSlot);
  await installUnit(subject.layout, subject.systemd.run, DEFAULT);
  subject.systemd.calls.length = 0;
  return subject;
}

const json = (root: string, name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(root, name), "utf8")) as Record<string, unknown>;

test("a unit is written, read and enabled, and nothing starts; taken away it is stopped first", async (t) => {
  const { layout, systemd, manager } = open(t);
  const path = await installUnit(layout, systemd.run, DEFAULT);
  assert.equal(path, join(layout.directory, UNIT));
  assert.deepEqual(systemd.calls, ["daemon-reload", `enable ${UNIT}`]);
  assert.deepEqual(await manager.list(), [SLOT]);
  await manager.start(SLOT, HOW);
  const child = systemd.child(UNIT);
  systemd.calls.length = 0;
  await manager.unregister(SLOT);
  assert.deepEqual(systemd.calls, [`disable --now ${UNIT}`, "daemon-reload"]);
  assert.deepEqual([existsSync(path), await manager.list()], [false, []]);
  assert.equal(child?.killed, true);
  await manager.unregister(SLOT);
  assert.equal(await removeUnit(layout, systemd.run, DEFAULT), false);
});

test("a unit of another home is neither written over, nor asked, nor taken away", async (t) => {
  const { layout, systemd, manager, plain } = open(t);
  await installUnit({ ...layout, root: "/home/b/.hermes" }, systemd.run, DEFAULT);
  systemd.calls.length = 0;
  await assert.rejects(installUnit(layout, systemd.run, DEFAULT), {
    serviceCode: "already-registered",
  });
  await assert.rejects(removeUnit(layout, systemd.run, DEFAULT), { serviceCode: "not-registered" });
  await assert.rejects(manager.start(SLOT, HOW), /plain/u);
  await manager.unregister(SLOT);
  assert.deepEqual([await manager.list(), systemd.calls], [[], []]);
  assert.deepEqual(plain, [`start ${SLOT}`]);
});

test("start, again, restart, stop, again", async (t) => {
  const { root, systemd, manager } = await installed(t);
  const never = judgeUnit({ root, lock: new FakeLock() }, await manager.facts(SLOT));
  assert.deepEqual([never.state, never.reason], ["stopped", "never started"]);
  const started = await manager.start(SLOT, HOW);
  assert.deepEqual([started.name, started.state, started.desired], [SLOT, "ready", "running"]);
  assert.equal(started.pid, systemd.child(UNIT)?.pid);
  assert.equal((await manager.start(SLOT, HOW)).pid, started.pid);
  assert.deepEqual(systemd.told(), [`reset-failed ${UNIT}`, `--no-block start ${UNIT}`]);

  const again = await manager.restart(SLOT, HOW);
  assert.deepEqual([again.state, again.pid === started.pid], ["ready", false]);
  assert.deepEqual(marker(root), [started.pid, "restart"]);

  const stopped = await manager.stop(SLOT, { ...HOW, by: "gateway stop" });
  assert.deepEqual([stopped.state, stopped.desired, stopped.pid], ["stopped", "stopped", null]);
  assert.match(stopped.reason ?? "", /^stopped by gateway stop /u);
  assert.deepEqual(marker(root), [again.pid, "stop"]);
  assert.equal((await manager.stop(SLOT, HOW)).state, "stopped");
  assert.equal(json(root, "gateway_desired.json")["desired"], "stopped");
});

/** Whose end is planned, and as what (container.md §9). */
function marker(root: string): readonly unknown[] {
  const { target_pid: pid, intent } = json(root, ".gateway-planned-stop.json");
  return [pid, intent];
}

for (const code of [78, 64]) {
  test(`a program that ends with ${code} is refused until somebody changes something`, async (t) => {
    const { systemd, manager } = await installed(t);
    systemd.play(UNIT, code);
    const refusal = { serviceCode: "refused", exit: 78 };
    await assert.rejects(manager.start(SLOT, HOW), refusal);
    await assert.rejects(manager.restart(SLOT, HOW), refusal);
    systemd.play(UNIT, "ready");
    assert.equal((await manager.start(SLOT, HOW)).state, "ready");
  });
}

test("a refusal's own words are shown", async (t) => {
  const { root, systemd, manager } = await installed(t);
  systemd.play(UNIT, 78);
  await assert.rejects(manager.start(SLOT, HOW));
  const record = {
    pid: 1,
    start_time: "1",
    gateway_state: "startup_failed",
    exit_reason: "API_SERVER_PORT is no port",
    updated_at: new Date(Date.now() + 1000).toISOString(),
  };
  writeFileSync(join(root, "gateway_state.json"), JSON.stringify(record));
  const { state, reason, error } = judgeUnit(
    { root, lock: new FakeLock() },
    await manager.facts(SLOT),
  );
  assert.deepEqual([state, reason], ["refused", "API_SERVER_PORT is no port"]);
  assert.equal(error?.code, "STARTUP_FAILED");
});

test("a program that crashes again and again fails the start, and can be stopped", async (t) => {
  const { systemd, manager } = await installed(t);
  systemd.play(UNIT, 3);
  await assert.rejects(manager.start(SLOT, HOW), {
    serviceCode: "crash-looping",
    exit: 1,
    fix: `Its output: journalctl --user --unit=${UNIT}`,
  });
  assert.equal((await manager.stop(SLOT, HOW)).state, "stopped");
});

test("a program that is not ready in time is still starting", async (t) => {
  const { systemd, manager } = await installed(t);
  systemd.play(UNIT, "slow");
  await assert.rejects(manager.start(SLOT, { ...HOW, waitMs: 300 }), {
    serviceCode: "timeout",
    exit: 75,
  });
});

test("a record of another process makes nobody ready", async (t) => {
  const { root, systemd, manager } = await installed(t);
  systemd.play(UNIT, "slow");
  const pid = process.pid;
  const record = { pid, start_time: "1", gateway_state: "running" };
  writeFileSync(join(root, "gateway_state.json"), JSON.stringify(record));
  await assert.rejects(manager.start(SLOT, { ...HOW, waitMs: 300 }), { serviceCode: "timeout" });
});

test("from inside its own service a restart is a signal that waits for the turn", async (t) => {
  const { systemd, manager } = await installed(t, SLOT);
  await manager.start(SLOT, HOW);
  const child = systemd.child(UNIT);
  assert.ok(child);
  systemd.calls.length = 0;
  const ended = once(child, "exit");
  await manager.restart(SLOT, HOW);
  assert.deepEqual((await ended)[1], "SIGUSR1");
  assert.deepEqual(systemd.told(), []);
});

test("a wish that cannot be written tells systemd nothing", async (t) => {
  const { root, systemd, manager } = await installed(t);
  mkdirSync(join(root, "gateway_desired.json"));
  await assert.rejects(manager.start(SLOT, HOW));
  await assert.rejects(manager.stop(SLOT, HOW));
  assert.deepEqual(systemd.told(), []);
});

test("a user manager that does not answer is said, and its services are unknown", async (t) => {
  const { root, systemd, manager } = await installed(t);
  systemd.trouble = "Failed to connect to bus: No medium found";
  await assert.rejects(manager.start(SLOT, HOW), { serviceCode: "not-supervised", exit: 69 });
  systemd.trouble = "Unit is masked.";
  await assert.rejects(manager.rescan(), { serviceCode: "tool-failed", exit: 1 });
  const { up, supervised } = await manager.facts(SLOT);
  assert.deepEqual([up, supervised], [false, false]);
  assert.equal(
    judgeUnit({ root, lock: new FakeLock() }, await manager.facts(SLOT)).state,
    "unknown",
  );
});

test("a gateway without a unit is asked where nothing supervises; registering is not for units", async (t) => {
  const { manager, plain } = open(t);
  const { kind, canRegister, scandir, label } = manager;
  assert.deepEqual(
    { kind, canRegister, scandir, label },
    { kind: "systemd", canRegister: false, scandir: null, label: "systemd (user)" },
  );
  for (const verb of ["start", "stop", "restart"] as const)
    await assert.rejects(manager[verb](SLOT, HOW), /plain/u);
  await assert.rejects(manager.facts(SLOT), /plain/u);
  assert.deepEqual(
    plain,
    ["start", "stop", "restart", "facts"].map((verb) => `${verb} ${SLOT}`),
  );
  await assert.rejects(async () => manager.start("gateway-../x", HOW), {
    serviceCode: "invalid-name",
  });
});
