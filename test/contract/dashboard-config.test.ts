// Settings, keys, first run, models over HTTP (dashboard.md §11.3, §11.5; rows 44, 54, 58).
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openDashboard, type TestDashboard } from "../kit/dashboard.ts";

const COMMENTED = `# my settings
model: # chosen with care
  provider: demo
  default: demo
  base_url: ""
agent:
  max_turns: 12 # enough
providers:
  mine:
    base_url: http://127.0.0.1:9/v1
    api_key: sk-in-yaml-0123456789
foreign_setting: kept
`;

const read = ({ home }: TestDashboard, name = "config.yaml"): string =>
  readFileSync(join(home, name), "utf8");

const put = (dashboard: TestDashboard, config: object, headers: Record<string, string> = {}) =>
  dashboard.ask("/api/config", { method: "PUT", body: { config }, headers });

type Form = Record<string, unknown> & {
  agent: Record<string, unknown>;
  dashboard: Record<string, unknown>;
  providers: { mine: Record<string, unknown> };
};

async function form(dashboard: TestDashboard): Promise<{ form: Form; tag: string }> {
  const answer = await dashboard.ask("/api/config");
  assert.equal(answer.status, 200);
  return { form: answer.json<Form>(), tag: answer.headers["etag"] ?? "" };
}

test("the form: model flattened, secrets as __set__, no keys with _ in front, an ETag", async (t) => {
  const dashboard = await openDashboard(t, { config: COMMENTED });
  const { form: shown, tag } = await form(dashboard);
  assert.equal(shown["model"], "demo");
  assert.equal(shown["model_context_length"], 0);
  assert.equal(shown.agent["max_turns"], 12);
  assert.equal(shown.providers.mine["api_key"], "__set__");
  assert.equal(shown["_config_version"], undefined);
  assert.match(tag, /^"[\w-]{22}"$/);
});

test("saving the form unchanged writes nothing; one change leaves every other byte", async (t) => {
  const dashboard = await openDashboard(t, { config: COMMENTED });
  const { form: shown, tag } = await form(dashboard);
  assert.equal((await put(dashboard, shown, { "if-match": tag })).status, 200);
  assert.equal(read(dashboard), COMMENTED);
  shown.agent["max_turns"] = 13;
  const saved = await put(dashboard, shown, { "if-match": tag });
  assert.equal(saved.status, 200);
  assert.equal(read(dashboard), COMMENTED.replace("12 # enough", "13 # enough"));
  assert.equal((await form(dashboard)).form.agent["max_turns"], 13);
  assert.notEqual(saved.headers["etag"], tag);
  assert.equal(saved.headers["etag"], (await form(dashboard)).tag);
  const stale = await put(dashboard, shown, { "if-match": tag });
  assert.equal(stale.status, 412);
});

test("__set__ is kept inside a map that changes; null takes a key out", async (t) => {
  const dashboard = await openDashboard(t, { config: COMMENTED });
  const { form: shown } = await form(dashboard);
  shown.providers.mine["base_url"] = "http://127.0.0.1:10/v1";
  shown.agent["max_turns"] = null;
  assert.equal((await put(dashboard, shown)).status, 200);
  const text = read(dashboard);
  assert.match(text, /sk-in-yaml-0123456789/);
  assert.match(text, /127\.0\.0\.1:10/);
  assert.doesNotMatch(text, /max_turns/);
  assert.match(text, /foreign_setting: kept/);
});

test("model: an object keeps its other keys; a string becomes one only for a context > 0", async (t) => {
  const object = await openDashboard(t, { config: COMMENTED });
  await put(object, { model: "other", model_context_length: 65536 });
  assert.match(read(object), /model: # chosen with care\n {2}provider: demo\n {2}default: other\n/);
  assert.match(read(object), /context_length: 65536/);
  await put(object, { model_context_length: 0 });
  assert.doesNotMatch(read(object), /context_length/);

  const text = await openDashboard(t, { config: "model: demo\n" });
  await put(text, { model: "other", model_context_length: 0 });
  assert.equal(read(text), "model: other\n");
  await put(text, { model_context_length: 70000 });
  assert.match(read(text), /^model:\s[^]*"?default"?: ?"?other"?[^]*"?context_length"?: ?70000/);
});

test("a wrong value 400, a gate key 400, a broken file 409 with its line: nothing is written", async (t) => {
  const dashboard = await openDashboard(t, { config: COMMENTED });
  const wrong = await put(dashboard, { agent: { max_turns: "many" } });
  assert.deepEqual([wrong.status, wrong.json()["code"]], [400, "invalid"]);
  const { form: shown } = await form(dashboard);
  for (const [key, value] of [
    ["public_url", "https://evil.test"],
    ["allowed_hosts", ["evil.test"]],
    ["cors_origins", ["https://evil.test"]],
    ["trusted_proxies", ["10.0.0.1"]],
  ] as const) {
    const changed = { ...shown, dashboard: { ...shown.dashboard, [key]: value } };
    const answer = await put(dashboard, changed);
    assert.equal(answer.status, 400, key);
    assert.match(String(answer.json()["detail"]), new RegExp(`dashboard\\.${key}`));
  }
  assert.equal(read(dashboard), COMMENTED);
  const broken = "model: demo\nagent: [\n";
  writeFileSync(join(dashboard.home, "config.yaml"), broken);
  const refused = await put(dashboard, { timezone: "UTC" });
  assert.equal(refused.status, 409);
  assert.equal(refused.json()["code"], "config_broken");
  assert.equal(typeof refused.json()["line"], "number");
  assert.equal(read(dashboard), broken);
});

test("raw: secrets shown as __set__ and put back; bad YAML and gate keys 400 with their line", async (t) => {
  const dashboard = await openDashboard(t, { config: COMMENTED });
  const shown = String((await dashboard.ask("/api/config/raw")).json()["yaml"]);
  assert.equal(shown, COMMENTED.replace("sk-in-yaml-0123456789", "__set__"));
  const save = (text: string) =>
    dashboard.ask("/api/config/raw", { method: "PUT", body: { yaml_text: text } });
  assert.equal((await save(shown.replace("12 # enough", "14 # enough"))).status, 200);
  assert.equal(read(dashboard), COMMENTED.replace("12 # enough", "14 # enough"));
  const before = read(dashboard);
  const cases: [string, number][] = [
    ["a: 1\nb: [\n", 3],
    ["- a\n- b\n", 1],
    ["timezone: UTC\nagent:\n  max_turns: many\n", 3],
    ["timezone: UTC\ndashboard:\n  public_url: https://evil.test\n", 3],
  ];
  for (const [text, line] of cases) {
    const answer = await save(text);
    assert.equal(answer.status, 400, text);
    assert.equal(answer.json()["line"], line, text);
  }
  assert.equal(read(dashboard), before);
});

test("defaults and schema are open and cover every leaf in order", async (t) => {
  const dashboard = await openDashboard(t);
  const schema = (await dashboard.stranger("/api/config/schema")).json<{
    fields: Record<string, { type: string; description: string }>;
    category_order: string[];
  }>();
  const names = Object.keys(schema.fields);
  assert.deepEqual(names.slice(0, 2), ["model", "model_context_length"]);
  assert.ok(names.includes("agent.max_turns") && !names.includes("_config_version"));
  assert.ok(Object.values(schema.fields).every(({ description }) => description !== ""));
  const defaults = (await dashboard.stranger("/api/config/defaults")).json<Form>();
  assert.equal(defaults.agent["max_turns"], 90);
});

test("env: refused names and values 400 and nothing written; a key is set, other lines stay", async (t) => {
  const dotEnv = "# keys\nexport BRAVE_API_KEY='brave-0123456789abcdef'\nOTHER=x#y\n";
  const dashboard = await openDashboard(t, { dotEnv });
  const set = (key: string, value: string) =>
    dashboard.ask("/api/env", { method: "PUT", body: { key, value } });
  const refused: [string, string][] = [
    ["LD_PRELOAD", "x"],
    ["NODE_OPTIONS", "x"],
    ["PATH", "x"],
    ["HERMES_DASHBOARD_INSECURE", "1"],
    ["HERMES_DASHBOARD_SESSION_TOKEN", "x"],
    ["openai_api_key", "x"],
    ["OPENAI-KEY", "x"],
    ["OPENAI_API_KEY", "a\nb"],
    ["OPENAI_API_KEY", "a\rb"],
    ["OPENAI_API_KEY", "a\0b"],
  ];
  for (const [key, value] of refused) {
    const answer = await set(key, value);
    assert.deepEqual([answer.status, answer.json()["code"]], [400, "invalid"], key);
  }
  assert.equal(read(dashboard, ".env"), dotEnv);
  const key = "sk-test-0123456789WXYZ";
  assert.deepEqual((await set("OPENAI_API_KEY", key)).json(), { ok: true, key: "OPENAI_API_KEY" });
  assert.equal(read(dashboard, ".env"), `${dotEnv}OPENAI_API_KEY=${key}\n`);
  const shown = await dashboard.ask("/api/env");
  const body = shown.json<Record<string, Record<string, unknown>>>();
  assert.deepEqual(
    { ...body["OPENAI_API_KEY"], description: "", tools: [] },
    {
      is_set: true,
      redacted_value: "…WXYZ",
      description: "",
      url: null,
      category: "models",
      is_password: true,
      tools: [],
      advanced: false,
      channel_managed: false,
      custom: false,
      source: ".env",
    },
  );
  assert.equal(body["OTHER"]?.["custom"], true);
  assert.equal(body["ANTHROPIC_API_KEY"]?.["is_set"], false);
  assert.ok(!shown.body.includes(key) && !shown.body.includes("brave-0123456789"));
  const removed = await dashboard.ask("/api/env", { method: "DELETE", body: { key: "OTHER" } });
  assert.equal(removed.status, 200);
  const again = await dashboard.ask("/api/env", { method: "DELETE", body: { key: "OTHER" } });
  assert.equal(again.status, 404);
});

test("a value of the process environment is not overwritten in .env", async (t) => {
  const dashboard = await openDashboard(t, { env: { OPENAI_API_KEY: "sk-from-outside-0123" } });
  const body = { key: "OPENAI_API_KEY", value: "sk-other" };
  const answer = await dashboard.ask("/api/env", { method: "PUT", body });
  assert.deepEqual([answer.status, answer.json()["code"]], [409, "conflict"]);
});

test("reveal: stranger 401, known 200, unset 404, unknown 403, the sixth 429, audited by name", async (t) => {
  const value = "sk-reveal-0123456789abcd";
  const dashboard = await openDashboard(t, { dotEnv: `OPENAI_API_KEY=${value}\nOTHER=secret\n` });
  const question = (key: string) => ({ method: "POST", body: { key } });
  const path = "/api/env/reveal";
  assert.equal((await dashboard.stranger(path, question("OPENAI_API_KEY"))).status, 401);
  const statuses: number[] = [];
  for (const key of [
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "OTHER",
    "HERMES_DASHBOARD_SESSION_TOKEN",
    "X",
    "X",
  ]) {
    statuses.push((await dashboard.ask(path, question(key))).status);
  }
  assert.deepEqual(statuses, [200, 404, 403, 403, 403, 429]);
  const audit = readFileSync(join(dashboard.home, "logs", "dashboard-auth.log"), "utf8");
  assert.match(audit, /"event":"env_revealed","name":"OPENAI_API_KEY"/);
  assert.ok(!audit.includes(value) && !dashboard.logLines.join("\n").includes(value));
});

test("first run: detect, test, save on success only", async (t) => {
  const dashboard = await openDashboard(t, { config: "# mine\ntimezone: UTC\n" });
  const before = (await dashboard.ask("/api/setup")).json();
  assert.deepEqual([before["model_ready"], before["demo_available"]], [false, true]);
  assert.match(String(before["reason"]), /model/i);
  const found = await dashboard.ask("/api/setup/detect", { method: "POST" });
  assert.equal(
    found.json<{ local_servers: { kind: string }[] }>().local_servers[0]?.kind,
    "ollama",
  );
  assert.equal(
    (await dashboard.ask("/api/setup")).json<{ local_servers: unknown[] }>().local_servers.length,
    1,
  );
  const key = "sk-setup-0123456789abcd";
  const saved = await dashboard.ask("/api/setup/model", {
    method: "POST",
    body: { provider: "openai", model: "gpt-x", api_key: ` ${key} ` },
  });
  assert.deepEqual(saved.json(), {
    ok: true,
    model: "gpt-x",
    provider: "openai",
    context_window: 128000,
    latency_ms: 12,
  });
  assert.equal(read(dashboard, ".env"), `OPENAI_API_KEY=${key}\n`);
  const text = read(dashboard);
  assert.match(text, /^# mine\n/);
  assert.match(text, /provider: openai/);
  assert.match(text, /default: gpt-x/);
  assert.ok(!text.includes(key));
  assert.equal((await dashboard.ask("/api/setup")).json()["model"], "gpt-x");
  assert.equal((await dashboard.stranger("/api/model/info")).json()["model"], "gpt-x");
  const elsewhere = {
    provider: "openai",
    model: "gpt-x",
    api_key: key,
    base_url: "http://127.0.0.1:9/v1",
  };
  await dashboard.ask("/api/setup/model", { method: "POST", body: elsewhere });
  // A key goes to its own host only, unless it was named for the other one.
  assert.match(read(dashboard), /providers:\n {2}openai:\n {4}key_env: OPENAI_API_KEY\n/);
  const demo = { provider: "demo", model: "demo" };
  const tried = await dashboard.ask("/api/setup/model", { method: "POST", body: demo });
  assert.equal(tried.status, 200);
  assert.match(read(dashboard), /provider: demo/);
});

test("a failed model test is 400 with its stage, and nothing is saved", async (t) => {
  const config = "timezone: UTC\n";
  const dashboard = await openDashboard(t, {
    config,
    test: { ok: false, stage: "auth", message: "OPENAI_API_KEY was rejected" },
  });
  const body = { provider: "openai", api_key: "sk-wrong-0123456789" };
  const answer = await dashboard.ask("/api/setup/model", { method: "POST", body });
  assert.equal(answer.status, 400);
  assert.deepEqual(answer.json(), {
    detail: "OPENAI_API_KEY was rejected",
    code: "invalid",
    stage: "auth",
  });
  assert.equal(read(dashboard), config);
  assert.throws(() => read(dashboard, ".env"), { code: "ENOENT" });
  for (let n = 0; n < 5; n++) await dashboard.ask("/api/setup/model", { method: "POST", body });
  const seventh = await dashboard.ask("/api/setup/model", { method: "POST", body });
  assert.equal(seventh.status, 429);
  assert.ok(Number(seventh.headers["retry-after"]) > 0);
});

test("model set: main needs both, auxiliary per task, all, and reset", async (t) => {
  const dashboard = await openDashboard(t, { config: COMMENTED });
  const set = (body: object) => dashboard.ask("/api/model/set", { method: "POST", body });
  assert.equal((await set({ scope: "main", provider: "openai" })).status, 400);
  for (const scope of ["main", "auxiliary"]) {
    assert.equal((await set({ scope, provider: "nobody", model: "x" })).status, 400);
  }
  const done = await set({ scope: "main", provider: "openai", model: "gpt-x" });
  assert.deepEqual(done.json(), { ok: true, applies: "new sessions" });
  assert.match(read(dashboard), /provider: openai\n {2}default: gpt-x\n/);
  assert.doesNotMatch(read(dashboard), /base_url: ""/);
  assert.equal((await set({ scope: "auxiliary", task: "nothing" })).status, 400);
  await set({ scope: "auxiliary", task: "compression", provider: "openai", model: "mini" });
  const tasks = (await dashboard.ask("/api/model/auxiliary")).json<{
    tasks: { task: string; model: string; provider: string }[];
    main: object;
  }>();
  const compression = tasks.tasks.find(({ task }) => task === "compression");
  assert.deepEqual([compression?.provider, compression?.model], ["openai", "mini"]);
  assert.deepEqual(tasks.main, { provider: "openai", model: "gpt-x" });
  assert.ok(tasks.tasks.some(({ task }) => task === "title_generation"));
  await set({ scope: "auxiliary", task: "__reset__" });
  assert.doesNotMatch(read(dashboard), /mini/);
});

test("?profile= picks a profile, unknown is 404, and writes go to its home only", async (t) => {
  const dashboard = await openDashboard(t, { profiles: ["work"] });
  const body = { name: "ember" };
  const work = await dashboard.ask("/api/dashboard/theme?profile=work", { method: "PUT", body });
  assert.equal(work.status, 200);
  assert.doesNotMatch(read(dashboard), /ember/);
  assert.match(read(dashboard, join("profiles", "work", "config.yaml")), /theme: ember/);
  assert.equal((await dashboard.ask("/api/config?profile=nobody")).status, 404);
  const profiles = (await dashboard.ask("/api/profiles")).json<{ profiles: { name: string }[] }>();
  assert.deepEqual(
    profiles.profiles.map(({ name }) => name),
    ["default", "work"],
  );
  const made = await dashboard.ask("/api/profiles", { method: "POST", body: { name: "new" } });
  assert.equal(made.status, 201);
  const taken = await dashboard.ask("/api/profiles", { method: "POST", body: { name: "work" } });
  assert.equal(taken.status, 409);
  const theme = { method: "PUT", body: { name: "no-such-theme" } };
  assert.equal((await dashboard.ask("/api/dashboard/theme", theme)).status, 404);
});
