// The facts of agent.md §3.1 about the installed `ai` 7, each against the scripted server on both wires.
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type {
  ModelEvent,
  ModelMessage,
  ModelRequest,
  ToolSpec,
} from "#agent/ports/model-client.ts";
import {
  answer,
  call,
  contextError,
  failure,
  rateLimited,
  REPLY,
  text,
  think,
  type Answer,
  type ContextWording,
  type Reply,
} from "../../test/kit/model-reply.ts";
import { startModelServer, type ModelServer } from "../../test/kit/model-server.ts";
import {
  collect,
  modelRequest,
  openDeps,
  openTestTarget,
  settingsFor,
  TEST_KEY,
  textOf,
} from "../../test/kit/model-settings.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { until } from "../../test/kit/until.ts";

const WIRES = ["openai-chat", "anthropic-messages"] as const;
type Wire = (typeof WIRES)[number];

const TERMINAL: ToolSpec = {
  name: "terminal",
  description: "Runs a command",
  inputSchema: {
    type: "object",
    properties: { command: { type: "string" } },
    required: ["command"],
  },
};

async function ask(
  t: TestContext,
  wire: Wire,
  reply: Reply,
  changes: Partial<ModelRequest> = {},
): Promise<{ readonly events: ModelEvent[]; readonly server: ModelServer }> {
  const server = await startModelServer(t, [{ reply }]);
  const target = await openTestTarget(openDeps(settingsFor(wire, server.baseUrl), tempDir(t)));
  const events = await collect(
    target.client.stream(modelRequest({ tools: [TERMINAL], ...changes })),
  );
  assert.equal(
    events.filter((event) => event.type === "finish" || event.type === "error").length,
    1,
    "one last event",
  );
  assert.match(events.at(-1)?.type ?? "", /finish|error/);
  return { events, server };
}

/** More output than the model can give: the SDK warns of that. */
async function askWithWarning(t: TestContext, wire: Wire): Promise<void> {
  const server = await startModelServer(t, [{ reply: text("x") }]);
  const settings = settingsFor(wire, server.baseUrl, "claude-sonnet-4-5");
  const target = await openTestTarget(openDeps(settings, tempDir(t)));
  await collect(target.client.stream(modelRequest({ maxOutputTokens: 999_999 })));
}

function errorOf(events: readonly ModelEvent[]) {
  const last = events.at(-1);
  assert.equal(last?.type, "error", JSON.stringify(last));
  return last.error;
}

for (const wire of WIRES) {
  describe(wire, () => {
    test("text, two calls with split arguments, one request, calls not run", async (t) => {
      const reply = {
        ...answer(
          "Let me ",
          "look.",
          call("terminal", { command: 'say "hi"\n' }, { split: 7 }),
          call("terminal", { command: "pwd" }),
        ),
        usage: { input: 100, output: 20, cacheRead: 60, reasoning: 4 },
      };
      const { events, server } = await ask(t, wire, reply);
      assert.equal(server.requests.length, 1);
      const usage = {
        input: 100,
        output: 20,
        cacheRead: 60,
        cacheWrite: 0,
        reasoning: wire === "openai-chat" ? 4 : 0,
      };
      assert.deepEqual(events, [
        { type: "text-delta", text: "Let me " },
        { type: "text-delta", text: "look." },
        {
          type: "tool-call",
          callId: "call_0_0",
          name: "terminal",
          input: { command: 'say "hi"\n' },
          inputText: '{"command":"say \\"hi\\"\\n"}',
        },
        {
          type: "tool-call",
          callId: "call_0_1",
          name: "terminal",
          input: { command: "pwd" },
          inputText: '{"command":"pwd"}',
        },
        { type: "finish", reason: "tool-calls", usage },
      ]);
    });

    test("an unknown tool is no invalid call; unparsable arguments are", async (t) => {
      const { events } = await ask(
        t,
        wire,
        answer(call("nosuch", { a: 1 }), call("terminal", '{"command": "x')),
      );
      const [unknown, broken, finish] = events;
      assert.ok(
        unknown?.type === "tool-call" && broken?.type === "tool-call" && finish?.type === "finish",
      );
      assert.deepEqual(
        [unknown.name, unknown.input, unknown.invalid],
        ["nosuch", { a: 1 }, undefined],
      );
      assert.deepEqual([broken.input, broken.inputText], [{}, '{"command": "x']);
      assert.match(broken.invalid ?? "", /JSON/);
    });

    test("deep arguments are invalid; those without a floor make the answer unusable", async (t) => {
      const nested = (levels: number) => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
      const { events } = await ask(t, wire, answer(call("terminal", nested(200))));
      const [deep, finish] = events;
      assert.ok(deep?.type === "tool-call" && finish?.type === "finish");
      assert.deepEqual([deep.input, deep.inputText], [{}, nested(200)]);
      assert.match(deep.invalid ?? "", /levels deep/);
      const last = (await ask(t, wire, answer(call("terminal", nested(20_000))))).events.at(-1);
      assert.equal(last?.type === "error" ? last.error.kind : last?.type, "garbled");
    });

    test("a call without arguments has an empty object", async (t) => {
      const { events } = await ask(t, wire, answer(call("terminal", "")));
      assert.deepEqual(events[0]?.type === "tool-call" ? events[0].input : null, {});
    });

    test("reasoning comes as its own deltas", async (t) => {
      const { events } = await ask(t, wire, answer(think(["Hm", "m."], "sig-a"), "Yes."));
      assert.deepEqual(events.slice(0, 3), [
        { type: "reasoning-delta", text: "Hm" },
        { type: "reasoning-delta", text: "m." },
        { type: "text-delta", text: "Yes." },
      ]);
    });

    const garbledCases: readonly (readonly [string, Answer | Reply, string])[] = [
      ["a garbage line and then stop", answer("Hello", { garbage: "{nonsense" }, " more"), "Hello"],
      ["no finish reason", { ...text("Hello"), finish: null }, "Hello"],
      ["an end in the middle", { ...text("Hello"), finish: null, done: false }, "Hello"],
      ["a web page", REPLY.html, ""],
      ["JSON instead of a stream", { status: 200, body: { choices: [] } }, ""],
    ];
    for (const [name, reply, shown] of garbledCases) {
      test(`garbled: ${name}`, async (t) => {
        const { events } = await ask(t, wire, reply);
        assert.equal(errorOf(events).kind, "garbled");
        assert.equal(textOf(events), shown, "nothing comes after the error");
      });
    }

    test("a web page names the base URL as the suspect", async (t) => {
      const { events } = await ask(t, wire, REPLY.html);
      assert.match(errorOf(events).message, /web page.*base URL/);
    });

    test("empty: an end with neither text nor call; filtered; length", async (t) => {
      assert.equal(errorOf((await ask(t, wire, REPLY.empty)).events).kind, "empty");
      assert.equal(
        errorOf((await ask(t, wire, { ...text("x"), finish: "content-filter" })).events).kind,
        "filtered",
      );
      const cut = (await ask(t, wire, { ...text("x"), finish: "length" })).events.at(-1);
      assert.equal(cut?.type === "finish" ? cut.reason : null, "length");
    });

    test("calls make it tool-calls whatever the server says", async (t) => {
      const { events } = await ask(t, wire, {
        ...answer(call("terminal", { command: "x" })),
        finish: "stop",
      });
      const last = events.at(-1);
      assert.equal(last?.type === "finish" ? last.reason : null, "tool-calls");
    });

    const failures: readonly (readonly [string, Reply, object])[] = [
      ["401", REPLY.unauthorized, { kind: "auth", status: 401 }],
      ["403", failure(403, "permission_error", "No."), { kind: "auth", status: 403 }],
      ["402", REPLY.noCredit, { kind: "billing", status: 402 }],
      ["429 for want of quota", REPLY.noQuota, { kind: "billing", status: 429 }],
      ["404", REPLY.modelNotFound, { kind: "model-missing", status: 404 }],
      ["429 with seconds", rateLimited(2), { kind: "rate-limit", status: 429, retryAfterMs: 2000 }],
      ["429 without", rateLimited(), { kind: "rate-limit", status: 429 }],
      ["503", failure(503, "api_error", "busy"), { kind: "overloaded", status: 503 }],
      ["529", REPLY.overloaded, { kind: "overloaded", status: 529 }],
      ["500", REPLY.server, { kind: "server", status: 500 }],
      [
        "502 with a page",
        { status: 502, headers: { "content-type": "text/html" }, body: "<html>Bad gateway" },
        { kind: "server", status: 502 },
      ],
      ["408", failure(408, "timeout", "slow"), { kind: "server", status: 408 }],
      ["409", failure(409, "conflict", "again"), { kind: "server", status: 409 }],
      ["425", failure(425, "early", "again"), { kind: "server", status: 425 }],
      [
        "400",
        failure(400, "invalid_request_error", "Bad field."),
        { kind: "bad-request", status: 400 },
      ],
      [
        "422",
        failure(422, "invalid_request_error", "Bad field."),
        { kind: "bad-request", status: 422 },
      ],
      [
        "a redirect",
        { status: 307, headers: { location: "http://127.0.0.1:1/" } },
        { kind: "bad-request", status: 307 },
      ],
    ];
    for (const [name, reply, expected] of failures) {
      test(`status: ${name}`, async (t) => {
        const { events, server } = await ask(t, wire, reply);
        assert.equal(events.length, 1);
        assert.equal(server.requests.length, 1, "never retried");
        const { message, logDetail: _raw, ...facts } = errorOf(events);
        assert.deepEqual(facts, expected);
        assert.ok(message.length > 10 && !message.includes(TEST_KEY));
      });
    }

    for (const wording of [
      "openai",
      "anthropic",
      "llamacpp",
      "ollama",
    ] as const satisfies readonly ContextWording[]) {
      test(`context in the words of ${wording}`, async (t) => {
        const error = errorOf((await ask(t, wire, contextError(wording, 8192))).events);
        assert.deepEqual([error.kind, error.contextLimit], ["context", 8192]);
      });
    }

    test("an error in mid-stream ends the attempt with its own kind", async (t) => {
      const reply = answer(
        "Hel",
        { error: { type: "overloaded_error", message: "Overloaded" } },
        "lo",
      );
      const { events } = await ask(t, wire, reply);
      assert.equal(errorOf(events).kind, "overloaded");
      assert.equal(textOf(events), "Hel");
    });

    test("a cut socket is the network's fault, before the headers and after text", async (t) => {
      assert.equal(errorOf((await ask(t, wire, REPLY.hangUp)).events).code, "ECONNRESET");
      const after = (await ask(t, wire, answer("Hello", { wait: 20 }, { cut: true }))).events;
      assert.deepEqual([textOf(after), errorOf(after).kind], ["Hello", "network"]);
    });

    test("abort: one error `aborted` within a second, the request is closed", async (t) => {
      for (const reply of [answer("Hello", { stall: true }), REPLY.silent] as const) {
        const server = await startModelServer(t, [{ reply }]);
        const target = await openTestTarget(
          openDeps(settingsFor(wire, server.baseUrl), tempDir(t)),
        );
        const abort = new AbortController();
        const running = collect(target.client.stream(modelRequest({ signal: abort.signal })));
        await until("the request arrives", () => server.requests[0]);
        const from = performance.now();
        abort.abort(new Error("interrupted"));
        assert.equal(errorOf(await running).kind, "aborted");
        assert.ok(performance.now() - from < 15_000);
        await until("the server sees it", () => server.requests[0]?.aborted);
      }
    });

    test("an already aborted signal makes no request", async (t) => {
      const server = await startModelServer(t);
      const target = await openTestTarget(openDeps(settingsFor(wire, server.baseUrl), tempDir(t)));
      const events = await collect(
        target.client.stream(modelRequest({ signal: AbortSignal.abort() })),
      );
      assert.deepEqual(
        [events.length, errorOf(events).kind, server.requests.length],
        [1, "aborted", 0],
      );
    });

    test("leaving the stream early closes the request", async (t) => {
      const server = await startModelServer(t, [{ reply: answer("Hello", { stall: true }) }]);
      const target = await openTestTarget(openDeps(settingsFor(wire, server.baseUrl), tempDir(t)));
      for await (const event of target.client.stream(modelRequest())) {
        assert.equal(event.type, "text-delta");
        break;
      }
      await until("the server sees it", () => server.requests[0]?.aborted);
    });

    test("signs of life: headers, and arguments that make no event", async (t) => {
      let signs = 0;
      const onProgress = (): void => {
        signs += 1;
      };
      await ask(t, wire, answer(call("terminal", { command: "a long one" }, { split: 6 })), {
        onProgress,
      });
      assert.ok(signs >= 7, `${signs} signs`);
      signs = 0;
      await ask(t, wire, text("x"), { onProgress });
      assert.equal(signs, 1);
    });

    test("tool_choice none leaves the tools on the wire; no tools, no choice", async (t) => {
      const { server } = await ask(t, wire, text("x"), { toolChoice: "none" });
      assert.deepEqual(
        [server.requests[0]?.toolChoice, server.requests[0]?.toolNames],
        ["none", ["terminal"]],
      );
      const bare = await ask(t, wire, text("x"), { tools: [] });
      assert.deepEqual(
        [bare.server.requests[0]?.toolChoice, bare.server.requests[0]?.toolNames],
        ["", []],
      );
    });

    test("tools keep their order", async (t) => {
      const names = ["zeta", "alpha", "mid"];
      const tools = names.map((name) => ({ ...TERMINAL, name }));
      assert.deepEqual(
        (await ask(t, wire, text("x"), { tools })).server.requests[0]?.toolNames,
        names,
      );
    });

    test("an unanswered call in the history fails without a request", async (t) => {
      const server = await startModelServer(t);
      const target = await openTestTarget(openDeps(settingsFor(wire, server.baseUrl), tempDir(t)));
      const toolCalls = [{ id: "call_1", name: "terminal", arguments: "{}" }];
      const messages: ModelMessage[] = [
        { role: "user", text: "a" },
        { role: "assistant", text: "", toolCalls },
        { role: "user", text: "b" },
      ];
      const events = await collect(target.client.stream(modelRequest({ messages })));
      assert.equal(server.requests.length, 0);
      assert.equal(errorOf(events).kind, "bad-request");
    });

    test("effort is sent only when it is set", async (t) => {
      const plain = (await ask(t, wire, text("x"))).server.requests[0]?.body ?? {};
      assert.deepEqual([plain["reasoning_effort"], plain["thinking"]], [undefined, undefined]);
      const body =
        (await ask(t, wire, text("x"), { effort: "high" })).server.requests[0]?.body ?? {};
      if (wire === "openai-chat") assert.equal(body["reasoning_effort"], "high");
      else assert.equal((body["thinking"] as { type: string }).type, "enabled");
    });

    test("output limit: always on the Anthropic wire, elsewhere only when asked for", async (t) => {
      const plain = (await ask(t, wire, text("x"))).server.requests[0]?.body ?? {};
      assert.equal(plain["max_tokens"], wire === "openai-chat" ? undefined : 16_384);
      const asked =
        (await ask(t, wire, text("x"), { maxOutputTokens: 99 })).server.requests[0]?.body ?? {};
      assert.equal(asked["max_tokens"], 99);
    });

    test("nothing reaches stderr, no promise is left unhandled", async (t) => {
      const seen: string[] = [];
      const onWarning = (warning: Error): void => void seen.push(warning.message);
      const onRejection = (reason: unknown): void => void seen.push(String(reason));
      const consoleError = t.mock.method(console, "error", () => undefined);
      const consoleWarn = t.mock.method(console, "warn", () => undefined);
      process.on("warning", onWarning).on("unhandledRejection", onRejection);
      t.after(() => process.off("warning", onWarning).off("unhandledRejection", onRejection));
      for (const reply of [
        REPLY.server,
        REPLY.hangUp,
        answer("x", { cut: true }),
        REPLY.html,
        answer(call("nosuch", "{")),
      ]) {
        await ask(t, wire, reply, { effort: "high" });
      }
      await askWithWarning(t, wire);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      assert.deepEqual(
        [seen, consoleError.mock.callCount(), consoleWarn.mock.callCount()],
        [[], 0, 0],
      );
    });

    test("the provider's raw body stands in the log detail only, the key nowhere", async (t) => {
      const leak = failure(
        401,
        "authentication_error",
        `Incorrect API key provided: ${TEST_KEY}. Visit the site.`,
      );
      const error = errorOf((await ask(t, wire, leak)).events);
      assert.ok(!error.message.includes("Incorrect API key provided"));
      assert.match(
        error.message,
        /TEST_KEY.*rejected by 127\.0\.0\.1:\d+.*hermes config set TEST_KEY/,
      );
      assert.match(error.logDetail ?? "", /Incorrect API key provided: \[REDACTED\]/);
      const bad = errorOf(
        (await ask(t, wire, failure(400, "x", `no ${TEST_KEY} ${"long ".repeat(200)}`))).events,
      );
      assert.ok(!bad.message.includes(TEST_KEY) && bad.message.length < 400, bad.message);
    });
  });
}

test("a refused connection names host and code", async (t) => {
  const server = await startModelServer(t);
  const { root } = server;
  await server.close();
  const target = await openTestTarget(
    openDeps(settingsFor("openai-chat", `${root}/v1`), tempDir(t)),
  );
  const error = errorOf(await collect(target.client.stream(modelRequest())));
  assert.deepEqual([error.kind, error.code], ["network", "ECONNREFUSED"]);
  assert.equal(error.message, `Cannot reach ${root.slice("http://".length)}: ECONNREFUSED.`);
});

test("extra headers and body fields go out; without a key none is sent", async (t) => {
  for (const wire of WIRES) {
    const server = await startModelServer(t, [{ reply: text("x") }]);
    const settings = settingsFor(wire, server.baseUrl);
    const provider = settings.model.provider;
    const own = { extra_headers: { "x-title": "Hermes" }, extra_body: { seed: 7 } };
    const target = await openTestTarget(
      openDeps({ ...settings, providers: { [provider]: own } }, tempDir(t)),
    );
    await collect(target.client.stream(modelRequest()));
    const seen = server.requests[0];
    assert.deepEqual([seen?.headers["x-title"], seen?.body["seed"]], ["Hermes", 7], wire);
    assert.deepEqual(
      [seen?.headers.authorization, seen?.headers["x-api-key"]],
      [undefined, undefined],
      wire,
    );
  }
});
