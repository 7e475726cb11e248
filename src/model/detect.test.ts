// Local servers found by themselves, picker lists, and the one-request test of a model.
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, test } from "node:test";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import {
  answer,
  call,
  failure,
  rateLimited,
  REPLY,
  text,
  think,
  type Reply,
} from "../../test/kit/model-reply.ts";
import { startModelServer } from "../../test/kit/model-server.ts";
import { modelSettings, openDeps, secrets, settingsFor } from "../../test/kit/model-settings.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { until } from "../../test/kit/until.ts";
import { modelOptions } from "./catalog.ts";
import { chooseModel } from "./choose.ts";
import { createLocalServerFinder } from "./detect.ts";
import { stageOf, testModel } from "./probe.ts";
import { notConfigured } from "./refusals.ts";

const DEAD = "http://127.0.0.1:9";

describe("local servers", () => {
  test("each is known by its own shape", async (t) => {
    const ollama = await startModelServer(t, [], { ollama: { models: ["a:1", "b:2"] } });
    const lmstudio = await startModelServer(t, [], {
      lmstudio: {
        models: [
          { id: "l", type: "llm", max: 1 },
          { id: "v", type: "vlm", max: 1 },
          { id: "e", type: "embeddings", max: 1 },
        ],
      },
    });
    const llamacpp = await startModelServer(t, [], { llamacpp: { models: ["g"], nCtx: 4096 } });
    const secret = secrets({
      OLLAMA_HOST: ollama.root,
      LM_BASE_URL: lmstudio.baseUrl,
      LLAMACPP_BASE_URL: llamacpp.root,
    });
    const found = await createLocalServerFinder({
      secret,
      clock: new FakeClock(),
      inContainer: false,
    }).find();
    assert.deepEqual(found, [
      { kind: "ollama", base_url: ollama.baseUrl, models: ["a:1", "b:2"] },
      { kind: "lmstudio", base_url: lmstudio.baseUrl, models: ["l", "v"] },
      { kind: "llamacpp", base_url: llamacpp.baseUrl, models: ["g"] },
    ]);
    assert.match(notConfigured(found).fix ?? "", new RegExp(`Ollama at ${ollama.baseUrl}`));
  });

  test("another server on the port is not found, a silent one costs 300 ms", async (t) => {
    const other = await startModelServer(t, [], { models: ["gpt"] });
    const silent = createServer();
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    t.after(() => silent.close());
    const { port } = silent.address() as AddressInfo;
    const roots = (["ollama", "lmstudio", "llamacpp"] as const).flatMap((kind) => [
      { kind, root: other.root },
      { kind, root: `http://127.0.0.1:${port}` },
    ]);
    const from = performance.now();
    const finder = createLocalServerFinder({
      secret: secrets(),
      clock: new FakeClock(),
      inContainer: false,
      roots,
    });
    assert.deepEqual(await finder.find(), []);
    assert.ok(performance.now() - from < 15_000);
  });

  test("a dead one is not asked again for 30 s, unless somebody says so", async (t) => {
    const server = await startModelServer(t);
    const clock = new FakeClock();
    const roots = [{ kind: "ollama", root: server.root }] as const;
    const finder = createLocalServerFinder({ secret: secrets(), clock, inContainer: false, roots });
    await finder.find();
    server.setShapes({ ollama: { models: ["a"] } });
    assert.deepEqual(await finder.find(), []);
    assert.equal(server.otherRequests.length, 1);
    assert.equal((await finder.find({ again: true })).length, 1);
    server.setShapes({});
    assert.deepEqual(await finder.find(), []);
    server.setShapes({ ollama: { models: ["a"] } });
    await clock.advance(30_001);
    assert.equal((await finder.find()).length, 1);
  });
});

describe("picker lists", () => {
  const byId = (options: Awaited<ReturnType<typeof modelOptions>>, id: string) =>
    options.providers.find((row) => row.id === id);

  test("the provider's list, then the cache, then what is bundled; the key goes along", async (t) => {
    const server = await startModelServer(t, [], { models: ["zz", "gpt-5.5"] });
    const clock = new FakeClock();
    const settings = modelSettings({
      providers: { openai: { base_url: server.baseUrl, key_env: "OPENAI_API_KEY" } },
    });
    const deps = openDeps(settings, tempDir(t), {
      clock,
      secret: secrets({ OPENAI_API_KEY: "k-123" }),
    });
    const plain = { includeUnconfigured: false, refresh: false };
    const first = byId(await modelOptions(deps, plain), "openai");
    assert.equal(first?.configured, true);
    assert.equal(server.otherRequests[0]?.headers.authorization, "Bearer k-123");
    await modelOptions(deps, plain);
    assert.equal(server.otherRequests.length, 1, "fresh for ttl_hours");
    await modelOptions(deps, { ...plain, refresh: true });
    assert.equal(server.otherRequests.length, 2);
    server.setShapes({ models: null });
    await clock.advance(25 * 3_600_000);
    assert.deepEqual(
      byId(await modelOptions(deps, plain), "openai"),
      first,
      "an old list is better than none",
    );
    const fresh = openDeps(settings, tempDir(t), { clock, secret: deps.secret });
    assert.equal(byId(await modelOptions(fresh, plain), "openai")?.models[0]?.id, "gpt-5.5");
    assert.ok(!readFileSync(join(deps.cacheDir, "model_catalog.json"), "utf8").includes("k-123"));
  });

  test("at most 50, the bundled ones first, with window and capabilities", async (t) => {
    const models = [
      ...Array.from({ length: 80 }, (_, i) => ({ id: `x/m${i}`, contextLength: 50_000 })),
      { id: "openai/gpt-5.5", contextLength: 0 },
    ];
    const server = await startModelServer(t, [], { openrouter: { models } });
    const settings = modelSettings({
      providers: { openrouter: { base_url: `${server.root}/api/v1` } },
    });
    const deps = openDeps(settings, tempDir(t), { secret: secrets({ OPENROUTER_API_KEY: "k" }) });
    const row = byId(
      await modelOptions(deps, { includeUnconfigured: false, refresh: false }),
      "openrouter",
    );
    assert.equal(row?.models.length, 50);
    assert.deepEqual(
      [row?.models[0]?.id, row?.models[0]?.context_window],
      ["openai/gpt-5.5", 400_000],
    );
    assert.deepEqual([row?.models[1]?.id, row?.models[1]?.context_window], ["x/m0", 50_000]);
    assert.equal(
      server.otherRequests[0]?.headers.authorization,
      undefined,
      "a foreign address gets no key",
    );
  });

  test("with the catalogue off nobody is asked", async (t) => {
    const server = await startModelServer(t);
    const settings = modelSettings({
      providers: { openai: { base_url: server.baseUrl, key_env: "OPENAI_API_KEY" } },
      model_catalog: { enabled: false, ttl_hours: 24 },
    });
    const deps = openDeps(settings, tempDir(t), { secret: secrets({ OPENAI_API_KEY: "k" }) });
    const row = byId(
      await modelOptions(deps, { includeUnconfigured: false, refresh: true }),
      "openai",
    );
    assert.ok((row?.models.length ?? 0) > 3);
    assert.equal(server.otherRequests.length, 0);
  });

  test("unconfigured ones only when asked for; local servers that were found", async (t) => {
    const deps = openDeps(modelSettings(), tempDir(t), { secret: secrets() });
    const ready = await modelOptions(deps, { includeUnconfigured: false, refresh: false });
    assert.deepEqual(
      ready.providers.map((row) => row.id),
      ["demo"],
    );
    const all = await modelOptions(deps, { includeUnconfigured: true, refresh: false });
    assert.deepEqual(
      all.providers.filter((row) => row.configured).map((row) => row.id),
      ["demo"],
    );
    assert.ok((byId(all, "anthropic")?.models.length ?? 0) > 3);
    const lacks = ["demo", "openai", "ollama", "lmstudio", "llamacpp", "custom"];
    assert.deepEqual(
      lacks.map((id) => byId(all, id)?.missing),
      [null, "key", "server", "server", "server", "address"],
    );
    const found = [{ kind: "ollama", base_url: `${DEAD}/v1`, models: ["a:1"] }] as const;
    const withLocal = await modelOptions(deps, {
      includeUnconfigured: false,
      refresh: false,
      found,
    });
    assert.deepEqual(
      byId(withLocal, "ollama")?.models.map((model) => model.id),
      ["a:1"],
    );
  });
});

describe("testModel", () => {
  const good: readonly (readonly [string, Reply])[] = [
    ["a word", text("ok")],
    ["only reasoning so far", answer(think("hm"), { stall: true })],
    ["a call", answer(call("x", {}))],
    ["nothing at all", REPLY.empty],
  ];
  for (const wire of ["openai-chat", "anthropic-messages"] as const) {
    for (const [name, reply] of good) {
      test(`${wire}: ${name} is an answer`, async (t) => {
        const server = await startModelServer(t, [{ reply }]);
        const deps = openDeps(settingsFor(wire, server.baseUrl), tempDir(t));
        const result = await testModel(chooseModel(deps.settings, deps.secret), deps);
        assert.deepEqual(
          { ...result, latency_ms: 0 },
          { ok: true, model: "test-model", latency_ms: 0, context_window: 100_000 },
        );
        assert.equal(server.requests.length, 1);
      });
    }
  }

  const bad: readonly (readonly [string, Reply, string, string])[] = [
    ["401", REPLY.unauthorized, "auth", "auth"],
    ["402", REPLY.noCredit, "quota", "billing"],
    ["429", rateLimited(1), "quota", "rate-limit"],
    ["404", REPLY.modelNotFound, "model", "model-missing"],
    ["500", REPLY.server, "model", "server"],
    ["400", failure(400, "x", "no"), "model", "bad-request"],
    ["a web page", REPLY.html, "connect", "garbled"],
    ["a cut", REPLY.hangUp, "connect", "network"],
  ];
  for (const [name, reply, stage, kind] of bad) {
    test(`${name} is stage ${stage}`, async (t) => {
      const server = await startModelServer(t, [{ reply }]);
      const deps = openDeps(settingsFor("openai-chat", server.baseUrl), tempDir(t));
      const result = await testModel(chooseModel(deps.settings, deps.secret), deps);
      assert.ok(!result.ok);
      assert.deepEqual([result.stage, result.kind], [stage, kind]);
      assert.ok(result.message.length > 10);
    });
  }

  test("a silent server is given up after 20 s", async (t) => {
    const server = await startModelServer(t, [{ reply: REPLY.silent }]);
    const clock = new FakeClock();
    const deps = openDeps(settingsFor("openai-chat", server.baseUrl), tempDir(t), { clock });
    const running = testModel(chooseModel(deps.settings, deps.secret), deps);
    await until("the request arrives", () => server.requests[0]);
    await clock.advance(20_001);
    const result = await running;
    assert.deepEqual(result.ok ? null : [result.stage, result.kind], ["connect", "stalled"]);
    await until("the request is closed", () => server.requests[0]?.aborted);
  });

  test("a name that does not resolve, a bad certificate, a refused port", () => {
    const stage = (code: string) => stageOf({ kind: "network", message: "", code });
    assert.deepEqual(["ENOTFOUND", "EAI_AGAIN"].map(stage), ["dns", "dns"]);
    assert.deepEqual(
      [
        "CERT_HAS_EXPIRED",
        "DEPTH_ZERO_SELF_SIGNED_CERT",
        "ERR_TLS_CERT_ALTNAME_INVALID",
        "EPROTO",
      ].map(stage),
      ["tls", "tls", "tls", "tls"],
    );
    assert.deepEqual(["ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", ""].map(stage), [
      "connect",
      "connect",
      "connect",
      "connect",
    ]);
  });

  test("a window that is too small, and the demo model", async (t) => {
    const settings = modelSettings({
      model: { default: "m", base_url: `${DEAD}/v1`, context_length: 100 },
    });
    const deps = openDeps(settings, tempDir(t));
    const small = await testModel(chooseModel(deps.settings, deps.secret), deps);
    assert.deepEqual(small.ok ? null : [small.stage, small.kind], ["model", "context"]);
    const demo = await testModel(
      chooseModel(deps.settings, deps.secret, { provider: "demo" }),
      deps,
    );
    assert.deepEqual(
      { ...demo, latency_ms: 0 },
      { ok: true, model: "demo", latency_ms: 0, context_window: 32_768 },
    );
  });
});
