import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { HermesError } from "#base/errors.ts";
import { modelSettings, secrets } from "../../test/kit/model-settings.ts";
import {
  auxiliaryTimeoutMs,
  chooseAuxiliary,
  chooseFallback,
  chooseModel,
  type ModelChoice,
  type ModelOverride,
} from "./choose.ts";
import type { ModelSettings } from "./settings.ts";

type Changes = Parameters<typeof modelSettings>[0];

interface Case {
  readonly name: string;
  readonly settings?: Changes;
  readonly env?: Readonly<Record<string, string>>;
  readonly override?: ModelOverride;
  readonly gives: Partial<ModelChoice>;
}

const ANTHROPIC = { ANTHROPIC_API_KEY: "sk-ant-x" };
const OPENAI = { OPENAI_API_KEY: "sk-x" };
const ROUTER = { OPENROUTER_API_KEY: "sk-or-x" };
const ALL = { ...ANTHROPIC, ...OPENAI, ...ROUTER };

const GOOD: readonly Case[] = [
  {
    name: "model.base_url means custom",
    settings: { model: { default: "m", base_url: "https://host.example/v1/" } },
    env: ALL,
    gives: {
      provider: "custom",
      model: "m",
      baseUrl: "https://host.example/v1",
      keyName: null,
      source: "base-url",
    },
  },
  {
    name: "PROVIDER:ID names both",
    settings: { model: { default: "anthropic:claude-opus-5-5" } },
    env: ALL,
    gives: {
      provider: "anthropic",
      model: "claude-opus-5-5",
      keyName: "ANTHROPIC_API_KEY",
      wire: "anthropic-messages",
    },
  },
  {
    name: "a colon after no provider belongs to the id",
    settings: { model: { default: "qwen3:8b", provider: "ollama" } },
    gives: {
      provider: "ollama",
      model: "qwen3:8b",
      baseUrl: "http://127.0.0.1:11434/v1",
      local: "ollama",
    },
  },
  {
    name: "the only key decides, and its first model",
    env: ROUTER,
    gives: { provider: "openrouter", model: "anthropic/claude-sonnet-5.5", source: "only-key" },
  },
  {
    name: "the only key decides whatever the id",
    settings: { model: { default: "gpt-4.1" } },
    env: ANTHROPIC,
    gives: { provider: "anthropic", model: "gpt-4.1" },
  },
  ...(
    [
      ["claude-sonnet-4-6", "anthropic"],
      ["gpt-5", "openai"],
      ["o3-mini", "openai"],
      ["meta/llama-4", "openrouter"],
      ["anthropic/claude-sonnet-4.6", "openrouter"],
    ] as const
  ).map(([model, provider]): Case => ({
    name: `several keys: ${model} goes to ${provider}`,
    settings: { model: { default: model } },
    env: ALL,
    gives: { provider, model, source: "model-name" },
  })),
  {
    name: "an explicit provider wins over the shape of the id",
    settings: { model: { default: "claude-x", provider: "openrouter" } },
    env: ALL,
    gives: { provider: "openrouter", model: "claude-x", source: "config" },
  },
  {
    name: "its own prefix is taken off, another one stays",
    settings: { model: { default: "openrouter:openai/gpt-5", provider: "openrouter" } },
    env: ALL,
    gives: { provider: "openrouter", model: "openai/gpt-5" },
  },
  {
    name: "an alias is a short name for both",
    settings: { model: { default: "fast", aliases: { fast: "openai:gpt-5.4-mini" } } },
    env: ALL,
    gives: { provider: "openai", model: "gpt-5.4-mini" },
  },
  {
    name: "a provider's alias works",
    settings: { model: { default: "m", provider: "LM-Studio" } },
    gives: { provider: "lmstudio", baseUrl: "http://127.0.0.1:1234/v1", keyName: null },
  },
  {
    name: "a provider of the user's own",
    settings: {
      model: { default: "big", provider: "mybox" },
      providers: {
        mybox: {
          base_url: "https://box.example/api",
          key_env: "BOX_KEY",
          api_mode: "anthropic-messages",
        },
      },
    },
    env: { BOX_KEY: "k" },
    gives: {
      provider: "mybox",
      wire: "anthropic-messages",
      baseUrl: "https://box.example/api",
      keyName: "BOX_KEY",
    },
  },
  {
    name: "an own provider's key counts for auto",
    settings: {
      providers: {
        mybox: { base_url: "https://box.example/v1", key_env: "BOX_KEY", models: { a: {} } },
      },
    },
    env: { BOX_KEY: "k" },
    gives: { provider: "mybox", model: "a", source: "only-key" },
  },
  {
    name: "-m with a prefix beats the configured provider",
    settings: { model: { default: "m", provider: "ollama" } },
    env: ANTHROPIC,
    override: { model: "anthropic:claude-opus-5-5" },
    gives: { provider: "anthropic", model: "claude-opus-5-5", source: "flag", configured: false },
  },
  {
    name: "-m without a prefix stays with the configured provider",
    settings: { model: { default: "m", provider: "ollama" } },
    override: { model: "n" },
    gives: { provider: "ollama", model: "n", source: "flag", configured: false },
  },
  {
    name: "-m with the configured id is the configured model",
    settings: { model: { default: "m", provider: "ollama" } },
    override: { model: "m" },
    gives: { configured: true },
  },
  {
    name: "--provider alone takes that provider's first model",
    settings: { model: { default: "m", provider: "ollama" } },
    env: OPENAI,
    override: { provider: "openai" },
    gives: { provider: "openai", model: "gpt-5.5", keyName: "OPENAI_API_KEY" },
  },
  {
    name: "--provider of the configured one keeps its model",
    settings: { model: { default: "m", provider: "ollama" } },
    override: { provider: "ollama" },
    gives: { provider: "ollama", model: "m", configured: true },
  },
  {
    name: "a configured base URL does not follow another --provider",
    settings: { model: { default: "m", base_url: "https://host.example/v1" } },
    env: OPENAI,
    override: { provider: "openai" },
    gives: { baseUrl: "https://api.openai.com/v1", keyName: "OPENAI_API_KEY" },
  },
  {
    name: "-m demo",
    env: ALL,
    override: { model: "demo" },
    gives: { provider: "demo", demo: true, keyName: null },
  },
  { name: "--provider demo", override: { provider: "demo" }, gives: { demo: true, model: "demo" } },
  {
    name: "model.provider demo",
    settings: { model: { provider: "demo", default: "x" } },
    gives: { demo: true, model: "demo" },
  },
];

describe("chooseModel", () => {
  for (const { name, settings, env, override, gives } of GOOD) {
    test(name, () => {
      const choice = chooseModel(modelSettings(settings), secrets(env), override);
      assert.deepEqual({ ...choice, ...gives }, choice);
    });
  }
});

interface BadCase {
  readonly name: string;
  readonly settings?: Changes;
  readonly env?: Readonly<Record<string, string>>;
  readonly override?: ModelOverride;
  readonly code: string;
  /** Texts that the sentence and its way out hold. */
  readonly says: readonly string[];
}

const BAD: readonly BadCase[] = [
  {
    name: "nothing at all",
    code: "MODEL_NOT_CONFIGURED",
    says: ["OPENROUTER_API_KEY", "Ollama", "hermes model --demo"],
  },
  {
    name: "auto never yields the demo model nor a local server",
    settings: { model: { default: "demo" } },
    env: { OLLAMA_HOST: "127.0.0.1:11434" },
    code: "MODEL_NOT_CONFIGURED",
    says: [],
  },
  {
    name: "the demo model hidden in the id",
    settings: { model: { default: "demo:demo" } },
    env: ALL,
    code: "DEMO_REFUSED",
    says: ["model.default"],
  },
  {
    name: "several keys and an id that tells nothing",
    settings: { model: { default: "mystery" } },
    env: ALL,
    code: "MODEL_AMBIGUOUS",
    says: ["mystery", "openrouter, openai, anthropic", "hermes model set"],
  },
  {
    name: "several keys, but not the one that the id needs",
    settings: { model: { default: "claude-opus-5-5" } },
    env: { ...OPENAI, ...ROUTER },
    code: "MODEL_AMBIGUOUS",
    says: ["openrouter, openai"],
  },
  {
    name: "several keys and no id",
    env: ALL,
    code: "MODEL_AMBIGUOUS",
    says: ["model.default is empty"],
  },
  {
    name: "an unknown provider names the nearest",
    settings: { model: { default: "m", provider: "antropic" } },
    code: "PROVIDER_UNKNOWN",
    says: ["model.provider", "antropic", "anthropic", "providers.antropic.base_url"],
  },
  {
    name: "a named provider without its key",
    settings: { model: { default: "m", provider: "openai" } },
    env: ANTHROPIC,
    code: "CREDENTIAL_MISSING",
    says: ["OPENAI_API_KEY", "OPENAI_API_KEY_FILE"],
  },
  {
    name: "a named key variable that is empty",
    settings: {
      model: { default: "m", base_url: "https://h.example/v1" },
      providers: { custom: { key_env: "MY_KEY" } },
    },
    code: "CREDENTIAL_MISSING",
    says: ["MY_KEY"],
  },
  {
    name: "custom without an address",
    settings: { model: { default: "m", provider: "custom" } },
    code: "BASE_URL_MISSING",
    says: ["model.base_url"],
  },
  {
    name: "a local server without a model",
    settings: { model: { provider: "ollama" } },
    code: "MODEL_NOT_CONFIGURED",
    says: ["model.default", "hermes model list --provider ollama"],
  },
  ...["ftp://h.example", "nonsense", "https://user:pw@h.example/v1"].map((value): BadCase => ({
    name: `address ${value}`,
    settings: { model: { default: "m", base_url: value } },
    code: "BASE_URL_INVALID",
    says: ["model.base_url"],
  })),
];

function refusal(run: () => unknown): HermesError {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof HermesError, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: "nothing was refused" });
}

describe("chooseModel refuses", () => {
  for (const { name, settings, env, override, code, says } of BAD) {
    test(name, () => {
      const error = refusal(() => chooseModel(modelSettings(settings), secrets(env), override));
      const said = `${error.message} ${error.fix ?? ""}`;
      assert.deepEqual([error.code, error.exit], [code, 78]);
      for (const text of says) assert.ok(said.includes(text), `${said} does not say ${text}`);
      for (const secret of ["sk-ant-x", "sk-or-x", "user:pw"])
        assert.ok(!said.includes(secret), said);
    });
  }
});

describe("fallback and auxiliary", () => {
  const settings: ModelSettings = modelSettings({
    model: { default: "m", provider: "ollama", context_length: 9000 },
    fallback_providers: [
      { provider: "anthropic", model: "claude-opus-5-5" },
      { provider: "demo", model: "demo" },
      { provider: "openai", model: "gpt-5" },
    ],
    auxiliary: {
      compression: { provider: "auto", model: "", base_url: "", timeout: 60 },
      title_generation: { provider: "auto", model: "small", base_url: "", timeout: 7 },
      other: { provider: "openrouter", model: "x/y", base_url: "", timeout: 60 },
      far: { provider: "auto", model: "z", base_url: "https://far.example/v1", timeout: 60 },
      prefixed: {
        provider: "auto",
        model: "anthropic:claude-haiku-5-5",
        base_url: "",
        timeout: 60,
      },
      bad: { provider: "demo", model: "", base_url: "", timeout: 60 },
    },
  });
  const env = secrets({ ...ANTHROPIC, ...ROUTER });
  const main = chooseModel(settings, env);

  test("fallbacks come in order; the demo model and a missing key are refused; then there are no more", () => {
    const first = chooseFallback(settings, env, 0);
    assert.deepEqual(
      [first?.provider, first?.model, first?.configured],
      ["anthropic", "claude-opus-5-5", false],
    );
    assert.equal(refusal(() => chooseFallback(settings, env, 1)).code, "DEMO_REFUSED");
    assert.equal(refusal(() => chooseFallback(settings, env, 2)).code, "CREDENTIAL_MISSING");
    assert.equal(chooseFallback(settings, env, 3), null);
  });

  const cases = [
    ["compression", "ollama", "m"],
    ["title_generation", "ollama", "small"],
    ["other", "openrouter", "x/y"],
    ["far", "custom", "z"],
    ["prefixed", "anthropic", "claude-haiku-5-5"],
    ["unheard-of", "ollama", "m"],
  ] as const;
  for (const [task, provider, model] of cases) {
    test(`auxiliary ${task}`, () => {
      const choice = chooseAuxiliary(settings, env, task, main);
      assert.deepEqual([choice.provider, choice.model], [provider, model]);
    });
  }

  test("the demo model serves its own tasks and nobody else's", () => {
    assert.equal(refusal(() => chooseAuxiliary(settings, env, "bad", main)).code, "DEMO_REFUSED");
    const demo = chooseModel(settings, env, { provider: "demo" });
    assert.equal(chooseAuxiliary(settings, env, "bad", demo).demo, true);
    assert.equal(chooseAuxiliary(settings, env, "compression", demo).demo, true);
  });

  test("limits of auxiliary calls", () => {
    assert.equal(auxiliaryTimeoutMs(settings, "title_generation"), 7000);
    assert.equal(auxiliaryTimeoutMs(settings, "unheard-of"), 60_000);
  });
});
