import assert from "node:assert/strict";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import { FakeLock } from "../../test/kit/fake-lock.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import type { WriteTarget } from "./home-writer.ts";
import { migrateConfig } from "./migrate.ts";

function target(t: TestContext, config?: string, env?: string): WriteTarget {
  const home = tempDir(t);
  if (config !== undefined) writeFileSync(join(home, "config.yaml"), config);
  if (env !== undefined) writeFileSync(join(home, ".env"), env);
  return { home, lock: new FakeLock(), clock: new FakeClock(Date.UTC(2026, 1, 3, 4, 5, 6, 789)) };
}

const OLD = "# mine\n_config_version: 12 # old\nmodel: x\nfuture: {a: 1}\n";

test("a file of the Python version gets the new number and nothing else; both files are copied first", async (t) => {
  const at = target(t, OLD, "SECRET=1\n");
  const envBefore = statSync(join(at.home, ".env"));
  const result = await migrateConfig(at, false);
  const backups = ["config.yaml", ".env"].map((name) =>
    join(at.home, `${name}.bak-20260203T040506Z`),
  );
  assert.deepEqual(result, { outcome: "migrated", from: 12, to: 100, backups });
  assert.equal(readFileSync(join(at.home, "config.yaml"), "utf8"), OLD.replace("12", "100"));
  assert.deepEqual(
    backups.map((path) => readFileSync(path, "utf8")),
    [OLD, "SECRET=1\n"],
  );
  assert.deepEqual(
    backups.map((path) => statSync(path).mode & 0o777),
    [0o600, 0o600],
  );
  const envAfter = statSync(join(at.home, ".env"));
  assert.deepEqual([envAfter.ino, envAfter.mtimeMs], [envBefore.ino, envBefore.mtimeMs]);
  assert.deepEqual(await migrateConfig(at, false), { outcome: "current", version: 100 });
});

test("a second copy within the second does not replace the first", async (t) => {
  const at = target(t, OLD);
  await migrateConfig(at, false);
  writeFileSync(join(at.home, "config.yaml"), "_config_version: 13\n");
  const result = await migrateConfig(at, false);
  assert.equal(result.outcome, "migrated");
  const copies = readdirSync(at.home).filter((name) => name.includes(".bak-"));
  assert.deepEqual(copies.sort(), [
    "config.yaml.bak-20260203T040506Z",
    "config.yaml.bak-20260203T040506Z.1",
  ]);
  assert.equal(readFileSync(join(at.home, copies[0] ?? ""), "utf8"), OLD);
});

test("a dry run tells the text and writes nothing", async (t) => {
  const at = target(t, OLD);
  const plan = await migrateConfig(at, true);
  assert.deepEqual(plan, { outcome: "planned", from: 12, to: 100, text: OLD.replace("12", "100") });
  assert.deepEqual(readdirSync(at.home), ["config.yaml"]);
});

test("nothing to do: no file, this version, a later one, no number", async (t) => {
  assert.deepEqual(await migrateConfig(target(t), false), { outcome: "current", version: 100 });
  for (const [config, version] of [
    ["_config_version: 100\n", 100],
    ["_config_version: 250\n", 250],
    ["model: x\n", 100],
    ["", 100],
  ] as const) {
    const at = target(t, config);
    assert.deepEqual(await migrateConfig(at, false), { outcome: "current", version });
    assert.deepEqual(readdirSync(at.home), ["config.yaml"]);
  }
});

test("a broken file is left alone", async (t) => {
  const at = target(t, "_config_version: 12\na: [\n");
  const result = await migrateConfig(at, false);
  assert.equal(result.outcome, "failed");
  assert.deepEqual(readdirSync(at.home), ["config.yaml"]);
});

test("a step that fails leaves the old file", async (t) => {
  const at = target(t, OLD);
  // A copy cannot be made: every name it may take is a directory already.
  const name = join(at.home, "config.yaml");
  const lock = new FakeLock();
  lock.hold(join(at.home, "cache", "config.lock"), "gateway");
  const clock = at.clock as FakeClock;
  const running = migrateConfig({ ...at, lock }, false);
  await clock.advance(6000);
  const result = await running;
  assert.equal(result.outcome, "failed");
  assert.equal(readFileSync(name, "utf8"), OLD);
  assert.equal(existsSync(`${name}.bak-20260203T040506Z`), false);
  chmodSync(name, 0o640);
});
