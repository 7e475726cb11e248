// Two processes that change the same settings lose nothing: config.lock is a real lock (agent.md §2.4, §7.2).
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { parseConfigText } from "#config/document.ts";
import { parseEnv } from "#config/env-file.ts";
import { tempDir } from "../kit/temp-dir.ts";

const COUNT = 10;

const SCRIPT = `
  import { systemClock } from "#base/clock.ts";
  import { setEnvValue } from "#config/env-write.ts";
  import { setConfigValue } from "#config/write.ts";
  import { createProcessLock } from "#store/process-lock.ts";
  const [, home, name] = process.argv;
  const target = { home, lock: createProcessLock(), clock: systemClock, processEnv: {} };
  for (let index = 0; index < ${COUNT}; index++) {
    await setConfigValue(target, "writers." + name + ".k" + index, String(index));
    await setEnvValue(target, "W_" + name.toUpperCase() + "_" + index, String(index));
  }
`;

test("two processes, ten changes each, of both files: all of them are there", async (t) => {
  const home = tempDir(t);
  const names = ["a", "b"];
  const ends = names.map(async (name) => {
    const args = ["--no-warnings", "--input-type=module", "-e", SCRIPT, home, name];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
    const [errors, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    assert.equal(code, 0, errors);
  });
  await Promise.all(ends);
  const parsed = parseConfigText(readFileSync(join(home, "config.yaml"), "utf8"));
  assert.ok(parsed.ok);
  const writers = parsed.document.raw["writers"] as Record<string, Record<string, unknown>>;
  const env = parseEnv(readFileSync(join(home, ".env"), "utf8"));
  for (const name of names) {
    assert.equal(Object.keys(writers[name] ?? {}).length, COUNT, name);
    const own = [...env.keys()].filter((key) => key.startsWith(`W_${name.toUpperCase()}_`));
    assert.equal(own.length, COUNT, name);
  }
});
