import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { HermesError, type Problem } from "#base/errors.ts";
import { SWITCH_CASES } from "../../test/kit/switch-cases.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { configDefaults } from "./defaults.ts";
import type { ProcessEnv } from "./effective-env.ts";
import type { ConfigFlags } from "./flags.ts";
import { loadConfig } from "./load.ts";
import type { LoadedConfig } from "./loaded.ts";

interface Given {
  readonly config?: string;
  readonly env?: string;
  readonly processEnv?: ProcessEnv;
  readonly flags?: ConfigFlags;
  readonly profile?: string;
  readonly lastGood?: string;
}

function makeHome(t: TestContext, given: Given): string {
  const root = tempDir(t);
  const home = given.profile === undefined ? root : join(root, "profiles", given.profile);
  mkdirSync(join(home, "cache"), { recursive: true });
  if (given.config !== undefined) writeFileSync(join(home, "config.yaml"), given.config);
  if (given.env !== undefined) writeFileSync(join(home, ".env"), given.env);
  if (given.lastGood !== undefined) {
    writeFileSync(join(home, "cache", "config.last-good.yaml"), given.lastGood);
  }
  return home;
}

function loadFrom(home: string, given: Given): LoadedConfig {
  const { processEnv = {}, flags } = given;
  return loadConfig({ home, processEnv, ...(flags ? { flags } : {}) });
}

const load = (t: TestContext, given: Given): LoadedConfig => loadFrom(makeHome(t, given), given);

function refusalOf(t: TestContext, given: Given): HermesError {
  try {
    load(t, given);
  } catch (error) {
    assert.ok(error instanceof HermesError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: `not refused: ${JSON.stringify(given)}` });
}

const codes = (problems: readonly Problem[]): string[] =>
  problems.map((problem) => `${problem.level} ${problem.code} ${problem.setting}`);

test("missing: defaults, no message, nothing written", (t) => {
  const home = makeHome(t, {});
  const loaded = loadFrom(home, {});
  assert.deepEqual(loaded.config, configDefaults());
  assert.deepEqual(loaded.problems, []);
  assert.deepEqual(loaded.file, { state: "missing" });
  assert.deepEqual([loaded.version, loaded.latestVersion], [100, 100]);
  assert.equal(existsSync(join(home, "cache", "config.last-good.yaml")), false);
});

test("a directory instead of the file is unreadable, not missing", (t) => {
  const home = makeHome(t, {});
  mkdirSync(join(home, "config.yaml"));
  assert.throws(
    () => loadFrom(home, {}),
    (error) => {
      assert.ok(error instanceof HermesError);
      assert.deepEqual([error.code, error.exit], ["CONFIG_REFUSED", 78]);
      assert.match(error.message, /config\.yaml cannot be read: EISDIR.*uid/);
      return true;
    },
  );
});

const BROKEN: readonly (readonly [text: string, line: number | null, message: RegExp])[] = [
  ["agent:\n  max_turns: 5\n bad", 3, /./],
  ["{", 1, /flow map/i],
  ["a: 1\nb: 2\na: 3\n", 3, /twice/],
  ["a: &a {b: *a}\n", 1, /alias/],
  ["a: 1\nb: &b [{c: &c [*b]}]\n", 2, /alias/],
  ["- a\n- b\n", 1, /mapping/],
  ["just text", 1, /mapping/],
  ["a: 1\n---\nb: 2\n", 2, /one document/],
  ["a: 1\nb: *nowhere\n", 2, /alias/i],
];

test("malformed without a good copy: 78 with line and column, the file untouched", (t) => {
  for (const [config, line, message] of BROKEN) {
    const home = makeHome(t, { config });
    assert.throws(
      () => loadFrom(home, {}),
      (error) => {
        assert.ok(error instanceof HermesError);
        assert.deepEqual([error.code, error.exit], ["CONFIG_REFUSED", 78]);
        assert.match(error.message, new RegExp(`is broken at line ${line}, column \\d+: `), config);
        assert.match(error.message, message, config);
        return true;
      },
    );
    assert.equal(readFileSync(join(home, "config.yaml"), "utf8"), config);
  }
});

test("malformed with a good copy: the copy counts, one warning, both files untouched", (t) => {
  for (const [config, line] of BROKEN) {
    const lastGood = "agent: {max_turns: 7}\n";
    const home = makeHome(t, { config, lastGood });
    const loaded = loadFrom(home, {});
    assert.equal(loaded.config.agent.max_turns, 7);
    assert.deepEqual(codes(loaded.problems), [`warning CONFIG_BROKEN ${loaded.path}`]);
    assert.equal(loaded.file.state, "broken");
    assert.equal(loaded.file.state === "broken" && loaded.file.line, line);
    assert.equal(readFileSync(join(home, "config.yaml"), "utf8"), config);
    assert.equal(readFileSync(join(home, "cache", "config.last-good.yaml"), "utf8"), lastGood);
  }
});

test("bytes that are no UTF-8 are malformed", (t) => {
  const home = makeHome(t, { lastGood: "timezone: UTC\n" });
  writeFileSync(join(home, "config.yaml"), Buffer.from([0x61, 0x3a, 0x20, 0xff, 0x0a]));
  const loaded = loadFrom(home, {});
  assert.equal(loaded.config.timezone, "UTC");
  assert.equal(loaded.file.state, "broken");
});

/** Guarded keys: access, approvals, binds and ports, backend, dashboard login. */
const GUARDED: readonly (readonly [config: string, setting: string])[] = [
  ["terminal: {backend: docker}", "terminal.backend"],
  ["approvals: {mode: maybe}", "approvals.mode"],
  ["approvals: off", "approvals"],
  ["approvals: {deny: rm}", "approvals.deny"],
  ["platforms: {api_server: {port: 70000}}", "platforms.api_server.port"],
  ["platforms: {telegram: {enabled: flase}}", "platforms.telegram.enabled"],
  ["platforms: {api_server: {cors_origins: ['*']}}", "platforms.api_server.cors_origins"],
  ["dashboard: {allowed_hosts: ['*']}", "dashboard.allowed_hosts"],
  ["dashboard: {trusted_proxies: [0.0.0.0/0]}", "dashboard.trusted_proxies"],
  ["dashboard: {public_url: 'ftp://x'}", "dashboard.public_url"],
  ["dashboard: {session: {ttl_seconds: 59}}", "dashboard.session.ttl_seconds"],
  ["dashboard: {session: {secret: short}}", "dashboard.session.secret"],
  ["fallback_providers: [{provider: demo, model: demo}]", "fallback_providers"],
];

test("a wrong value of a guarded key refuses the start, naming key and way out, without a secret", (t) => {
  for (const [config, setting] of GUARDED) {
    const error = refusalOf(t, { config });
    assert.deepEqual([error.code, error.exit, error.setting], ["CONFIG_REFUSED", 78, setting]);
    assert.ok(error.fix, config);
    assert.doesNotMatch(error.message, /"short"/);
  }
});

test("a wrong value of another key falls to its default and is named with its line", (t) => {
  const config = [
    "agent:",
    "  max_turns: ninety",
    "  context_files: perhaps",
    "  max_parallel_tools: 33",
    "toolsets: hermes-cli",
    "timezone: Mars/Olympus",
    "display: [a]",
    "providers: {x: {api_mode: soap, base_url: 'http://x'}}",
  ].join("\n");
  const loaded = load(t, { config });
  const defaults = configDefaults();
  assert.equal(loaded.config.agent.max_turns, 90);
  assert.equal(loaded.config.agent.context_files, true);
  assert.deepEqual(loaded.config.toolsets, defaults.toolsets);
  assert.deepEqual(loaded.config.display, defaults.display);
  assert.deepEqual(loaded.config.providers, { x: { base_url: "http://x" } });
  assert.deepEqual(codes(loaded.problems), [
    "warning CONFIG_VALUE_INVALID agent.context_files",
    "warning CONFIG_VALUE_INVALID agent.max_parallel_tools",
    "warning CONFIG_VALUE_INVALID agent.max_turns",
    "warning CONFIG_VALUE_INVALID display",
    "warning CONFIG_VALUE_INVALID providers.x.api_mode",
    "warning CONFIG_VALUE_INVALID timezone",
    "warning CONFIG_VALUE_INVALID toolsets",
  ]);
  const turns = loaded.problems.find((problem) => problem.setting === "agent.max_turns");
  assert.match(turns?.message ?? "", /"ninety" is not a whole number from 1 to 10000.*line 2/);
});

test("an unknown key is kept and not mentioned", (t) => {
  const loaded = load(t, { config: "zzz: {a: [1, x]}\nagent: {future: yes}\n" });
  assert.deepEqual((loaded.config as Record<string, unknown>)["zzz"], { a: [1, "x"] });
  assert.equal((loaded.config.agent as Record<string, unknown>)["future"], "yes");
  assert.deepEqual(loaded.problems, []);
});

test("an empty key is as good as none", (t) => {
  const loaded = load(t, { config: "agent:\nmodel:\n  default:\ntoolsets: ~\n" });
  assert.deepEqual(loaded.config, configDefaults());
  assert.deepEqual(loaded.problems, []);
});

test("the last good copy is written 0600 after a valid load, and only then", (t) => {
  const home = makeHome(t, { config: "timezone: UTC\n" });
  const copy = join(home, "cache", "config.last-good.yaml");
  loadFrom(home, {});
  assert.equal(readFileSync(copy, "utf8"), "timezone: UTC\n");
  const before = statSync(copy);
  assert.equal(before.mode & 0o777, 0o600);
  loadFrom(home, {});
  assert.equal(statSync(copy).ino, before.ino, "the same text is not written again");
  writeFileSync(join(home, "config.yaml"), "terminal: {backend: docker}\n");
  assert.throws(() => loadFrom(home, {}));
  assert.equal(readFileSync(copy, "utf8"), "timezone: UTC\n", "a refused load is not good");
});

test("a boolean takes the words of D9 and no others", (t) => {
  for (const { text, state } of SWITCH_CASES) {
    if (text === undefined) continue;
    const loaded = load(t, { config: `security: {redact_secrets: ${JSON.stringify(text)}}` });
    const isWrong = loaded.problems.length > 0;
    assert.equal(isWrong, state === "unclear", text);
    assert.equal(loaded.config.security.redact_secrets, isWrong ? true : state === "on", text);
  }
  const loaded = load(t, {
    config: "security: {redact_secrets: off}\nmemory: {memory_enabled: 0}",
  });
  assert.equal(loaded.config.security.redact_secrets, false);
  assert.equal(loaded.config.memory.memory_enabled, false);
});

test("a switch of the environment: unclear words are off with a warning naming the variable", (t) => {
  for (const { text, state } of SWITCH_CASES) {
    const processEnv = { HERMES_DASHBOARD_TUI: text, HERMES_LOG_NO_TEE: text };
    const loaded = load(t, { processEnv });
    const isUnset = text === undefined || text === "";
    assert.equal(loaded.config.dashboard.pty, isUnset || state === "on", String(text));
    const expected = ["HERMES_DASHBOARD_TUI", "HERMES_LOG_NO_TEE"].map(
      (name) => `warning SWITCH_UNCLEAR ${name}`,
    );
    assert.deepEqual(codes(loaded.problems), state === "unclear" ? expected : [], String(text));
  }
});

test("an explicit false beats what would switch a platform on", (t) => {
  const enabled = (given: Given): unknown => load(t, given).config.platforms.api_server.enabled;
  assert.equal(enabled({}), "auto");
  assert.equal(enabled({ config: "platforms: {api_server: {enabled: false}}" }), false);
  assert.equal(enabled({ processEnv: { API_SERVER_ENABLED: "false" } }), false);
  assert.equal(enabled({ processEnv: { API_SERVER_ENABLED: "Yes" } }), true);
  const given = {
    config: "platforms: {api_server: {enabled: true}}",
    env: "API_SERVER_ENABLED=0\n",
  };
  assert.equal(enabled(given), false);
});

test("references are replaced from the effective environment; an unset one stays, with one warning", (t) => {
  const config = [
    "model: {default: '${MODEL}', base_url: 'http://${env:HOST}:1/${MODEL}'}",
    "platforms: {api_server: {port: '${PORT}', cors_origins: '${ORIGINS}'}}",
    "agent: {context_files: '${SWITCH}'}",
    "display: {skin: '${NOPE}-${NOPE}'}",
    "free: {deep: ['${HOST}']}",
  ].join("\n");
  const env =
    "MODEL=m1\nHOST=from-file\nPORT=9000\nSWITCH=no\nORIGINS=https://a.test, https://b.test\n";
  const loaded = load(t, { config, env, processEnv: { HOST: "from-process" } });
  assert.equal(loaded.config.model.default, "m1");
  assert.equal(loaded.config.model.base_url, "http://from-process:1/m1");
  assert.equal(loaded.config.platforms.api_server.port, 9000);
  assert.deepEqual(loaded.config.platforms.api_server.cors_origins, [
    "https://a.test",
    "https://b.test",
  ]);
  assert.equal(loaded.config.agent.context_files, false);
  assert.equal(loaded.config.display.skin, "${NOPE}-${NOPE}");
  assert.deepEqual((loaded.config as Record<string, unknown>)["free"], { deep: ["from-process"] });
  assert.deepEqual(codes(loaded.problems), ["warning REFERENCE_UNSET NOPE"]);
});

test("flag beats variable beats file beats default, each step seen", (t) => {
  const config =
    "model: {default: file, provider: file}\nagent: {max_turns: 4}\ndisplay: {interface: tui}";
  const processEnv = {
    HERMES_INFERENCE_MODEL: "variable",
    HERMES_MAX_ITERATIONS: " 3 ",
    HERMES_TUI: "0",
  };
  const flags: ConfigFlags = { model: "flag", maxTurns: 2, interface: "tui" };
  const seen = (given: Given): unknown[] => {
    const { model, agent, display } = load(t, given).config;
    return [model.default, agent.max_turns, display.interface];
  };
  assert.deepEqual(seen({}), ["", 90, "cli"]);
  assert.deepEqual(seen({ config }), ["file", 4, "tui"]);
  assert.deepEqual(seen({ config, env: "HERMES_INFERENCE_MODEL=dotenv" }), ["dotenv", 4, "tui"]);
  assert.deepEqual(seen({ config, processEnv }), ["variable", 3, "cli"]);
  assert.deepEqual(seen({ config, processEnv, flags }), ["flag", 2, "tui"]);
  assert.deepEqual(seen({ config, processEnv: { HERMES_INFERENCE_MODEL: "" } }), [
    "file",
    4,
    "tui",
  ]);
});

test("an unusable variable leaves the next in line; a guarded one refuses", (t) => {
  const loaded = load(t, {
    config: "agent: {max_turns: 4}",
    processEnv: { HERMES_MAX_ITERATIONS: "many" },
  });
  assert.equal(loaded.config.agent.max_turns, 4);
  assert.deepEqual(codes(loaded.problems), ["warning ENV_VALUE_INVALID HERMES_MAX_ITERATIONS"]);
  const error = refusalOf(t, { processEnv: { API_SERVER_PORT: "tcp://10.0.0.1:80" } });
  assert.deepEqual([error.exit, error.setting], [78, "API_SERVER_PORT"]);
});

test("a wrong flag is a usage error; with another error it is part of the refusal", (t) => {
  const wrong = refusalOf(t, { flags: { reasoning: "extreme" } });
  assert.deepEqual([wrong.code, wrong.exit, wrong.setting], ["FLAG_REFUSED", 64, "--reasoning"]);
  const both = refusalOf(t, { flags: { maxTurns: 0 }, config: "terminal: {backend: docker}" });
  assert.deepEqual([both.code, both.exit], ["CONFIG_REFUSED", 78]);
});

test("--yolo and HERMES_YOLO_MODE allow, from the process only", (t) => {
  const mode = (given: Given): unknown => load(t, given).config.approvals.mode;
  assert.equal(mode({ flags: { yolo: true } }), "off");
  assert.equal(mode({ processEnv: { HERMES_YOLO_MODE: "1" } }), "off");
  assert.equal(mode({ processEnv: { HERMES_YOLO_MODE: "0" } }), "manual");
  assert.equal(mode({ env: "HERMES_YOLO_MODE=1\n" }), "manual");
});

test("safe mode: defaults, but credentials and guarded settings still count", (t) => {
  const config = [
    "model: {default: m, base_url: 'http://127.0.0.1:1/v1'}",
    "approvals: {deny: ['rm *']}",
    "agent: {max_turns: 5}",
    "mcp_servers: {x: {command: y}}",
    "unknown: 1",
  ].join("\n");
  const { config: safe } = load(t, { config, flags: { safeMode: true } });
  assert.equal(safe.model.default, "m");
  assert.deepEqual(safe.approvals.deny, ["rm *"]);
  assert.deepEqual(safe.mcp_servers, {});
  assert.equal("unknown" in safe, false);
  assert.deepEqual(
    [safe.agent.max_turns, safe.agent.context_files, safe.memory.memory_enabled],
    [90, false, false],
  );
});

test("all problems come together, sorted, errors first", (t) => {
  const given = {
    config: "terminal: {backend: docker}\nagent: {max_turns: x}\napprovals: {mode: maybe}",
    env: "junk\n",
    processEnv: { HERMES_DASHBOARD_COLOUR: "red" },
  };
  const error = refusalOf(t, given);
  assert.match(
    error.message,
    /^2 settings cannot be honoured:\n- approvals\.mode: .*\n- terminal\.backend: /,
  );
  assert.deepEqual(
    error.problems.map((problem) => `${problem.level} ${problem.code}`),
    [
      "error CONFIG_VALUE_INVALID",
      "error CONFIG_VALUE_INVALID",
      "warning ENV_LINE_BAD",
      "warning ENV_NOT_USED",
      "warning CONFIG_VALUE_INVALID",
    ],
  );
});

test("ids keep their digits", (t) => {
  const config =
    "platforms: {telegram: {allowed_users: [123456789012345678, +49170, x], home_channel: -1001234567890123456}}";
  const { telegram } = load(t, { config }).config.platforms;
  assert.deepEqual(telegram.allowed_users, ["123456789012345678", "+49170", "x"]);
  assert.equal(telegram.home_channel, "-1001234567890123456");
});

test("what is loaded is frozen to the last leaf", (t) => {
  const loaded = load(t, { config: "providers: {x: {models: {m: {context_length: 5}}}}" });
  const frozen = (value: unknown): boolean =>
    typeof value !== "object" ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(frozen));
  assert.ok(frozen(loaded.config));
  assert.ok(Object.isFrozen(loaded));
});
