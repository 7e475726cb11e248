// Four processes write one store at once and one is killed in the middle: nothing acknowledged is lost (agent.md §12.2
// row 29, field-rules B10).
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { systemClock } from "#base/clock.ts";
import { silentLog } from "#base/log.ts";
import { openStore } from "#store/open.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const WRITER = join(import.meta.dirname, "../fixtures/store-writer.ts");
const APPENDS = 500;
const DEADLINE_MS = 120_000;

interface Writer {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
  /** How many numbers it has acknowledged in all. */
  acknowledged(): number;
  errors(): string;
}

function startWriter(
  t: TestContext,
  path: string,
  mode: string,
  name: string,
  from: number,
): Writer {
  const child = spawn(process.execPath, [WRITER, path, mode, name, String(from), String(APPENDS)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  const exited = once(child, "close");
  let out = "";
  let errors = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => void (out += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => void (errors += text));
  // A line that the kill cut short was not acknowledged.
  const acknowledged = (): number => from + out.split("\n").length - 1;
  return { child, exited, acknowledged, errors: () => errors };
}

for (const mode of ["wal", "delete"] as const) {
  test(`4 processes × ${APPENDS} appends, one killed and replaced, journal mode ${mode}`, async (t) => {
    const home = tempDir(t, "writers");
    const path = join(home, "state.db");
    const options = { path, backupsDir: home, clock: systemClock, log: silentLog };
    const store = await openStore({ ...options, journalMode: mode });
    t.after(() => store.close());
    await store.createSession({ id: "shared", source: "cli", startedAt: 0 });

    const names = ["a", "b", "c", "d"] as const;
    const writers = names.map((name) => startWriter(t, path, mode, name, 0));
    const [victim, ...others] = writers;
    assert.ok(victim);
    await until("the victim is in the middle", () => victim.acknowledged() >= 100, DEADLINE_MS);
    victim.child.kill("SIGKILL");
    await victim.exited;
    const reached = victim.acknowledged();
    assert.ok(reached < APPENDS, "the victim was done before it could be killed");
    const replacement = startWriter(t, path, mode, "a", reached);
    const survivors = [...others, replacement];
    await Promise.all(survivors.map((writer) => writer.exited));

    for (const writer of survivors) {
      assert.equal(writer.errors(), "");
      assert.equal(writer.child.exitCode, 0);
      assert.equal(writer.acknowledged(), APPENDS);
    }
    const { messages, total } = await store.readMessages("shared", { limit: 9999, order: "asc" });
    assert.equal(total, names.length * APPENDS);
    const keys = new Set(messages.map((row) => row.clientKey));
    assert.equal(keys.size, names.length * APPENDS);
    assert.equal((await store.getSession("shared"))?.messageCount, names.length * APPENDS);
    assert.deepEqual(await store.check(), []);
    assert.equal((await store.search("writer message", { limit: 5 })).hits.length, 1);
  });
}
