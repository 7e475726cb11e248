// What the reader asks s6 and when (container.md §7.3, §8): again only where the status file changed; nothing makes it reject.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { otherUid, runAsOther } from "../../../test/kit/as-other-user.ts";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import { FactsReader } from "./facts.ts";
import type { RunTool, ToolEnd } from "./tool.ts";

const SLOT = "gateway-a";
const AT = "@400000006a0d8705075bcd15";
const LATER = "@400000006a0d8706075bcd15";
const end = (stdout: string, rc = 0): ToolEnd => ({ rc, stdout, stderr: "" });

interface Slot {
  readonly scandir: string;
  readonly dir: string;
  readonly reader: FactsReader;
  readonly asked: string[];
  /** What s6-svstat and s6-svdt say from now on. */
  say(status: ToolEnd, deaths?: string): void;
  /** As s6-supervise does at each change. */
  change(): void;
}

/** A slot whose supervisor listens: its control FIFO has a reader. */
function open(t: TestContext): Slot {
  const scandir = tempDir(t);
  const dir = join(scandir, SLOT);
  for (const name of ["supervise", "data"]) mkdirSync(join(dir, name), { recursive: true });
  const control = join(dir, "supervise", "control");
  assert.equal(spawnSync("mkfifo", [control]).status, 0);
  const listener = openSync(control, constants.O_RDONLY | constants.O_NONBLOCK);
  t.after(() => closeSync(listener));
  let status = end("");
  let deaths = "";
  const asked: string[] = [];
  const run: RunTool = async (name, args) => {
    asked.push([name, ...args.slice(0, -1)].join(" "));
    assert.equal(args.at(-1), dir);
    return name === "s6-svstat" ? status : end(deaths);
  };
  const change = (): void => {
    writeFileSync(join(dir, "supervise", "new"), "");
    renameSync(join(dir, "supervise", "new"), join(dir, "supervise", "status"));
  };
  change();
  writeFileSync(join(dir, "supervise", "death_tally"), "");
  return {
    scandir,
    dir,
    reader: new FactsReader(scandir, run),
    asked,
    change,
    say: (next, tally = "") => ([status, deaths] = [next, tally]),
  };
}

const DOWN = end(`false false false true -1 0 NA ${AT} ${AT}\n`);

test("s6 is asked for these fields, once", async (t) => {
  const { reader, asked, say } = open(t);
  say(DOWN, `${AT} exitcode 78\n`);
  const facts = await reader.read(SLOT);
  assert.deepEqual(asked, [
    "s6-svstat -o up,wantedup,normallyup,ready,pid,exitcode,signal,updownsince,readysince",
    "s6-svdt",
  ]);
  const { slot, kind, profile, registered, supervised, up, answers, deaths } = facts;
  assert.deepEqual([slot, kind, profile], [SLOT, "gateway", "a"]);
  assert.deepEqual([registered, supervised, up, answers], [true, true, false, null]);
  assert.deepEqual(deaths, [{ at: 1_779_271_392_123, code: 78, signal: null }]);
});

test("a tally that is not there is not asked for: s6-svdt would make it, as whoever asks", async (t) => {
  const { reader, asked, say, dir } = open(t);
  rmSync(join(dir, "supervise", "death_tally"));
  say(DOWN, `${AT} exitcode 78\n`);
  assert.deepEqual((await reader.read(SLOT)).deaths, []);
  assert.equal(asked.length, 1);
});

test("again only where the status file is another, or nobody supervises any more", async (t) => {
  const { reader, asked, say, change, dir } = open(t);
  say(DOWN);
  await reader.read(SLOT);
  await reader.read(SLOT);
  assert.equal(asked.length, 2);
  change();
  await reader.read(SLOT);
  assert.equal(asked.length, 4);
  rmSync(join(dir, "supervise", "control"));
  say(end("", 1));
  assert.equal((await reader.read(SLOT)).supervised, false);
  assert.equal(asked.length, 6);
});

test("files of ours are read each time", async (t) => {
  const { reader, asked, say, dir } = open(t);
  say(DOWN);
  assert.equal((await reader.read(SLOT)).lastError, null);
  writeFileSync(join(dir, "data", "last_error.json"), '{"message":"no"}');
  writeFileSync(join(dir, "data", "backoff"), "3 1\n");
  const { lastError, backoff } = await reader.read(SLOT);
  assert.deepEqual([lastError?.message, backoff?.n], ["no", 3]);
  assert.equal(asked.length, 2);
});

test("while a finish script runs s6 is asked each time", async (t) => {
  const { reader, asked, say } = open(t);
  // The later stamp is that of the death: the end of the script has none yet.
  say(end(`false true false false -1 3 NA ${LATER} ${AT}\n`), `${LATER} exitcode 3\n`);
  assert.equal((await reader.read(SLOT)).finishing, true);
  assert.equal((await reader.read(SLOT)).finishing, true);
  assert.equal(asked.length, 4);
  say(end(`false true false true -1 3 NA ${AT} ${LATER}\n`), `${AT} exitcode 3\n`);
  assert.equal((await reader.read(SLOT)).finishing, false);
  await reader.read(SLOT);
  assert.equal(asked.length, 6);
});

test("one that never ran is not finishing, nor is one that is up", async (t) => {
  const { reader, say, change } = open(t);
  say(end(`false false false false -1 0 NA ${LATER} ${AT}\n`));
  assert.equal((await reader.read(SLOT)).finishing, false);
  change();
  say(end(`true true true false 5 -1 NA ${LATER} ${AT}\n`), `${AT} exitcode 3\n`);
  assert.equal((await reader.read(SLOT)).finishing, false);
});

test("one that is ready and does not answer is told so", async (t) => {
  const { reader, say } = open(t);
  say(end(`true true true true 5 -1 NA ${AT} ${LATER}\n`));
  assert.equal((await reader.read(SLOT)).answers, false);
});

const SILENT: readonly (readonly [what: string, status: ToolEnd])[] = [
  ["s6 says not supervised", end("", 1)],
  ["the tool was killed", { rc: null, stdout: "", stderr: "timeout" }],
  ["s6 says something else", end("up (pid 5) 3 seconds\n")],
];

for (const [what, status] of SILENT) {
  test(`where ${what} the slot has no supervisor`, async (t) => {
    const { reader, say } = open(t);
    say(status, `${AT} exitcode 3\n`);
    const facts = await reader.read(SLOT);
    assert.deepEqual(
      [facts.registered, facts.supervised, facts.up, facts.deaths],
      [true, false, false, []],
    );
  });
}

test("a slot that is not there, or a file in its place, asks nobody", async (t) => {
  const { reader, asked, scandir } = open(t);
  assert.equal((await reader.read("gateway-b")).registered, false);
  writeFileSync(join(scandir, "gateway-c"), "");
  assert.equal((await reader.read("gateway-c")).registered, false);
  assert.deepEqual(asked, []);
});

test(
  "what may not be looked at is not supervised",
  { skip: otherUid === null && "needs uids" },
  (t) => {
    const { scandir, dir } = open(t);
    const module = new URL("facts.ts", import.meta.url).href;
    const source = `
    const { FactsReader } = await import(${JSON.stringify(module)});
    const run = async () => ({ rc: 111, stdout: "", stderr: "Permission denied" });
    const facts = await new FactsReader(process.argv[1], run).read("${SLOT}");
    console.log(facts.registered, facts.supervised);`;
    // s6-supervise makes its directory for its own user only.
    chmodSync(join(dir, "supervise"), 0o700);
    for (const [mode, said] of [
      [0o755, "true false\n"],
      [0o700, "false false\n"],
    ] as const) {
      chmodSync(scandir, mode);
      const { stdout, stderr } = runAsOther(source, [scandir]);
      assert.equal(stdout, said, stderr);
    }
  },
);
