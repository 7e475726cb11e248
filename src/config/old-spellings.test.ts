import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { loadConfig } from "./load.ts";
import type { LoadedConfig } from "./loaded.ts";

function load(t: TestContext, config: string): LoadedConfig {
  const home = tempDir(t);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.yaml"), config);
  return loadConfig({ home, processEnv: {} });
}

test("each old spelling is read as today's", (t) => {
  assert.equal(load(t, "model: openai:x").config.model.default, "openai:x");
  const { platforms } = load(
    t,
    "gateway: {platforms: {telegram: {allowed_users: [a]}}, max_concurrent_turns: 3}\n" +
      "telegram: {require_mention: false}\ndiscord: {enabled: false}\nSLACK_HOME_CHANNEL: C1\n",
  ).config;
  assert.deepEqual(platforms.telegram.allowed_users, ["a"]);
  assert.equal(platforms.telegram.require_mention, false);
  assert.equal(platforms.discord.enabled, false);
  assert.equal(platforms.slack.home_channel, "C1");
  for (const [word, mode] of [
    ["ask", "manual"],
    ["yolo", "off"],
    ["smart", "manual"],
  ] as const) {
    assert.equal(load(t, `approvals: {mode: ${word}}`).config.approvals.mode, mode);
  }
});

test("where both spellings stand, today's wins key by key", (t) => {
  const loaded = load(
    t,
    "telegram: {home_channel: old, toolset: old}\nplatforms: {telegram: {home_channel: new}}\n",
  );
  assert.equal(loaded.config.platforms.telegram.home_channel, "new");
  assert.equal(loaded.config.platforms.telegram.toolset, "old");
});

test("secrets in YAML work, warn, and are hidden", (t) => {
  const loaded = load(
    t,
    "model: {api_key: sk-in-the-model}\nproviders: {x: {api_key: sk-in-provider}}\n" +
      "platforms: {telegram: {token: 123:in-platform}}\n" +
      "mcp_servers: {m: {headers: {Authorization: Bearer abc}, env: {A_TOKEN: tok-12345, PATHS: /usr/local/bin}}}\n",
  );
  assert.equal(loaded.config.model.api_key, "sk-in-the-model");
  assert.deepEqual(
    loaded.problems.map(({ code, level, setting }) => `${level} ${code} ${setting}`),
    [
      "warning SECRET_IN_YAML model.api_key",
      "warning SECRET_IN_YAML platforms.telegram.token",
      "warning SECRET_IN_YAML providers.x.api_key",
    ],
  );
  assert.deepEqual([...loaded.env.secrets().values()].sort(), [
    "123:in-platform",
    "Bearer abc",
    "sk-in-provider",
    "sk-in-the-model",
    "tok-12345",
  ]);
});
