// Registering and unregistering with an s6 that answers what a test says (container.md §7.3): which tools in which order, and
// what is left after each failure. The contract suite does the same with real s6.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { otherUid, runAsOther } from "../../../test/kit/as-other-user.ts";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import type { SlotSpec } from "../port.ts";
import { placeSlot, register, toolFailed, unregister } from "./registration.ts";
import type { RunTool, ToolEnd } from "./tool.ts";

const SLOT = "gateway-a";
const SPEC: SlotSpec = { schema: 1, kind: "gateway", profile: "a", home: "/home/a", enabled: true };
const LAYOUT = { libexec: "/libexec", timeoutKillMs: 2000 };
const OK: ToolEnd = { rc: 0, stdout: "", stderr: "" };
const NO: ToolEnd = { rc: 1, stdout: "", stderr: "" };
const NO_SVSCAN: ToolEnd = {
  rc: 100,
  stdout: "",
  stderr: "s6-svscanctl: fatal: unable to control /scan: supervisor not listening\n",
};

interface Ring {
  readonly scandir: string;
  readonly run: RunTool;
  readonly layout: typeof LAYOUT;
  /** Tools and words, paths by their last names. */
  readonly calls: string[];
  left(): readonly string[];
}

/** Answers by tool; s6-svok says yes while the directory that it is asked about has its final name. */
function ring(t: TestContext, answers: Readonly<Record<string, ToolEnd>> = {}): Ring {
  const scandir = join(tempDir(t), "scan");
  const calls: string[] = [];
  const run: RunTool = async (name, args) => {
    const words = args.map((word) => word.replace(scandir, "").replace(`.${process.pid}`, ".PID"));
    const call = `${name} ${words.join(" ")}`.trim();
    if (calls.at(-1) !== call) calls.push(call);
    const given = answers[`${name} ${words[0] ?? ""}`.trim()] ?? answers[name];
    if (given !== undefined) return given;
    if (name !== "s6-svok") return OK;
    return args.some((path) => path.includes(".gone-")) ? NO : OK;
  };
  return {
    scandir,
    run,
    layout: LAYOUT,
    calls,
    left: () => (existsSync(scandir) ? readdirSync(scandir).sort() : []),
  };
}

test("a slot is placed under its name, shown to s6, and waited for with its logger", async (t) => {
  const there = ring(t);
  await register(there, SPEC, true);
  assert.deepEqual(there.left(), [SLOT]);
  assert.equal(existsSync(join(there.scandir, SLOT, "down")), true);
  assert.deepEqual(there.calls, ["s6-svscanctl -a", `s6-svok /${SLOT}`, `s6-svok /${SLOT}/log`]);
});

test("an existing slot stays as it is, and s6 is told nothing", async (t) => {
  const there = ring(t);
  placeSlot(there, SPEC, false);
  await assert.rejects(register(there, SPEC, true), { serviceCode: "already-registered" });
  assert.deepEqual([there.left(), there.calls], [[SLOT], []]);
  assert.equal(existsSync(join(there.scandir, SLOT, "down")), false);
});

test("where no s6-svscan listens nothing is left, and that is what is told", async (t) => {
  const answers = { "s6-svscanctl": NO_SVSCAN, "s6-svok": NO, "s6-svc": NO };
  const there = ring(t, answers);
  await assert.rejects(register(there, SPEC, true), { serviceCode: "not-supervised", exit: 69 });
  assert.deepEqual(there.left(), []);
});

test("a slot that no supervisor takes within 5 s is taken away again", async (t) => {
  const there = ring(t, { "s6-svok": NO });
  const before = performance.now();
  await assert.rejects(register(there, SPEC, false), {
    serviceCode: "not-supervised",
    message: `${SLOT} exists, but no supervisor took it within 5 s.`,
  });
  assert.ok(performance.now() - before >= 5000);
  assert.deepEqual(there.left(), []);
});

test("who may not ask is told so at once", async (t) => {
  const denied: ToolEnd = {
    rc: 111,
    stdout: "",
    stderr: "s6-svok: fatal: unable to check: Permission denied\n",
  };
  const there = ring(t, { "s6-svok": denied });
  const before = performance.now();
  await assert.rejects(register(there, SPEC, false), { serviceCode: "permission", exit: 77 });
  assert.ok(performance.now() - before < 4000);
});

test("unregister stops, hides, rescans, sees both supervisors gone, deletes", async (t) => {
  const there = ring(t);
  placeSlot(there, SPEC, false);
  await unregister(there, SLOT);
  assert.deepEqual(there.left(), []);
  assert.deepEqual(there.calls, [
    `s6-svc -wD -T 3000 -D /${SLOT}`,
    "s6-svscanctl -an",
    `s6-svok /.gone-${SLOT}.PID`,
    `s6-svok /.gone-${SLOT}.PID/log`,
  ]);
  await unregister(there, SLOT);
  assert.equal(there.calls.length, 4);
});

test("supervisors that stay are ended by force, else told", { timeout: 60_000 }, async (t) => {
  const there = ring(t, { "s6-svok": OK });
  placeSlot(there, SPEC, false);
  await assert.rejects(unregister(there, SLOT), { serviceCode: "still-supervised", exit: 1 });
  const forced = there.calls.filter((call) => call.startsWith("s6-svc -xd"));
  assert.deepEqual(forced, [`s6-svc -xd /.gone-${SLOT}.PID`, `s6-svc -xd /.gone-${SLOT}.PID/log`]);
  assert.equal(there.left().includes(SLOT), false);
});

test("what died in between is swept, what lives or is another's is not", async (t) => {
  const there = ring(t);
  const names = [
    `.new-gateway-b.${process.ppid}`,
    ".new-gateway-b.4194305",
    ".gone-gateway-c.4194305",
    ".gone-x",
    ".s6-svscan",
    "other",
  ];
  for (const name of names) mkdirSync(join(there.scandir, name), { recursive: true });
  writeFileSync(
    join(there.scandir, `.new-${SLOT}.${process.pid}`),
    "of an earlier process with our number",
  );
  await register(there, SPEC, true);
  assert.deepEqual(there.left(), [
    ".gone-x",
    `.new-gateway-b.${process.ppid}`,
    ".s6-svscan",
    SLOT,
    "other",
  ]);
});

test(
  "a scan directory that is not ours is named with the uid",
  { skip: otherUid === null },
  (t) => {
    const scandir = tempDir(t);
    const module = new URL("registration.ts", import.meta.url).href;
    const source = `
    const { placeSlot } = await import(${JSON.stringify(module)});
    try {
      placeSlot({ scandir: process.argv[1], layout: ${JSON.stringify(LAYOUT)} }, ${JSON.stringify(SPEC)}, true);
    } catch (error) {
      console.log(error.serviceCode, error.exit, error.message);
    }`;
    const { stdout, stderr } = runAsOther(source, [scandir]);
    const uid = process.getuid?.() === 0 ? otherUid : process.getuid?.();
    assert.equal(stdout, `permission 77 ${scandir} cannot be written as uid ${uid}.\n`, stderr);
  },
);

const FAILURES: readonly (readonly [rc: number | null, stderr: string, code: string])[] = [
  [111, "s6-svc: fatal: unable to control x: Permission denied", "permission"],
  [1, "Operation not permitted", "permission"],
  [100, "supervisor not listening", "not-supervised"],
  [111, "unable to control x: No such device or address", "not-supervised"],
  [1, "usage", "tool-failed"],
  [null, "spawn s6-svc ENOENT", "tool-failed"],
];

for (const [rc, stderr, code] of FAILURES) {
  test(`a tool that ends with ${rc} and "${stderr}" is ${code}`, () => {
    const { serviceCode, data } = toolFailed("s6-svc", SLOT, { rc, stderr: `${stderr}\n` });
    assert.equal(serviceCode, code);
    assert.deepEqual(data, { slot: SLOT, detail: { tool: "s6-svc", rc, stderr } });
  });
}
