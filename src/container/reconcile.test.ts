import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { FakeLock } from "../../test/kit/fake-lock.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { createBootLog } from "./boot-log.ts";
import { reconcileAtBoot, type ReconcileInput, reconcileLater } from "./reconcile.ts";

interface World {
  readonly input: ReconcileInput;
  readonly root: string;
  readonly scandir: string;
  readonly lock: FakeLock;
  readonly said: string[];
}

function world(t: TestContext, changes: Partial<ReconcileInput> = {}): World {
  const dir = tempDir(t);
  const [root, scandir] = [join(dir, "home"), join(dir, "service")];
  mkdirSync(join(root, "logs"), { recursive: true });
  const lock = new FakeLock();
  const said: string[] = [];
  const input: ReconcileInput = {
    role: "serve",
    supervised: true,
    profile: "default",
    root,
    dashboard: false,
    gatewayProfiles: null,
    scandir,
    layout: { libexec: "/opt/hermes/libexec", timeoutKillMs: 5000 },
    tee: false,
    lock,
    log: createBootLog(true, (line) => said.push(line.trimEnd())),
    now: () => new Date("2026-05-20T10:11:12Z"),
    ...changes,
  };
  return { input, root, scandir, lock, said };
}

function addProfile(root: string, name: string): string {
  const home = join(root, "profiles", name);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "SOUL.md"), "x");
  return home;
}

const wish = (home: string, desired: string): void =>
  writeFileSync(join(home, "gateway_desired.json"), JSON.stringify({ schema: 1, desired }));

const bootLog = (root: string): readonly string[] =>
  readFileSync(join(root, "logs", "container-boot.log"), "utf8")
    .trimEnd()
    .split("\n");

test("what an earlier boot left is gone, hidden entries too", (t) => {
  const { input, scandir } = world(t);
  for (const name of [".s6-svscan", "gateway-old/supervise", ".new-x.1", "stray"])
    mkdirSync(join(scandir, name), { recursive: true });
  writeFileSync(join(scandir, ".tee"), "");
  reconcileAtBoot(input);
  assert.deepEqual(readdirSync(scandir).sort(), ["dashboard", "gateway-default"]);
});

test("a slot is written whole", (t) => {
  const { input, root, scandir } = world(t, { tee: true });
  wish(root, "running");
  reconcileAtBoot(input);
  const slot = join(scandir, "gateway-default");
  assert.equal(readlinkSync(join(slot, "run")), "/opt/hermes/libexec/slot/run");
  assert.equal(readlinkSync(join(slot, "log", "run")), "/opt/hermes/libexec/slot/log-run");
  assert.equal(readFileSync(join(slot, "timeout-kill"), "utf8"), "5000\n");
  assert.deepEqual(JSON.parse(readFileSync(join(slot, "data", "spec.json"), "utf8")), {
    schema: 1,
    kind: "gateway",
    profile: "default",
    home: root,
    enabled: true,
  });
  assert.equal(existsSync(join(slot, "down")), false);
  assert.equal(existsSync(join(scandir, "dashboard", "down")), true);
  assert.equal(existsSync(join(scandir, ".tee")), true);
});

test("the switch of the dashboard counts at each boot, in both directions", (t) => {
  const { input, scandir } = world(t);
  const down = join(scandir, "dashboard", "down");
  for (const dashboard of [true, false, true]) {
    reconcileAtBoot({ ...input, dashboard });
    assert.equal(existsSync(down), !dashboard);
  }
});

test("default comes first, then the profiles by name; the rest is skipped out loud", (t) => {
  const { input, root, said } = world(t);
  for (const name of ["zeta", "alpha", "default", "Bad Name"]) addProfile(root, name);
  mkdirSync(join(root, "profiles", "empty"));
  symlinkSync(addProfile(root, "real"), join(root, "profiles", "linked"));
  reconcileAtBoot(input);
  assert.deepEqual(
    bootLog(root).map((line) => line.split(" ")[1]),
    ["default", "alpha", "real", "zeta"].map((name) => `profile=${name}`),
  );
  for (const name of ["default", "Bad Name", "empty", "linked"]) {
    assert.ok(
      said.some((line) => line.startsWith(`[boot] warn profiles/${name} is skipped: `)),
      name,
    );
  }
});

test("a free home loses its leftovers, a held one keeps them", (t) => {
  const { input, root, lock } = world(t);
  const held = addProfile(root, "held");
  const names = ["gateway.pid", "processes.json", ".gateway-planned-stop.json"];
  for (const home of [root, held]) for (const name of names) writeFileSync(join(home, name), "{}");
  lock.hold(join(held, "gateway.lock"), "gateway");
  reconcileAtBoot(input);
  assert.deepEqual(
    names.filter((name) => existsSync(join(root, name))),
    [],
  );
  assert.deepEqual(
    names.filter((name) => existsSync(join(held, name))),
    names,
  );
});

test("a dashboard of its own touches no gateway's files", (t) => {
  const { input, root } = world(t, { role: "dashboard" });
  writeFileSync(join(root, "gateway.pid"), "1");
  reconcileAtBoot(input);
  assert.ok(existsSync(join(root, "gateway.pid")));
});

test("a leftover that cannot be removed costs a warning, not the slot", (t) => {
  const { input, root, scandir, said } = world(t);
  mkdirSync(join(root, "gateway.pid", "x"), { recursive: true });
  reconcileAtBoot(input);
  assert.ok(existsSync(join(scandir, "gateway-default")));
  assert.match(said.join("\n"), /warn .*gateway\.pid of an earlier gateway stays/);
});

test("gateway run writes the wish that it is", (t) => {
  const { input, root } = world(t, { role: "gateway" });
  reconcileAtBoot(input);
  const stored = JSON.parse(readFileSync(join(root, "gateway_desired.json"), "utf8")) as unknown;
  assert.deepEqual(stored, {
    schema: 1,
    desired: "running",
    by: "gateway run",
    source: "cli",
    at: "2026-05-20T10:11:12.000Z",
  });
  assert.match(bootLog(root)[0] ?? "", /action=started desired=running reason=command$/);
});

test("no other role writes a wish", (t) => {
  for (const role of [
    "serve",
    "command",
    "gateway-foreground",
    "supervise",
    "dashboard",
  ] as const) {
    const { input, root } = world(t, { role });
    reconcileAtBoot(input);
    assert.equal(existsSync(join(root, "gateway_desired.json")), false, role);
  }
});

test("a name without a profile is an error in log and lines", (t) => {
  const { input, root, said } = world(t, { gatewayProfiles: ["ghost"] });
  reconcileAtBoot(input);
  assert.ok(
    said.some((line) => line.startsWith('[boot] error HERMES_GATEWAY_PROFILES names "ghost"')),
  );
  assert.match(
    bootLog(root)[1] ?? "",
    /profile=ghost prior_state=none action=missing desired=none/,
  );
  assert.equal(input.log.warnings.length, 1);
});

const BROKEN: readonly (readonly [string, string | Uint8Array])[] = [
  ["empty", ""],
  ["text", "running"],
  ["an array", "[]"],
  ["null", "null"],
  ["cut off", '{"desired":"run'],
  ["binary", Uint8Array.of(0xff, 0xfe, 0, 1)],
];

for (const [what, content] of BROKEN) {
  test(`state files that are ${what} count as none, with one warning each`, (t) => {
    const { input, root, said } = world(t);
    for (const name of ["gateway_desired.json", "gateway_state.json"])
      writeFileSync(join(root, name), content);
    reconcileAtBoot(input);
    assert.match(
      bootLog(root)[0] ?? "",
      /prior_state=none action=registered desired=none reason=none$/,
    );
    assert.equal(said.filter((line) => line.startsWith("[boot] warn ")).length, 2);
  });
}

test("a scan directory that is none is an error for the caller", (t) => {
  const { input, scandir } = world(t);
  writeFileSync(scandir, "");
  assert.throws(() => reconcileAtBoot(input), { code: "EEXIST" });
});

test("a hundred profiles get their slots", (t) => {
  const { input, root, scandir } = world(t);
  for (let index = 0; index < 100; index++) addProfile(root, `p${index}`);
  reconcileAtBoot(input);
  assert.equal(readdirSync(scandir).length, 102);
  assert.equal(bootLog(root).length, 101);
});

test("later only what came is added, and what went is removed; a dry run tells the same", async (t) => {
  const { input, root } = world(t);
  for (const name of ["stays", "came"]) addProfile(root, name);
  const calls: string[] = [];
  const manager = {
    list: () => Promise.resolve(["dashboard", "gateway-default", "gateway-stays", "gateway-went"]),
    register: (spec: { readonly profile: string }, options: { readonly start: boolean }) => {
      calls.push(`register ${spec.profile} ${options.start}`);
      return Promise.resolve();
    },
    unregister: (slot: string) => {
      calls.push(`unregister ${slot}`);
      return Promise.resolve();
    },
  };
  const later = { root, dashboard: true, manager, log: input.log };
  const expected = [
    { slot: "gateway-came", action: "add" },
    { slot: "gateway-went", action: "remove" },
  ];
  assert.deepEqual(await reconcileLater({ ...later, dryRun: true }), expected);
  assert.deepEqual(calls, []);
  assert.deepEqual(await reconcileLater({ ...later, dryRun: false }), expected);
  assert.deepEqual(calls, ["unregister gateway-went", "register came false"]);
});
