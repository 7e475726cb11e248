// A key goes only to its provider's registered host (agent.md §3.2, product.md D21).
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { modelSettings, secrets } from "../../test/kit/model-settings.ts";
import { chooseModel } from "./choose.ts";
import { parseHttpUrl } from "./endpoint.ts";

type Changes = Parameters<typeof modelSettings>[0];

const CASES: readonly (readonly [
  string,
  Changes,
  Readonly<Record<string, string>>,
  string | null,
])[] = [
  [
    "own host",
    { model: { provider: "openai", default: "m" } },
    { OPENAI_API_KEY: "k" },
    "OPENAI_API_KEY",
  ],
  [
    "foreign base URL in providers",
    {
      model: { provider: "openai", default: "m" },
      providers: { openai: { base_url: "https://evil.example/v1" } },
    },
    { OPENAI_API_KEY: "k" },
    null,
  ],
  [
    "foreign model.base_url with the provider named",
    { model: { provider: "anthropic", default: "m", base_url: "https://evil.example/v1" } },
    { ANTHROPIC_API_KEY: "k" },
    null,
  ],
  [
    "foreign base URL with key_env",
    {
      model: { provider: "openai", default: "m" },
      providers: { openai: { base_url: "https://proxy.example/v1", key_env: "PROXY_KEY" } },
    },
    { OPENAI_API_KEY: "k", PROXY_KEY: "p" },
    "PROXY_KEY",
  ],
  [
    "OPENAI_BASE_URL beside OPENAI_API_KEY",
    { model: { provider: "openai", default: "m" } },
    { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "https://proxy.example/v1" },
    "OPENAI_API_KEY",
  ],
  [
    "OPENAI_BASE_URL beaten by a foreign base URL in providers",
    {
      model: { provider: "openai", default: "m" },
      providers: { openai: { base_url: "https://evil.example/v1" } },
    },
    { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "https://proxy.example/v1" },
    null,
  ],
  [
    "custom, foreign",
    { model: { default: "m", base_url: "https://host.example/v1" } },
    { OPENAI_API_KEY: "k" },
    null,
  ],
  [
    "custom at a registered host",
    { model: { default: "m", base_url: "https://openrouter.ai/api/v1" } },
    { OPENROUTER_API_KEY: "k", OPENAI_API_KEY: "o" },
    "OPENROUTER_API_KEY",
  ],
  [
    "registered host in clear text",
    { model: { default: "m", base_url: "http://openrouter.ai/api/v1" } },
    { OPENROUTER_API_KEY: "k" },
    null,
  ],
  [
    "registered host on another port",
    { model: { default: "m", base_url: "https://openrouter.ai:8443/v1" } },
    { OPENROUTER_API_KEY: "k" },
    null,
  ],
  [
    "host that only looks like it",
    { model: { default: "m", base_url: "https://openrouter.ai.evil.example/v1" } },
    { OPENROUTER_API_KEY: "k" },
    null,
  ],
  [
    "key in YAML beside its address",
    { model: { default: "m", base_url: "https://host.example/v1", api_key: "y" } },
    {},
    "model.api_key",
  ],
  [
    "key of a provider in YAML",
    {
      model: { provider: "mybox", default: "m" },
      providers: { mybox: { base_url: "https://b.example/v1", api_key: "y" } },
    },
    {},
    "providers.mybox.api_key",
  ],
  [
    "local servers get none",
    { model: { provider: "ollama", default: "m" } },
    { OPENAI_API_KEY: "k" },
    null,
  ],
];

describe("which key is sent", () => {
  for (const [name, changes, env, expected] of CASES) {
    test(name, () => {
      assert.equal(chooseModel(modelSettings(changes), secrets(env)).keyName, expected);
    });
  }
});

describe("addresses of local servers", () => {
  const cases = [
    ["127.0.0.1:9999", "http://127.0.0.1:9999"],
    ["0.0.0.0", "http://127.0.0.1:11434"],
    ["0.0.0.0:80", "http://127.0.0.1"],
    [":4000", "http://127.0.0.1:4000"],
    ["box", "http://box:11434"],
    ["https://box.example", "https://box.example"],
    ["http://box:8080/", "http://box:8080"],
    ["[::]:7000", "http://[::1]:7000"],
  ] as const;
  for (const [value, origin] of cases) {
    test(value, () => assert.equal(parseHttpUrl(value, "11434")?.origin, origin));
  }
  for (const value of ["", "ftp://box", "http://", "a b", "http://u:p@box"]) {
    test(`refused: ${JSON.stringify(value)}`, () =>
      assert.equal(parseHttpUrl(value, "11434"), null));
  }

  test("OLLAMA_HOST moves the server", () => {
    const choice = chooseModel(
      modelSettings({ model: { provider: "ollama", default: "m" } }),
      secrets({ OLLAMA_HOST: "0.0.0.0:9000" }),
    );
    assert.equal(choice.baseUrl, "http://127.0.0.1:9000/v1");
  });
});
