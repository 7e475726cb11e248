import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { configChanges, isGuardedChange, maskSecrets } from "./changes.ts";
import { loadConfig } from "./load.ts";

const TEXT = `
model: {default: a, api_key: sk-123456789}
providers:
  x: {base_url: "http://h", api_key: sk-x-secret, extra_headers: {Authorization: Bearer t}}
  y: {base_url: "http://y"}
dashboard: {basic_auth: {username: me, password: hunter2hunter2}}
mcp_servers: {m: {command: c, env: {TOKEN: t0ken}}}
`;

test("secrets are masked; masked, unchanged and missing keys are no change", (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, "config.yaml"), TEXT);
  const { config } = loadConfig({ home, processEnv: {} });
  const masked = maskSecrets(config);
  assert.doesNotMatch(JSON.stringify(masked), /sk-|hunter2|Bearer|t0ken/);
  assert.equal(JSON.stringify(masked).match(/__set__/g)?.length, 5);
  assert.deepEqual(configChanges(config, masked), []);
  assert.deepEqual(configChanges(config, {}), []);
  const next = structuredClone(masked) as Record<string, Record<string, unknown>>;
  Object.assign(next["model"] ?? {}, { default: "b" });
  Object.assign(next["agent"] ?? {}, { disabled_toolsets: ["web"], future: 1 });
  next["providers"] = { x: { base_url: "http://h", api_key: "__set__" } };
  assert.deepEqual(configChanges(config, next), [
    { path: ["model", "default"], value: "b" },
    { path: ["providers", "x", "extra_headers"], value: undefined },
    { path: ["providers", "y"], value: undefined },
    { path: ["agent", "disabled_toolsets"], value: ["web"] },
    { path: ["agent", "future"], value: 1 },
  ]);
});

test("a change is guarded when its setting is, or stands in a guarded section", () => {
  const guarded = (key: string): boolean => isGuardedChange({ path: key.split("."), value: 1 });
  for (const key of ["approvals.mode", "dashboard.unknown", "platforms.telegram.allowed_users"]) {
    assert.equal(guarded(key), true, key);
  }
  for (const key of ["agent.max_turns", "providers.x.base_url", "unknown", "dashboard.theme"]) {
    assert.equal(guarded(key), false, key);
  }
});
