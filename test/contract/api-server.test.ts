// The API server as OpenAI's own client sees it: agent.md §12.2, rows 46 and 47.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import OpenAI, { APIError, AuthenticationError, NotFoundError, RateLimitError } from "openai";
import { openApiServer } from "#gateway/adapters/api-server/adapter.ts";
import { freePort } from "../kit/free-port.ts";
import { answer, call, text } from "../kit/model-reply.ts";
import type { ScriptStep } from "../kit/model-server.ts";
import { openPlatformKit, type PlatformKit } from "../kit/platform-context.ts";
import { until } from "../kit/until.ts";

const KEY = "sixteen-characters-at-least";
const HELLO = { model: "hermes-agent", messages: [{ role: "user" as const, content: "hello" }] };

interface ApiKit extends PlatformKit {
  readonly client: OpenAI;
  readonly url: string;
  post(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

async function startApi(
  t: TestContext,
  script: readonly ScriptStep[],
  config = "",
): Promise<ApiKit> {
  const port = await freePort();
  const kit = await openPlatformKit(t, script, {
    env: { API_SERVER_KEY: KEY, API_SERVER_PORT: String(port) },
    config,
  });
  const platform = openApiServer();
  t.after(() => platform.disconnect());
  await platform.connect(kit.context, AbortSignal.timeout(10_000));
  assert.deepEqual(kit.states, [["connected", null]]);
  const url = `http://127.0.0.1:${port}`;
  const client = new OpenAI({ apiKey: KEY, baseURL: `${url}/v1`, maxRetries: 0 });
  const post: ApiKit["post"] = (body, headers = {}) =>
    fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${KEY}`,
        "Content-Type": "application/json",
        ...headers,
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  return { ...kit, client, url, post };
}

async function errorOf(work: Promise<unknown>): Promise<APIError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof APIError, String(error));
    return error;
  }
  throw new Error("it did not fail");
}

test("models: one, by its name; health without a key", async (t) => {
  const { client, url } = await startApi(t, []);
  const listed = await client.models.list();
  assert.deepEqual(
    listed.data.map((model) => model.id),
    ["hermes-agent"],
  );
  assert.equal((await client.models.retrieve("hermes-agent")).owned_by, "hermes");
  await assert.rejects(client.models.retrieve("gpt-4"), NotFoundError);
  for (const path of ["/health", "/v1/health"]) {
    const health = await fetch(url + path);
    assert.deepEqual(await health.json(), { status: "ok", platform: "hermes-agent" });
  }
  assert.equal((await fetch(`${url}/health/detailed`)).status, 401);
  const withKey = await fetch(`${url}/health/detailed`, {
    headers: { Authorization: `Bearer ${KEY}` },
  });
  assert.deepEqual(await withKey.json(), {
    status: "ok",
    platform: "hermes-agent",
    profile: "default",
    active_agents: 0,
    draining: false,
  });
});

test("a completion: client history is the context, its system text comes after ours", async (t) => {
  const { client, model, store } = await startApi(t, [{ reply: text("It is ", "Thursday.") }]);
  const { data, response } = await client.chat.completions
    .create({
      model: "hermes-agent",
      temperature: 0.2,
      max_tokens: 5,
      messages: [
        { role: "system", content: "Answer in one sentence." },
        { role: "user", content: "I am Ada." },
        { role: "assistant", content: "Hello Ada." },
        { role: "user", content: [{ type: "text", text: "What day is it?" }] },
      ],
    })
    .withResponse();
  assert.equal(data.choices[0]?.message.content, "It is Thursday.");
  assert.equal(data.choices[0]?.finish_reason, "stop");
  assert.ok((data.usage?.total_tokens ?? 0) > 0);
  assert.equal(response.headers.get("x-hermes-ignored"), "temperature, max_tokens");
  const sent = JSON.stringify(model.requests[0]?.body);
  assert.match(sent, /I am Ada\..*Hello Ada\..*What day is it\?/);
  assert.match(sent, /You are Hermes.*Answer in one sentence[.]"/);
  const id = response.headers.get("x-hermes-session-id") ?? "";
  const row = await store.getSession(id);
  assert.equal(row?.source, "api-server");
  assert.equal(model.requests.length, 1, "no title is asked for");
});

test("a session is continued by its id; only the last message is taken", async (t) => {
  const { client, model } = await startApi(t, [{ reply: text("one") }, { reply: text("two") }]);
  const first = await client.chat.completions.create(HELLO).withResponse();
  const id = first.response.headers.get("x-hermes-session-id") ?? "";
  const messages = [
    { role: "user" as const, content: "made up" },
    { role: "user" as const, content: "again" },
  ];
  const headers = { "X-Hermes-Session-Id": id };
  const second = await client.chat.completions
    .create({ model: "hermes-agent", messages }, { headers })
    .withResponse();
  assert.equal(second.data.choices[0]?.message.content, "two");
  assert.equal(second.response.headers.get("x-hermes-session-id"), id);
  const sent = JSON.stringify(model.requests[1]?.body);
  assert.match(sent, /hello.*one.*again/);
  assert.doesNotMatch(sent, /made up/);
  const gone = await errorOf(
    client.chat.completions.create(HELLO, { headers: { "X-Hermes-Session-Id": id.slice(0, 10) } }),
  );
  assert.deepEqual([gone.status, gone.code], [404, "session_not_found"]);
});

test("a stream: chunks, usage when asked for, done; tools do not disturb the client's helper", async (t) => {
  const { client } = await startApi(t, [
    { reply: answer("Let me look.", call("terminal", { command: "echo hi" })) },
    { reply: text("It said ", "hi.") },
  ]);
  const stream = client.chat.completions.stream({
    ...HELLO,
    stream_options: { include_usage: true },
  });
  const pieces: string[] = [];
  stream.on("content", (delta) => pieces.push(delta));
  const final = await stream.finalChatCompletion();
  assert.equal(pieces.join(""), "Let me look.\n\nIt said hi.");
  assert.equal(final.choices[0]?.message.content, "Let me look.\n\nIt said hi.");
  assert.equal(final.choices[0]?.finish_reason, "stop");
  assert.ok((final.usage?.prompt_tokens ?? 0) > 0);
});

test("extra events only for who asks; else comments", async (t) => {
  const script: ScriptStep[] = [
    { reply: answer(call("terminal", { command: "echo hi" })) },
    { reply: text("done") },
    { reply: answer(call("terminal", { command: "echo hi" })) },
    { reply: text("done") },
  ];
  const { post } = await startApi(t, script);
  const plain = await (await post({ ...HELLO, stream: true })).text();
  assert.doesNotMatch(plain, /^event:/m);
  assert.match(plain, /^: tool terminal$/m);
  assert.match(plain, /data: \[DONE\]\n\n$/);
  const rich = await (await post({ ...HELLO, stream: true }, { "X-Hermes-Events": "1" })).text();
  assert.match(rich, /^event: hermes\.tool-start$/m);
  assert.match(rich, /^event: hermes\.turn-end$/m);
});

test("text of an attempt that failed is not sent twice", async (t) => {
  const { client } = await startApi(t, [
    {
      reply: { parts: [{ text: "The answer " }, { cut: true }] },
    },
    { reply: text("The answer ", "is 42.") },
  ]);
  const stream = client.chat.completions.stream(HELLO);
  const final = await stream.finalChatCompletion();
  assert.equal(final.choices[0]?.message.content, "The answer is 42.");
});

test("a client that goes away aborts its turn, streaming or not", async (t) => {
  const { client, model, turns } = await startApi(t, [
    { reply: answer("Wait", { hold: "never" }) },
    { reply: answer({ hold: "never" }) },
  ]);
  const stream = await client.chat.completions.create({ ...HELLO, stream: true });
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
  stream.controller.abort();
  await until("the turn is over", () => turns.active === 0);
  await until("the model's connection was cut", () => model.requests[0]?.aborted === true);
  const gone = new AbortController();
  const waiting = client.chat.completions.create(HELLO, { signal: gone.signal });
  waiting.catch(() => undefined);
  await until("the turn runs", () => model.requests.length === 2);
  gone.abort();
  await assert.rejects(waiting);
  await until("the turn is over", () => turns.active === 0);
});

test("wrong key, unknown model, bad bodies: OpenAI's envelope", async (t) => {
  const { client, url, post } = await startApi(t, []);
  const stranger = new OpenAI({ apiKey: "wrong", baseURL: `${url}/v1`, maxRetries: 0 });
  const refused = await errorOf(stranger.chat.completions.create(HELLO));
  assert.ok(refused instanceof AuthenticationError);
  assert.equal(refused.code, "invalid_api_key");
  const unknown = await errorOf(client.chat.completions.create({ ...HELLO, model: "gpt-4" }));
  assert.deepEqual(
    [unknown.status, unknown.code, unknown.param],
    [404, "model_not_found", "model"],
  );
  const user = HELLO.messages;
  const table: readonly (readonly [unknown, string | null, number])[] = [
    ["{", null, 400],
    ["[]", null, 400],
    [{ messages: user }, "model", 400],
    [{ ...HELLO, messages: [] }, "messages", 400],
    [{ ...HELLO, messages: "hi" }, "messages", 400],
    [{ ...HELLO, messages: [...user, { role: "assistant", content: "x" }] }, "messages", 400],
    [{ ...HELLO, messages: [{ role: "user", content: "  " }] }, "messages", 400],
    [{ ...HELLO, messages: [{ role: "tool", content: "x" }] }, "messages.0.role", 400],
    [
      { ...HELLO, messages: [{ role: "user", content: [{ type: "image_url" }] }] },
      "messages.0.content",
      400,
    ],
    [{ ...HELLO, tools: [{ type: "function", function: { name: "f" } }] }, "tools", 400],
    [{ ...HELLO, n: 2 }, "n", 400],
    [{ ...HELLO, stream: "yes" }, "stream", 400],
    [{ ...HELLO, messages: [{ role: "user", content: "x".repeat(300_000) }] }, null, 413],
    [{ ...HELLO, messages: [{ role: "user", content: "x".repeat(11_000_000) }] }, null, 413],
  ];
  for (const [body, param, status] of table) {
    const response = await post(body);
    const { error } = (await response.json()) as {
      error: { type: string; param: string; message: string };
    };
    assert.equal(response.status, status, JSON.stringify(error));
    assert.equal(error.type, "invalid_request_error");
    assert.equal(error.param, param === null && status === 400 ? "" : param);
  }
  const missing = await fetch(`${url}/v1/nothing`, { headers: { Authorization: `Bearer ${KEY}` } });
  assert.equal(missing.status, 404);
});

test("eleven at once: one is told to come back", async (t) => {
  const { client, model } = await startApi(t, [{ reply: answer("a", { hold: "all" }), times: 10 }]);
  const ten = Array.from({ length: 10 }, () => client.chat.completions.create(HELLO));
  await until("ten run", () => model.requests.length === 10);
  const eleventh = await errorOf(client.chat.completions.create(HELLO));
  assert.ok(eleventh instanceof RateLimitError);
  assert.equal(eleventh.headers?.get("retry-after"), "2");
  model.release("all");
  const answers = await Promise.all(ten);
  assert.deepEqual(
    new Set(answers.map((entry) => entry.choices[0]?.message.content)),
    new Set(["a"]),
  );
});

test("a model that fails is an error of the server, in a stream too", async (t) => {
  const { client } = await startApi(t, [
    { reply: { status: 401, body: { error: { message: "no" } } }, times: 4 },
  ]);
  const whole = await errorOf(client.chat.completions.create(HELLO));
  assert.deepEqual([whole.status, whole.code], [502, "upstream_error"]);
  const stream = await client.chat.completions.create({ ...HELLO, stream: true });
  const broken = await errorOf(
    (async () => {
      for await (const chunk of stream) void chunk;
    })(),
  );
  assert.equal(broken.code, "upstream_error");
});

test("while the gateway drains nothing new begins", async (t) => {
  const { client, turns } = await startApi(t, []);
  turns.close();
  const late = await errorOf(client.chat.completions.create(HELLO));
  assert.deepEqual([late.status, late.code], [503, "shutting_down"]);
});

test("pages may call only from origins that are named exactly", async (t) => {
  const config = "platforms:\n  api_server:\n    cors_origins: [https://app.example.org]\n";
  const { url } = await startApi(t, [], config);
  const ask = async (origin: string): Promise<string | null> => {
    const preflight = await fetch(`${url}/v1/chat/completions`, {
      method: "OPTIONS",
      headers: { Origin: origin, "Access-Control-Request-Method": "POST" },
    });
    return preflight.headers.get("access-control-allow-origin");
  };
  assert.equal(await ask("https://app.example.org"), "https://app.example.org");
  assert.equal(await ask("https://app.example.org.evil.test"), null);
  assert.equal(await ask("null"), null);
});

for (const [what, env, expected] of [
  ["missing", {}, /^key missing/],
  ["short", { API_SERVER_KEY: "short" }, /^key too short/],
] as const) {
  test(`a key that is ${what}: refused with the reason, nothing listens`, async (t) => {
    const port = await freePort();
    const kit = await openPlatformKit(t, [], { env: { ...env, API_SERVER_PORT: String(port) } });
    const platform = openApiServer();
    await platform.connect(kit.context, AbortSignal.timeout(1000));
    await platform.disconnect();
    assert.equal(kit.states[0]?.[0], "refused");
    assert.match(kit.states[0]?.[1] ?? "", expected);
    await assert.rejects(fetch(`http://127.0.0.1:${port}/health`));
  });
}
