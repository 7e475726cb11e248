import { describe, expect, test } from "vitest";
import type { PublicStatusBody } from "#protocol/http-status.ts";
import { serviceLines } from "../app/service-states.ts";
import { createFormat } from "../i18n/format.ts";
import { en } from "../i18n/en.ts";
import { pickLanguage } from "../i18n/language.ts";
import { zhHans } from "../i18n/zh-hans.ts";
import {
  defaultAt,
  edited,
  fieldText,
  parseField,
  valueAt,
  withEdits,
  withoutSaved,
  withValue,
} from "./config/values.ts";
import { readLogLine } from "./log-line.ts";
import { snippetParts } from "./sessions/snippet.ts";
import { guessProvider } from "./setup/guess-provider.ts";

const OFFERED = ["openrouter", "openai", "anthropic"];
test.each([
  ["sk-or-v1-abcdef", "openrouter"],
  ["sk-ant-api03-abc", "anthropic"],
  [`sk-proj-${"a".repeat(40)}`, "openai"],
  [` sk-${"b".repeat(40)} `, "openai"],
  ["gsk_abc", null],
  ["hello", null],
  ["", null],
])("key %s looks like %s", (key, provider) => {
  expect(guessProvider(key, OFFERED)).toBe(provider);
});

test.each([
  ["a >>>b<<< c", ["a ", "*b", " c"]],
  [">>>b<<<", ["*b"]],
  ["x >>> y", ["x >>> y"]],
  ["a >>>b<<<>>>c<<<", ["a ", "*b", "*c"]],
  ["", []],
])("snippet %s", (snippet, parts) => {
  expect(snippetParts(snippet).map((part) => (part.marked ? `*${part.text}` : part.text))).toEqual(
    parts,
  );
});

describe("settings", () => {
  const tree = { model: "demo", approvals: { mode: "manual", deny: ["a"] } };

  test("values by path, without touching the original", () => {
    expect(valueAt(tree, "approvals.mode")).toBe("manual");
    expect(valueAt(tree, "model.default")).toBeUndefined();
    expect(withValue(tree, "approvals.mode", "off")).toEqual({
      model: "demo",
      approvals: { mode: "off", deny: ["a"] },
    });
    expect(withEdits(tree, { "a.b": 1 })).toMatchObject({ a: { b: 1 } });
    expect(tree.approvals.mode).toBe("manual");
  });

  test("the model's default is its name, its window a field of its own", () => {
    const defaults = { model: { default: "", context_length: 0 }, agent: { max_turns: 90 } };
    expect(defaultAt(defaults, "model")).toBe("");
    expect(defaultAt(defaults, "model_context_length")).toBe(0);
    expect(defaultAt(defaults, "agent.max_turns")).toBe(90);
  });

  test("an edit back to the stored value is none", () => {
    const once = edited({}, tree, "approvals.mode", "off");
    expect(once).toEqual({ "approvals.mode": "off" });
    expect(edited(once, tree, "approvals.mode", "manual")).toEqual({});
    expect(edited({}, tree, "approvals.deny", ["a"])).toEqual({});
  });

  test("what is changed while a save is under way stays an edit", () => {
    const saved = { "approvals.mode": "off", model: "a" };
    expect(withoutSaved(saved, saved)).toEqual({});
    expect(withoutSaved({ ...saved, model: "b", other: [1] }, saved)).toEqual({
      model: "b",
      other: [1],
    });
    expect(withoutSaved({ "approvals.deny": ["b"] }, { "approvals.deny": ["b"] })).toEqual({});
  });

  test.each([
    ["number", "12", { ok: true, value: 12 }],
    ["number", "", { ok: false, problem: "badNumber" }],
    ["number", "1e999", { ok: false, problem: "badNumber" }],
    ["list", " a \n\nb", { ok: true, value: ["a", "b"] }],
    ["list", '{"provider":"x"}', { ok: true, value: [{ provider: "x" }] }],
    ["object", "", { ok: true, value: {} }],
    ["object", "{", { ok: false, problem: "badJson" }],
    ["string", " a", { ok: true, value: " a" }],
  ] as const)("%s field from %j", (type, text, parsed) => {
    expect(parseField(type, text)).toEqual(parsed);
  });

  test("lists and objects survive the way to text and back", () => {
    for (const value of [["a", { provider: "x" }], []]) {
      expect(parseField("list", fieldText("list", value))).toEqual({ ok: true, value });
    }
    const object = { a: { b: 1 } };
    expect(parseField("object", fieldText("object", object))).toEqual({ ok: true, value: object });
  });
});

describe("log lines", () => {
  test.each([
    [
      '{"time":"2026-01-15T12:00:00Z","level":"warn","component":"x","msg":"m","a":1}',
      "warning",
      "m a=1",
    ],
    ['{"level":"info","msg":"no error here"}', "info", "no error here"],
    ["plain ERROR text", "none", "plain ERROR text"],
    ["{broken", "none", "{broken"],
  ])("%s", (line, severity, text) => {
    expect(readLogLine(line)).toMatchObject({ severity, text });
  });
});

describe("languages", () => {
  test.each([
    [null, ["de-DE", "zh-CN"], "zh-Hans"],
    [null, ["zh-TW", "en-GB"], "en"],
    [null, ["fr"], "en"],
    ["zh-Hans", ["en"], "zh-Hans"],
    ["xx", ["en-US"], "en"],
  ])("stored %s, browser %j: %s", (stored, wishes, language) => {
    expect(pickLanguage(stored, wishes)).toBe(language);
  });

  function keysOf(table: unknown, path = ""): string[] {
    if (typeof table !== "object" || table === null) return [path];
    return Object.entries(table).flatMap(([key, value]) => keysOf(value, `${path}.${key}`));
  }

  test("both tables have the same keys, and no text is empty", () => {
    expect(keysOf(zhHans).sort()).toEqual(keysOf(en).sort());
  });

  test("plurals and numbers follow the language", () => {
    expect(en.sessions.messages(1)).toBe("1 message");
    expect(en.sessions.messages(1200)).toBe("1,200 messages");
    expect(zhHans.sessions.messages(1)).toBe("1 条消息");
  });

  test("format", () => {
    const format = createFormat("en");
    expect(format.size(1_500_000)).toBe("1.5 MB");
    expect(format.duration(1234)).toBe("1.2 sec");
    expect(format.duration(125_000)).toBe("2 min 5 sec");
    expect(format.duration(3_720_000)).toBe("1 hr 2 min");
    expect(format.money(0.0042)).toBe("$0.0042");
    const now = Date.parse("2026-01-15T12:00:00Z");
    expect(format.ago("2026-01-15T11:57:00Z", now)).toBe("3 min. ago");
    expect(format.ago("nonsense", now)).toBe("");
  });
});

test("without a supervisor the strip says what is known and calls the rest unknown", () => {
  const status: PublicStatusBody = {
    version: "0.1.0",
    release_date: "",
    config_version: 1,
    latest_config_version: 1,
    gateway_running: false,
    gateway_state: null,
    gateway_platforms: {},
    gateway_updated_at: null,
    active_sessions: 0,
    auth_required: false,
    auth_providers: [],
  };
  expect(serviceLines(status).map((line) => `${line.name}:${line.state}`)).toEqual([
    "dashboard:ready",
    "gateway:unknown",
  ]);
  expect(serviceLines({ ...status, gateway_state: "startup_failed" })[1]?.state).toBe("refused");
});
