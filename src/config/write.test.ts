import assert from "node:assert/strict";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { HermesError } from "#base/errors.ts";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import { FakeLock } from "../../test/kit/fake-lock.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { setEnvValue, unsetEnvValue } from "./env-write.ts";
import { loadConfig } from "./load.ts";
import {
  applyConfigChanges,
  replaceConfigText,
  setConfigValue,
  unsetConfigValue,
  type ConfigTarget,
} from "./write.ts";

function target(t: TestContext, config?: string, processEnv = {}): ConfigTarget & { path: string } {
  const home = tempDir(t);
  const path = join(home, "config.yaml");
  if (config !== undefined) writeFileSync(path, config, { mode: 0o640 });
  return { home, path, lock: new FakeLock(), clock: new FakeClock(), processEnv };
}

const read = (at: { path: string }): string => readFileSync(at.path, "utf8");

async function codeOf(promise: Promise<unknown>): Promise<HermesError> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof HermesError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: "not refused" });
}

test("a new file is 0640 and says its version", async (t) => {
  const at = target(t);
  assert.equal(await setConfigValue(at, "model.default", "openai:gpt-x"), true);
  assert.equal(statSync(at.path).mode & 0o777, 0o640);
  assert.match(read(at), /^# .*\n_config_version: 100\nmodel:\n {2}default: openai:gpt-x\n$/);
  assert.equal(loadConfig({ home: at.home, processEnv: {} }).config.model.default, "openai:gpt-x");
});

test("a value is YAML, or text on demand", async (t) => {
  const at = target(t, "a: 1\n");
  await setConfigValue(at, "cron.enabled", "false");
  await setConfigValue(at, "toolsets", "[a, b]");
  await setConfigValue(at, "x.number", "5");
  await setConfigValue(at, "x.text", "5", true);
  await setConfigValue(at, "x.empty", "");
  await setConfigValue(at, "x.id", "123456789012345678");
  const lines = ["a: 1", "cron:", "  enabled: false", 'toolsets: ["a","b"]', "x:", "  number: 5"];
  lines.push('  text: "5"', '  empty: ""', '  id: "123456789012345678"', "");
  assert.equal(read(at), lines.join("\n"));
  const error = await codeOf(setConfigValue(at, "x.bad", "[a"));
  assert.deepEqual([error.code, error.exit, error.setting], ["VALUE_INVALID", 64, "x.bad"]);
});

test("a literal dot, an existing literal key, removal", async (t) => {
  const at = target(t, "model:\n  aliases:\n    gpt-4.1: openai:gpt-4.1\n");
  await setConfigValue(at, "model.aliases.gpt-4.1", "openai:other");
  await setConfigValue(at, "model.aliases.o\\.3", "openai:o3");
  assert.equal(read(at), "model:\n  aliases:\n    gpt-4.1: openai:other\n    o.3: openai:o3\n");
  assert.equal(await unsetConfigValue(at, "model.aliases.gpt-4.1"), true);
  assert.equal(await unsetConfigValue(at, "model.aliases.gpt-4.1"), false);
  assert.equal(read(at), "model:\n  aliases:\n    o.3: openai:o3\n");
});

test("a value that the key does not take is refused and nothing is written", async (t) => {
  const config = "agent: {max_turns: 5}\n";
  for (const [key, value] of [
    ["agent.max_turns", "many"],
    ["agent.max_turns", "0"],
    ["agent", "5"],
    ["approvals.mode", "sometimes"],
    ["terminal.backend", "docker"],
    ["fallback_providers", "[{provider: demo, model: demo}]"],
  ] as const) {
    const at = target(t, config);
    const error = await codeOf(setConfigValue(at, key, value));
    assert.deepEqual([error.code, error.exit, error.setting], ["VALUE_INVALID", 64, key]);
    assert.doesNotMatch(error.message, /default is used/);
    assert.equal(read(at), config);
  }
});

test("old mistakes do not stop a change, so that two can be put right one by one", async (t) => {
  const at = target(t, "terminal: {backend: docker}\napprovals: {mode: maybe}\n");
  await setConfigValue(at, "terminal.backend", "local");
  await setConfigValue(at, "approvals.mode", "manual");
  assert.equal(read(at), "terminal: {backend: local}\napprovals: {mode: manual}\n");
});

test("an unknown key is written", async (t) => {
  const at = target(t, "");
  await setConfigValue(at, "agent.max_turn", "5");
  assert.equal(read(at), "agent:\n  max_turn: 5\n");
});

test("a broken file is refused by every writer and stays", async (t) => {
  const config = "a: 1\na: 2\n";
  const at = target(t, config);
  const writers = [
    () => setConfigValue(at, "x", "1"),
    () => unsetConfigValue(at, "a"),
    () => replaceConfigText(at, "a: 1\n"),
    () => applyConfigChanges(at, [{ path: ["x"], value: 1 }]),
  ];
  for (const write of writers) {
    const error = await codeOf(write());
    assert.deepEqual([error.code, error.exit], ["CONFIG_BROKEN", 78]);
    assert.deepEqual(error.data, { line: 2, column: 1 });
  }
  assert.equal(read(at), config);
});

test("the whole text: checked with its line, compared with what the caller saw", async (t) => {
  const at = target(t, "a: 1\n");
  const bad = await codeOf(replaceConfigText(at, "a: 1\nb: [\n"));
  assert.deepEqual([bad.code, bad.data["line"]], ["VALUE_INVALID", 3]);
  const wrong = await codeOf(replaceConfigText(at, "a: 1\napprovals:\n  mode: x\n"));
  assert.deepEqual(
    [wrong.code, wrong.setting, wrong.data["line"]],
    ["VALUE_INVALID", "approvals.mode", 3],
  );
  const stale = await codeOf(replaceConfigText(at, "a: 3\n", { expected: "a: 0\n" }));
  assert.equal(stale.code, "CONFIG_CHANGED");
  assert.equal(
    (await codeOf(replaceConfigText(at, "a: 3\n", { expected: null }))).code,
    "CONFIG_CHANGED",
  );
  assert.equal(await replaceConfigText(at, "a: 3 # new\n", { expected: "a: 1\n" }), true);
  assert.equal(read(at), "a: 3 # new\n");
});

test("several changes are one write, or none", async (t) => {
  const at = target(t, "model: {default: a}\n# end\n");
  const good = { path: ["model", "default"], value: "b" };
  await codeOf(applyConfigChanges(at, [good, { path: ["agent", "max_turns"], value: -1 }]));
  assert.equal(read(at), "model: {default: a}\n# end\n");
  await applyConfigChanges(at, [good, { path: ["timezone"], value: "UTC" }]);
  assert.equal(read(at), "model: {default: b}\ntimezone: UTC\n# end\n");
});

test("a reference that is not touched stays one", async (t) => {
  const at = target(t, "model: {default: '${M}'}\nplatforms: {webhook: {port: '${P}'}}\n", {
    P: "9000",
  });
  await setConfigValue(at, "timezone", "UTC");
  assert.equal(
    read(at),
    "model: {default: '${M}'}\nplatforms: {webhook: {port: '${P}'}}\ntimezone: UTC\n",
  );
});

test("old spellings are kept on writing", async (t) => {
  const at = target(
    t,
    "model: old\ntelegram:\n  require_mention: true\nTELEGRAM_HOME_CHANNEL: 5\n",
  );
  await setConfigValue(at, "model.default", "new");
  await setConfigValue(at, "platforms.telegram.require_mention", "false");
  await setConfigValue(at, "platforms.telegram.home_channel", "-7");
  assert.equal(
    read(at),
    "model: new\ntelegram:\n  require_mention: false\nTELEGRAM_HOME_CHANNEL: -7\n",
  );
  await setConfigValue(at, "model.base_url", "http://h/v1");
  assert.match(read(at), /^model: \{"default":"new","base_url":"http:\/\/h\/v1"\}\n/);
  await unsetConfigValue(at, "platforms.telegram.home_channel");
  assert.doesNotMatch(read(at), /HOME_CHANNEL/);
});

test("`model TEXT` names the model and keeps the rest of the section", async (t) => {
  const at = target(t, "model:\n  default: a\n  base_url: http://h\n");
  await setConfigValue(at, "model", "b");
  assert.equal(read(at), "model:\n  default: b\n  base_url: http://h\n");
});

test("a writer waits for the lock, and gives up after 5 s naming the holder", async (t) => {
  const at = target(t, "a: 1\n");
  const [lock, clock] = [at.lock as FakeLock, at.clock as FakeClock];
  const path = join(at.home, "cache", "config.lock");
  const held = lock.hold(path, "dashboard");
  const writing = setConfigValue(at, "b", "2");
  await clock.advance(100);
  assert.equal(read(at), "a: 1\n");
  held.release();
  await clock.advance(100);
  assert.equal(await writing, true);
  assert.equal(lock.isHeld(path), false, "it is released");
  lock.hold(path, "dashboard");
  const refused = codeOf(setConfigValue(at, "b", "3"));
  await clock.advance(6000);
  const error = await refused;
  assert.equal(error.code, "CONFIG_LOCKED");
  assert.match(error.message, /dashboard, pid 4242 on elsewhere/);
  assert.equal(clock.pending, 0);
});

test("a lock is released when the change fails", async (t) => {
  const at = target(t, "{");
  await codeOf(setConfigValue(at, "a", "1"));
  assert.equal(at.lock.isHeld(join(at.home, "cache", "config.lock")), false);
});

test("an unreadable file is an error, not a new file", async (t) => {
  const at = target(t);
  mkdirSync(at.path);
  assert.match((await codeOf(setConfigValue(at, "a", "1"))).message, /EISDIR/);
});

test("a linked file is written at its target", async (t) => {
  const at = target(t);
  writeFileSync(join(at.home, "real.yaml"), "a: 1\n");
  symlinkSync("real.yaml", at.path);
  await setConfigValue(at, "a", "2");
  assert.equal(readFileSync(join(at.home, "real.yaml"), "utf8"), "a: 2\n");
});

test(".env: a new file is 0600, one line per name, other bytes stay", async (t) => {
  const at = target(t);
  const path = join(at.home, ".env");
  assert.equal(await setEnvValue(at, "OPENAI_API_KEY", "sk-abc#def"), true);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(readFileSync(path, "utf8"), "OPENAI_API_KEY=sk-abc#def\n");
  writeFileSync(path, "# mine\r\nbad line\r\nOPENAI_API_KEY = 'old' # why\r\nX=1");
  await setEnvValue(at, "OPENAI_API_KEY", "new");
  assert.equal(
    readFileSync(path, "utf8"),
    "# mine\r\nbad line\r\nOPENAI_API_KEY = new # why\r\nX=1",
  );
  assert.equal(await unsetEnvValue(at, "OPENAI_API_KEY"), true);
  assert.equal(await unsetEnvValue(at, "OPENAI_API_KEY"), false);
  assert.equal(readFileSync(path, "utf8"), "# mine\r\nbad line\r\nX=1");
  assert.equal((await codeOf(setEnvValue(at, "LD_PRELOAD", "x"))).code, "ENV_EDIT_REFUSED");
  assert.deepEqual(readdirSync(at.home).sort(), [".env", "cache"]);
});
