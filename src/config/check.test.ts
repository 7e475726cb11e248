import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { checkConfig, nearestKeys, type ConfigCheck } from "./check.ts";

function check(t: TestContext, config?: string): ConfigCheck {
  const home = tempDir(t);
  if (config !== undefined) writeFileSync(join(home, "config.yaml"), config);
  const result = checkConfig({ home, processEnv: { SET: "1" } });
  assert.equal(result.path, join(home, "config.yaml"));
  if (config !== undefined) assert.equal(readFileSync(result.path, "utf8"), config);
  return result;
}

test("states: ok, missing, broken with its place, unreadable", (t) => {
  assert.equal(check(t, "").state, "ok");
  assert.equal(check(t).state, "missing");
  const broken = check(t, "a: 1\na: 2\n");
  assert.deepEqual([broken.state, broken.error?.line, broken.error?.column], ["broken", 2, 1]);
  const home = tempDir(t);
  mkdirSync(join(home, "config.yaml"));
  const unreadable = checkConfig({ home, processEnv: {} });
  assert.equal(unreadable.state, "unreadable");
  assert.match(unreadable.error?.message ?? "", /EISDIR/);
});

test("unknown keys with the nearest known ones, at any depth; names of a map are not unknown", (t) => {
  const config = [
    "agent:",
    "  max_turn: 5",
    "modle: x",
    "providers:",
    "  mine:",
    "    base_urll: x",
    "max_turns: 5",
    "platforms: {telegram: {extra: {anything: 1}}}",
  ].join("\n");
  const { unknown } = check(t, config);
  assert.deepEqual(
    unknown.map(({ key, line, column }) => [key, line, column]),
    [
      ["agent.max_turn", 2, 13],
      ["modle", 3, 8],
      ["providers.mine.base_urll", 6, 16],
      ["max_turns", 7, 12],
    ],
  );
  const nearest = Object.fromEntries(unknown.map((entry) => [entry.key, entry.nearest]));
  assert.equal(nearest["agent.max_turn"]?.[0], "agent.max_turns");
  assert.equal(nearest["modle"]?.[0], "model");
  assert.ok(nearest["max_turns"]?.includes("agent.max_turns"));
  assert.deepEqual(nearestKeys("zzzzzzzzzzzz"), []);
});

test("invalid values with level and place", (t) => {
  const { invalid } = check(t, "agent:\n  max_turns: many\napprovals:\n  mode: maybe\n");
  assert.deepEqual(
    invalid.map(({ key, level, line, column }) => [key, level, line, column]),
    [
      ["agent.max_turns", "warning", 2, 14],
      ["approvals.mode", "error", 4, 9],
    ],
  );
});

test("old spellings and unread keys are listed, not unknown", (t) => {
  const config = [
    "model: openai:gpt-x",
    "gateway: {platforms: {slack: {enabled: false}}}",
    "telegram: {token: secret-token, require_mention: maybe}",
    "DISCORD_HOME_CHANNEL: 5",
    "approvals: {mode: yolo}",
    "providers: {x: {api_key: secret-key}}",
    "tts: {provider: x}",
    "skills: {external_dirs: [a]}",
  ].join("\n");
  const { legacy, unknown, invalid } = check(t, config);
  assert.deepEqual(unknown, []);
  assert.deepEqual(legacy.map(({ key, means, line }) => `${line} ${key} = ${means}`).sort(), [
    "1 model = model.default",
    "2 gateway.platforms = platforms",

    "3 telegram = platforms.telegram",
    "3 telegram.token = platforms.telegram.token",
    "4 DISCORD_HOME_CHANNEL = platforms.discord.home_channel",
    "5 approvals.mode = approvals.mode",
    "6 providers.x.api_key = providers.x.api_key",
    "7 tts = null",
    "8 skills.external_dirs = null",
  ]);
  assert.deepEqual(
    invalid.map(({ key, line }) => [key, line]),
    [["platforms.telegram.require_mention", 3]],
  );
  assert.doesNotMatch(JSON.stringify({ legacy, invalid }), /secret-(token|key)/);
});
