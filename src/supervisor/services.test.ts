// From facts and files to the one shape of a service: what each surface shows.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { processStartTime } from "#base/process-identity.ts";
import { FakeLock } from "../../test/kit/fake-lock.ts";
import { MemoryManager } from "../../test/kit/memory-manager.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import type { SlotFacts } from "./port.ts";
import {
  type JudgeDeps,
  judgeSlot,
  logDirectory,
  profileHome,
  readLock,
  readServices,
  unsupervisedService,
} from "./services.ts";

interface Root extends JudgeDeps {
  readonly lock: FakeLock;
  readonly warned: string[];
  write(name: string, value: unknown): void;
  hold(name: string): void;
}

function openRoot(t: TestContext): Root {
  const root = tempDir(t);
  const lock = new FakeLock();
  const warned: string[] = [];
  mkdirSync(join(root, "dashboard"));
  return {
    root,
    lock,
    warned,
    warn: (text) => void warned.push(text),
    write: (name, value) =>
      writeFileSync(join(root, name), typeof value === "string" ? value : JSON.stringify(value)),
    hold: (name) => void lock.hold(join(root, name), "gateway"),
  };
}

const SELF = { pid: process.pid, start_time: processStartTime(process.pid) ?? "" };

function factsOf({ root }: Root, given: Partial<SlotFacts> = {}): SlotFacts {
  return {
    slot: "gateway-default",
    kind: "gateway",
    profile: "default",
    registered: true,
    supervised: true,
    up: true,
    wantedUp: true,
    normallyUp: true,
    ready: true,
    finishing: false,
    registeredAt: 0,
    pid: process.pid,
    exitCode: null,
    signal: null,
    changedAt: Date.UTC(2026, 0, 1),
    readyAt: Date.UTC(2026, 0, 2),
    deaths: [],
    backoff: null,
    askedAt: null,
    answers: true,
    spec: { schema: 1, kind: "gateway", profile: "default", home: root, enabled: true },
    lastError: null,
    ...given,
  };
}

const DOWN: Partial<SlotFacts> = { up: false, wantedUp: false, pid: null, answers: null };

test("a ready gateway, whole", (t) => {
  const there = openRoot(t);
  there.write("gateway_desired.json", { desired: "running" });
  const deaths = [{ at: Date.UTC(2026, 0, 1), code: null, signal: "SIGKILL" }];
  assert.deepEqual(judgeSlot(there, factsOf(there, { deaths })), {
    name: "gateway-default",
    kind: "gateway",
    profile: "default",
    state: "ready",
    reason: null,
    desired: "running",
    pid: process.pid,
    since: "2026-01-02T00:00:00.000Z",
    restarts: 1,
    restarts_60s: 0,
    last_exit: { code: null, signal: "SIGKILL", at: "2026-01-01T00:00:00.000Z" },
    next_start_at: null,
    error: null,
    log: join(there.root, "logs", "gateways", "default", "current"),
  });
});

test("its record counts if pid and start time are those of the live process", (t) => {
  const there = openRoot(t);
  const rows: readonly (readonly [record: unknown, state: string])[] = [
    [{ ...SELF, gateway_state: "draining" }, "stopping"],
    [{ ...SELF, gateway_state: "degraded", reasons: ["x"] }, "degraded"],
    [{ ...SELF, start_time: Number(SELF.start_time), gateway_state: "degraded" }, "degraded"],
    [{ ...SELF, start_time: "1", gateway_state: "draining" }, "ready"],
    [{ pid: SELF.pid, gateway_state: "draining" }, "ready"],
    [{ ...SELF, pid: 1, gateway_state: "draining" }, "ready"],
    [[], "ready"],
    ["\u0000\u0001", "ready"],
  ];
  for (const [record, state] of rows) {
    there.write("gateway_state.json", record);
    assert.equal(judgeSlot(there, factsOf(there)).state, state, JSON.stringify(record));
  }
});

test("a record without a start time is not that of a process that is gone", (t) => {
  const there = openRoot(t);
  there.write("gateway_state.json", { pid: 4_194_305, gateway_state: "draining" });
  assert.equal(judgeSlot(there, factsOf(there, { pid: 4_194_305 })).state, "ready");
});

test("a file that is none is warned of once by each reading, and judged as missing", (t) => {
  const there = openRoot(t);
  there.write("gateway_desired.json", "[1]");
  assert.equal(judgeSlot(there, factsOf(there)).desired, null);
  assert.deepEqual(there.warned, [
    `${join(there.root, "gateway_desired.json")} is not a JSON object and is ignored`,
  ]);
});

test("a refusal carries its sentence and the ways out; a later state does not", (t) => {
  const there = openRoot(t);
  const lastError = {
    code: "CONFIG_INVALID",
    message: "No.",
    ways_out: ["Do this."],
    setting: "a.b",
    at: "",
    pid: 1,
  };
  const deaths = [{ at: Date.now(), code: 78, signal: null }];
  const refused = judgeSlot(there, factsOf(there, { ...DOWN, deaths, lastError }));
  assert.deepEqual(refused.error, {
    code: "CONFIG_INVALID",
    message: "No.",
    ways_out: ["Do this."],
  });
  assert.deepEqual([refused.state, refused.reason, refused.pid], ["refused", "No.", null]);
  assert.equal(judgeSlot(there, factsOf(there, { lastError })).error, null);
});

test("a dashboard wants what its slot's down file says; it has no profile and its own log", (t) => {
  const there = openRoot(t);
  const spec = { schema: 1, kind: "dashboard", profile: "default", home: there.root } as const;
  const facts = { slot: "dashboard", kind: "dashboard" } as const;
  const on = factsOf(there, { ...facts, spec: { ...spec, enabled: true } });
  const off = factsOf(there, {
    ...facts,
    ...DOWN,
    normallyUp: false,
    spec: { ...spec, enabled: false },
  });
  const shown = [on, off].map((each) => {
    const { state, desired, profile, log } = judgeSlot(there, each);
    return { state, desired, profile, log };
  });
  const log = join(there.root, "logs", "dashboard", "current");
  assert.deepEqual(shown, [
    { state: "ready", desired: "running", profile: null, log },
    { state: "disabled", desired: "stopped", profile: null, log },
  ]);
});

test("a slot without a spec is judged by the home that its profile has", (t) => {
  const there = openRoot(t);
  mkdirSync(join(there.root, "profiles", "a"), { recursive: true });
  there.write("profiles/a/gateway_desired.json", { desired: "stopped" });
  const facts = factsOf(there, { ...DOWN, slot: "gateway-a", profile: "a", spec: null });
  assert.equal(judgeSlot(there, facts).desired, "stopped");
});

test("a home that another container holds is unknown, by its host", (t) => {
  const there = openRoot(t);
  there.hold("gateway.lock");
  const host = "other.example.org";
  there.write("gateway.pid", { pid: 12, start_time: "1", host, home: there.root });
  const { state, reason } = judgeSlot(there, factsOf(there, DOWN));
  assert.deepEqual([state, reason], ["unknown", `held by pid 12 on ${host}`]);
});

test("a gateway that runs outside its down slot is judged by its own record", (t) => {
  const there = openRoot(t);
  there.hold("gateway.lock");
  there.write("gateway.pid", { ...SELF, host: hostname(), home: there.root });
  there.write("gateway_state.json", { ...SELF, gateway_state: "running", updated_at: 1.5 });
  const body = judgeSlot(there, factsOf(there, DOWN));
  assert.deepEqual([body.name, body.state, body.pid], ["gateway-default", "ready", process.pid]);
  assert.equal(body.since, "1970-01-01T00:00:01.500Z");
  const deaths = [{ at: 0, code: 78, signal: null }];
  assert.equal(judgeSlot(there, factsOf(there, { ...DOWN, deaths })).state, "refused");
});

type Lock = ReturnType<typeof readLock>;
const HERE = hostname();

const LOCKS: readonly (readonly [what: string, record: unknown, expected: Lock])[] = [
  ["no record", undefined, { held: true, holder: "unseen", holderName: null }],
  ["a bare number", "4242", { held: true, holder: "unseen", holderName: null }],
  ["half a record", { pid: 1, host: HERE }, { held: true, holder: "unseen", holderName: null }],
  [
    "a live process here",
    { ...SELF, host: HERE },
    { held: true, holder: "foreign", holderName: `pid ${process.pid} on ${HERE}` },
  ],
  [
    "a number that was given anew",
    { ...SELF, start_time: "1", host: HERE },
    { held: true, holder: "unseen", holderName: `pid ${process.pid} on ${HERE}` },
  ],
  [
    "the same number and start on another host",
    { ...SELF, host: "other" },
    { held: true, holder: "unseen", holderName: `pid ${process.pid} on other` },
  ],
];

for (const [what, record, expected] of LOCKS) {
  test(`a held lock with ${what}`, (t) => {
    const there = openRoot(t);
    if (record !== undefined) there.write("gateway.pid", record);
    assert.deepEqual(readLock(there.root, there.lock), {
      held: false,
      holder: null,
      holderName: null,
    });
    there.hold("gateway.lock");
    assert.deepEqual(readLock(there.root, there.lock), expected);
  });
}

test("without a supervisor a gateway shows pid and time only while it is seen", (t) => {
  const there = openRoot(t);
  there.write("gateway_state.json", { ...SELF, gateway_state: "running", updated_at: 1 });
  const free = unsupervisedService(there, "default", there.root);
  assert.deepEqual([free.state, free.pid, free.since], ["stopped", null, null]);
  there.hold("gateway.lock");
  there.write("gateway.pid", { ...SELF, host: HERE, home: there.root });
  const held = unsupervisedService(there, "default", there.root);
  assert.deepEqual(
    [held.state, held.pid, held.since],
    ["ready", process.pid, "1970-01-01T00:00:01.000Z"],
  );
  assert.equal(held.log, join(there.root, "logs", "gateway.log"));
});

test("every slot is told, and a dashboard outside a slot in the place of its own", async (t) => {
  const there = openRoot(t);
  const manager = new MemoryManager(there);
  for (const kind of ["dashboard", "gateway"] as const) {
    const spec = {
      schema: 1,
      kind,
      profile: "default",
      home: there.root,
      enabled: kind === "gateway",
    } as const;
    await manager.register(spec, { start: false });
  }
  const states = async (): Promise<readonly string[]> =>
    (await readServices(manager, there)).map(({ name, state }) => `${name} ${state}`);
  assert.deepEqual(await states(), ["dashboard disabled", "gateway-default stopped"]);
  there.hold("dashboard/dashboard.lock");
  assert.deepEqual(await states(), ["dashboard starting", "gateway-default stopped"]);
});

test("where nothing supervises, each profile has a gateway", async (t) => {
  const there = openRoot(t);
  mkdirSync(join(there.root, "profiles", "a"), { recursive: true });
  there.write("profiles/a/SOUL.md", "x");
  const manager = new MemoryManager({ ...there, canRegister: false });
  const names = async (): Promise<readonly string[]> =>
    (await readServices(manager, there)).map(({ name }) => name);
  assert.deepEqual(await names(), ["gateway-default", "gateway-a"]);
  there.hold("dashboard/dashboard.lock");
  assert.deepEqual(await names(), ["dashboard", "gateway-default", "gateway-a"]);
});

test("homes and logs", () => {
  assert.equal(profileHome("/d", "default"), "/d");
  assert.equal(profileHome("/d", "a"), "/d/profiles/a");
  assert.equal(logDirectory("/d", { kind: "dashboard", profile: "default" }), "/d/logs/dashboard");
  assert.equal(logDirectory("/d", { kind: "gateway", profile: "a" }), "/d/logs/gateways/a");
});
