import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createRedactor } from "#tools/redact.ts";
import type { ProcessLock } from "#base/process-lock.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { openLogFiles, type LogOptions } from "./log-files.ts";

const free: ProcessLock = {
  take: () => ({ held: true, lock: { release: () => undefined } }),
  isHeld: () => false,
};
const taken: ProcessLock = { take: () => ({ held: false, holder: null }), isHeld: () => true };

function options(home: string, change: Partial<LogOptions> = {}): LogOptions {
  return {
    home,
    profile: "default",
    component: "cli",
    file: "agent",
    settings: { level: "INFO", max_size_mb: 1, backup_count: 2 },
    redactor: createRedactor(new Map([["A_KEY", "hunter2-hunter2"]]), true),
    lock: free,
    ...change,
  };
}

function records(home: string, name: string): Record<string, unknown>[] {
  const text = readFileSync(join(home, "logs", name), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

for (const file of ["agent", "gui"] as const) {
  test(`${file}.log: JSON lines without secrets; warnings go to errors.log too; mode 0640`, async (t) => {
    const home = tempDir(t);
    const files = await openLogFiles(options(home, { file }));
    files.log.debug("not at this level");
    files.log.info("key hunter2-hunter2", { session: "s1", nested: { key: "hunter2-hunter2" } });
    files.component("store").warn("careful", { error: new Error("hunter2-hunter2 failed") });
    await files.close();
    const [first, second, ...more] = records(home, `${file}.log`);
    assert.equal(more.length, 0);
    assert.deepEqual(
      [first?.["level"], first?.["component"], first?.["profile"], first?.["session"]],
      ["info", "cli", "default", "s1"],
    );
    assert.ok(!Number.isNaN(Date.parse(String(first?.["time"]))) && first?.["pid"] === process.pid);
    assert.equal(second?.["component"], "store");
    assert.deepEqual(
      records(home, "errors.log").map((record) => record["msg"]),
      ["careful"],
    );
    for (const name of readdirSync(join(home, "logs"))) {
      const path = join(home, "logs", name);
      assert.ok(!readFileSync(path, "utf8").includes("hunter2"), name);
      assert.equal(statSync(path).mode & 0o777, 0o640);
    }
  });
}

test("a shared file is rotated on opening, and left alone while somebody else rotates", async (t) => {
  const home = tempDir(t);
  mkdirSync(join(home, "logs"));
  const full = "x".repeat(1024 * 1024 + 1);
  writeFileSync(join(home, "logs", "agent.log"), full);
  writeFileSync(join(home, "logs", "agent.log.1"), "one");
  writeFileSync(join(home, "logs", "agent.log.2"), "two");
  const names = (): string[] =>
    readdirSync(join(home, "logs"))
      .filter((name) => name.startsWith("agent"))
      .sort();
  await (await openLogFiles(options(home, { lock: taken }))).close();
  assert.equal(readFileSync(join(home, "logs", "agent.log"), "utf8").length, full.length);
  const files = await openLogFiles(options(home));
  files.log.info("fresh");
  await files.close();
  assert.deepEqual(names(), ["agent.log", "agent.log.1", "agent.log.2"]);
  assert.equal(readFileSync(join(home, "logs", "agent.log.2"), "utf8"), "one");
  assert.equal(statSync(join(home, "logs", "agent.log.1")).size, full.length);
  assert.deepEqual(
    records(home, "agent.log").map((record) => record["msg"]),
    ["fresh"],
  );
});

test("where logs/ cannot be, there is no log and no failure", async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, "logs"), "a file");
  const files = await openLogFiles(options(home));
  files.log.error("nowhere");
  await files.close();
});
