import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import { modelSettings, secrets } from "../../test/kit/model-settings.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { writeCatalog } from "./catalog-cache.ts";
import { modelInfo } from "./info.ts";
import { keyProblem, providerOfKey } from "./key-shape.ts";
import { rememberWindow } from "./remembered.ts";

describe("modelInfo", () => {
  const clock = new FakeClock();
  const secret = secrets({ ANTHROPIC_API_KEY: "sk-ant-secret" });

  test("a configured model, the window found and the window set", (t) => {
    const cacheDir = tempDir(t);
    const settings = modelSettings({
      model: { default: "claude-opus-5-5", context_length: 50_000 },
    });
    assert.deepEqual(modelInfo({ settings, secret, cacheDir, clock }), {
      model: "claude-opus-5-5",
      provider: "anthropic",
      auto_context_length: 1_000_000,
      config_context_length: 50_000,
      effective_context_length: 50_000,
      capabilities: {
        supports_tools: true,
        supports_vision: true,
        supports_reasoning: true,
        context_window: 50_000,
        max_output_tokens: 128_000,
        model_family: "claude",
      },
    });
  });

  test("what was remembered counts; the provider's entry says what the model can", (t) => {
    const cacheDir = tempDir(t);
    rememberWindow(cacheDir, "custom", "m", { tokens: 9000, from: "error", nowMs: clock.now() });
    const settings = modelSettings({
      model: { default: "m", base_url: "https://secret-host.example/v1" },
      providers: { custom: { models: { m: { tools: false, vision: true } } } },
    });
    const info = modelInfo({ settings, secret, cacheDir, clock });
    assert.equal(info.effective_context_length, 9000);
    assert.deepEqual(info.capabilities, {
      supports_tools: false,
      supports_vision: true,
      supports_reasoning: false,
      context_window: 9000,
      max_output_tokens: 0,
      model_family: "",
    });
    assert.ok(!JSON.stringify(info).includes("secret"), "no address, no key");
  });

  test("OpenRouter's list counts as it was last read", (t) => {
    const cacheDir = tempDir(t);
    const baseUrl = "https://openrouter.ai/api/v1";
    writeCatalog(cacheDir, baseUrl, { at: 0, rows: [{ id: "x/y", contextLength: 77_000 }] });
    const settings = modelSettings({ model: { default: "x/y" } });
    const info = modelInfo({
      settings,
      secret: secrets({ OPENROUTER_API_KEY: "k" }),
      cacheDir,
      clock,
    });
    assert.equal(info.auto_context_length, 77_000);
  });

  test("the demo model says so", (t) => {
    const settings = modelSettings({ model: { provider: "demo", context_length: 5 } });
    const info = modelInfo({ settings, secret, cacheDir: tempDir(t), clock });
    assert.deepEqual(
      [info.provider, info.model, info.effective_context_length],
      ["demo", "demo", 32_768],
    );
  });

  test("nothing configured, or nonsense: zeros, never an error", (t) => {
    const zeros = {
      auto_context_length: 0,
      config_context_length: 0,
      effective_context_length: 0,
      capabilities: {},
    };
    for (const model of [{}, { provider: "nonsense" }, { base_url: "ftp://x", default: "m" }]) {
      const settings = modelSettings({ model });
      assert.deepEqual(modelInfo({ settings, secret: secrets(), cacheDir: tempDir(t), clock }), {
        model: settings.model.default,
        provider: "",
        ...zeros,
      });
    }
  });
});

describe("the shape of a pasted key", () => {
  const cases = [
    ["sk-or-v1-0123", "openrouter"],
    [" sk-ant-api03-xyz ", "anthropic"],
    ["sk-proj-abc", "openai"],
    ["sk-abcdefghijklmnopqrstuvwx", "openai"],
    ["sk-short", null],
    ["hello", null],
    ["", null],
  ] as const;
  for (const [key, provider] of cases) {
    test(JSON.stringify(key), () => assert.equal(providerOfKey(key), provider));
  }

  test("what no key is", () => {
    assert.equal(keyProblem("sk-or-v1-0123"), null);
    for (const text of ["", "  ", "two words", "umläut", "line\nbreak"])
      assert.notEqual(keyProblem(text), null, text);
  });
});
