// Context windows: the bundled table, the memory, the order of agent.md §3.3, limits and watchdogs of a target.
import assert from "node:assert/strict";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test, type TestContext } from "node:test";
import { isHermesError } from "#base/errors.ts";
import { silentLog } from "#base/log.ts";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import { startModelServer } from "../../test/kit/model-server.ts";
import { modelSettings, openDeps, openTestTarget, secrets } from "../../test/kit/model-settings.ts";
import type { ServerShapes } from "../../test/kit/model-shapes.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { readRememberedWindow, rememberWindow } from "./remembered.ts";
import { bundledFacts } from "./windows.ts";

describe("bundled windows", () => {
  const cases: readonly (readonly [string, number | null])[] = [
    ["claude-sonnet-4-6", 1_000_000],
    ["anthropic/claude-opus-4.6", 1_000_000],
    ["claude-opus-5-5", 1_000_000],
    ["anthropic/claude-haiku-5.5", 1_000_000],
    ["claude-sonnet-4-5-20250929", 200_000],
    ["claude-3-haiku-20240307", 200_000],
    ["gpt-4.1-mini", 1_047_576],
    ["openai/gpt-5.5", 400_000],
    ["gpt-4o", 128_000],
    ["google/gemini-3.5-flash", 1_048_576],
    ["deepseek/deepseek-v3.2", 128_000],
    ["meta-llama/llama-3.3-70b", 131_072],
    ["qwen3:8b", 131_072],
    ["qwen3-coder:30b", 262_144],
    ["Qwen/Qwen2.5-Coder-32B-Instruct", 262_144],
    ["gemma-3-27b", 131_072],
    ["gemma3:12b", 131_072],
    ["o3-mini", 200_000],
    ["foo3-mini", null],
    ["mystery", null],
    ["", null],
  ];
  for (const [id, window] of cases) {
    test(id, () => assert.equal(bundledFacts(id)?.window ?? null, window));
  }
});

describe("remembered windows", () => {
  test("kept privately, per provider and model, with a life", (t) => {
    const dir = join(tempDir(t), "cache");
    assert.equal(
      rememberWindow(dir, "custom", "m", { tokens: 8192, from: "error", nowMs: 1000 }),
      true,
    );
    assert.equal(
      rememberWindow(dir, "ollama", "m", { tokens: 4096, from: "server", nowMs: 1000 }),
      true,
    );
    assert.equal(readRememberedWindow(dir, "custom", "m", 2000), 8192);
    assert.equal(readRememberedWindow(dir, "custom", "other", 2000), null);
    assert.equal(readRememberedWindow(dir, "ollama", "m", 2000), 4096);
    assert.equal(
      readRememberedWindow(dir, "ollama", "m", 1000 + 3_600_000),
      null,
      "a server may be restarted",
    );
    assert.equal(readRememberedWindow(dir, "custom", "m", 1000 + 29 * 86_400_000), 8192);
    assert.equal(readRememberedWindow(dir, "custom", "m", 1000 + 31 * 86_400_000), null);
    assert.equal(statSync(join(dir, "context_windows.json")).mode & 0o777, 0o600);
  });

  for (const content of [
    "",
    "{",
    "[]",
    "null",
    '{"custom:m":{"tokens":"8"}}',
    '{"custom:m":{"tokens":-1,"from":"error","at":1}}',
  ]) {
    test(`a damaged file knows nothing and is replaced: ${content}`, (t) => {
      const dir = tempDir(t);
      writeFileSync(join(dir, "context_windows.json"), content);
      assert.equal(readRememberedWindow(dir, "custom", "m", 1), null);
      assert.equal(
        rememberWindow(dir, "custom", "m", { tokens: 9000, from: "error", nowMs: 1 }),
        true,
      );
      assert.equal(readRememberedWindow(dir, "custom", "m", 2), 9000);
    });
  }

  test("a place that cannot be written is no error, and nonsense is not kept", (t) => {
    const file = join(tempDir(t), "file");
    writeFileSync(file, "x");
    assert.equal(rememberWindow(file, "a", "b", { tokens: 9000, from: "error", nowMs: 1 }), false);
    assert.equal(
      rememberWindow(tempDir(t), "a", "b", { tokens: Number.NaN, from: "error", nowMs: 1 }),
      false,
    );
    chmodSync(file, 0o600);
    assert.equal(readFileSync(file, "utf8"), "x");
  });
});

describe("the window of a target", () => {
  async function windowOf(
    t: TestContext,
    shapes: ServerShapes,
    changes: Parameters<typeof modelSettings>[0],
    before: (cacheDir: string) => void = () => undefined,
  ): Promise<number> {
    const server = await startModelServer(t, [], shapes);
    const cacheDir = tempDir(t);
    before(cacheDir);
    const settings = modelSettings(changes);
    const secret = secrets({
      OLLAMA_HOST: server.root,
      LM_BASE_URL: server.baseUrl,
      LLAMACPP_BASE_URL: server.root,
      OPENROUTER_API_KEY: "k",
    });
    return (await openTestTarget(openDeps(settings, cacheDir, { secret, clock: new FakeClock() })))
      .contextWindow;
  }

  const ollama = { ollama: { models: ["qwen3:8b"], trained: 40_960, loaded: 16_384 } };
  const local = { provider: "ollama", default: "qwen3:8b" } as const;
  const remember = (dir: string): void => {
    rememberWindow(dir, "ollama", "qwen3:8b", {
      tokens: 12_000,
      from: "error",
      nowMs: new FakeClock().now(),
    });
  };

  test("model.context_length first", async (t) => {
    assert.equal(
      await windowOf(t, ollama, { model: { ...local, context_length: 9000 } }, remember),
      9000,
    );
  });
  test("then the provider's own entry", async (t) => {
    const providers = { ollama: { models: { "qwen3:8b": { context_length: 9500 } } } };
    assert.equal(await windowOf(t, ollama, { model: local, providers }, remember), 9500);
  });
  test("then what was remembered", async (t) =>
    assert.equal(await windowOf(t, ollama, { model: local }, remember), 12_000));
  test("then the local server: what is loaded", async (t) =>
    assert.equal(await windowOf(t, ollama, { model: local }), 16_384));
  test("Ollama, not loaded: what the model can", async (t) => {
    assert.equal(
      await windowOf(t, { ollama: { models: ["qwen3:8b"], trained: 40_960 } }, { model: local }),
      40_960,
    );
  });
  test("LM Studio", async (t) => {
    const model = { provider: "lmstudio", default: "a" } as const;
    const rows = (loaded?: number) => ({
      lmstudio: {
        models: [
          { id: "a", type: "llm", max: 65_536, ...(loaded === undefined ? {} : { loaded }) },
        ],
      },
    });
    assert.equal(await windowOf(t, rows(20_000), { model }), 20_000);
    assert.equal(await windowOf(t, rows(), { model }), 65_536);
  });
  test("llama.cpp", async (t) => {
    const model = { provider: "llamacpp", default: "a" } as const;
    assert.equal(
      await windowOf(t, { llamacpp: { models: ["a"], nCtx: 10_240 } }, { model }),
      10_240,
    );
  });
  test("a local server that says nothing: the table, then the guess", async (t) => {
    assert.equal(await windowOf(t, {}, { model: local }), 131_072);
    assert.equal(await windowOf(t, {}, { model: { ...local, default: "mystery" } }), 128_000);
  });

  test("OpenRouter's list, asked once a day without the key", async (t) => {
    const server = await startModelServer(t, [], {
      openrouter: { models: [{ id: "x/y", contextLength: 77_000 }] },
    });
    const clock = new FakeClock();
    const settings = modelSettings({
      model: { provider: "openrouter", default: "x/y" },
      providers: {
        openrouter: { base_url: `${server.root}/api/v1`, key_env: "OPENROUTER_API_KEY" },
      },
    });
    const deps = openDeps(settings, tempDir(t), {
      clock,
      secret: secrets({ OPENROUTER_API_KEY: "k" }),
    });
    assert.equal((await openTestTarget(deps)).contextWindow, 77_000);
    assert.equal((await openTestTarget(deps)).contextWindow, 77_000);
    assert.equal(server.otherRequests.length, 1);
    assert.equal(server.otherRequests[0]?.headers.authorization, undefined);
    await clock.advance(25 * 3_600_000);
    await openTestTarget(deps);
    assert.equal(server.otherRequests.length, 2);
  });

  test("a guess is said once", async (t) => {
    const said: string[] = [];
    const log = { ...silentLog, warn: (message: string) => void said.push(message) };
    const settings = modelSettings({
      model: { default: "unheard-of", base_url: "http://127.0.0.1:9/v1" },
    });
    for (let i = 0; i < 2; i++) await openTestTarget(openDeps(settings, tempDir(t), { log }));
    assert.equal(said.length, 1);
    assert.match(said[0] ?? "", /custom:unheard-of.*128000.*model\.context_length/);
  });

  test("a key that no header can hold is refused without being shown", async (t) => {
    for (const key of ["two words", "umläut-key", "line\nbreak"]) {
      const settings = modelSettings({ model: { provider: "openai", default: "gpt-5" } });
      const opened = openTestTarget(
        openDeps(settings, tempDir(t), { secret: secrets({ OPENAI_API_KEY: key }) }),
      );
      await assert.rejects(
        opened,
        (error) =>
          isHermesError(error, "KEY_MALFORMED") &&
          error.exit === 78 &&
          !error.message.includes(key),
      );
    }
  });

  test("below 8192 tokens a model is refused", async (t) => {
    const refused = openTestTarget(
      openDeps(modelSettings({ model: { ...local, context_length: 8191 } }), tempDir(t)),
    );
    await assert.rejects(
      refused,
      (error) =>
        isHermesError(error, "CONTEXT_TOO_SMALL") &&
        error.exit === 78 &&
        error.message.includes("8191"),
    );
    const fits = await openTestTarget(
      openDeps(modelSettings({ model: { ...local, context_length: 8192 } }), tempDir(t)),
    );
    assert.equal(fits.contextWindow, 8192);
  });

  test("a flag's other model does not get the configured window", async (t) => {
    const settings = modelSettings({
      model: { ...local, context_length: 9000, max_output_tokens: 50 },
    });
    const deps = openDeps(settings, tempDir(t), { secret: secrets({ ANTHROPIC_API_KEY: "k" }) });
    const target = await openTestTarget(deps, { model: "anthropic:claude-3-haiku-20240307" });
    assert.deepEqual([target.contextWindow, target.maxOutputTokens], [200_000, 4096]);
    assert.equal((await openTestTarget(deps)).maxOutputTokens, 50);
  });

  test("watchdogs: remote, local, and the provider's own; facts of the wire", async (t) => {
    const cases = [
      [{ provider: "ollama", default: "qwen3" }, {}, 900_000, 600_000, null, false],
      [{ provider: "anthropic", default: "claude-opus-5-5" }, {}, 120_000, 180_000, 16_384, true],
      [
        { provider: "openai", default: "gpt-5" },
        { openai: { request_timeout_seconds: 7, stale_timeout_seconds: 8 } },
        7000,
        8000,
        null,
        false,
      ],
    ] as const;
    for (const [model, providers, firstByte, chunk, maxOutput, replays] of cases) {
      const secret = secrets({
        ANTHROPIC_API_KEY: "k",
        OPENAI_API_KEY: "k",
        OLLAMA_HOST: "127.0.0.1:9",
      });
      const target = await openTestTarget(
        openDeps(modelSettings({ model, providers }), tempDir(t), { secret }),
      );
      assert.deepEqual(
        [
          target.firstByteTimeoutMs,
          target.chunkTimeoutMs,
          target.maxOutputTokens,
          target.replaysReasoning,
          target.demo,
        ],
        [firstByte, chunk, maxOutput, replays, false],
      );
    }
  });
});
