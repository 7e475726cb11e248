// The scripted model server itself: a test that leans on it has to be able to fail.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, test } from "node:test";
import { answer, call, REPLY, text } from "./model-reply.ts";
import { startModelServer, type ModelServer } from "./model-server.ts";
import { tempDir } from "./temp-dir.ts";
import { until } from "./until.ts";

type Message = Readonly<Record<string, unknown>>;

const TOOLS = [{ type: "function", function: { name: "terminal", parameters: {} } }];

function send(
  server: ModelServer,
  messages: readonly Message[],
  changes: object = {},
  path = "chat/completions",
): Promise<Response> {
  const body = JSON.stringify({ model: "m", stream: true, messages, tools: TOOLS, ...changes });
  return fetch(`${server.baseUrl}/${path}`, { method: "POST", body });
}

async function sendAll(
  server: ModelServer,
  requests: readonly (readonly Message[])[],
  changes: readonly object[] = [],
): Promise<void> {
  for (const [index, messages] of requests.entries())
    await (await send(server, messages, changes[index] ?? {})).text();
}

const SYSTEM = { role: "system", content: "S" };
const USER = { role: "user", content: "hi" };
const CALL = {
  role: "assistant",
  content: "",
  tool_calls: [{ id: "c1", type: "function", function: { name: "terminal", arguments: "{}" } }],
};
const RESULT = { role: "tool", tool_call_id: "c1", content: "r" };
const SAID = { role: "assistant", content: "said" };

describe("script", () => {
  test("steps in order, the first that fits; each as often as it says", async (t) => {
    const server = await startModelServer(t, [
      { when: { systemIncludes: "title" }, times: Infinity, reply: text("T") },
      { reply: text("one") },
      {
        when: (request) => request.lastUserText === "b",
        reply: (request) => text(`got ${request.lastUserText}`),
      },
    ]);
    assert.match(await (await send(server, [USER])).text(), /one/);
    assert.match(
      await (await send(server, [{ role: "system", content: "a title" }, USER])).text(),
      /"T"/,
    );
    assert.throws(() => server.assertDone(), /1 steps/);
    assert.match(await (await send(server, [{ role: "user", content: "b" }])).text(), /got b/);
    server.assertDone();
  });

  test("a request without a step gets 500 and fails the test", async () => {
    const ends: (() => void | Promise<void>)[] = [];
    const server = await startModelServer({ after: (run) => void ends.push(run) }, []);
    assert.equal((await send(server, [USER])).status, 500);
    await assert.rejects(async () => {
      for (const end of ends) await end();
    }, /requests without a step/);
  });

  test("it records what came and how it ended", async (t) => {
    const server = await startModelServer(t, [{ reply: text("x") }, { reply: REPLY.silent }]);
    await (await send(server, [SYSTEM, USER, CALL, RESULT], { tool_choice: "none" })).text();
    const [first] = server.requests;
    assert.deepEqual(
      [
        first?.wire,
        first?.path,
        first?.system,
        first?.toolNames,
        first?.toolChoice,
        first?.lastUserText,
        first?.model,
      ],
      ["openai-chat", "/v1/chat/completions", "S", ["terminal"], "none", "hi", "m"],
    );
    await until("it is answered", () => first?.answered);
    assert.equal(first?.aborted, false);
    const abort = new AbortController();
    const body = JSON.stringify({ messages: [USER] });
    const running = fetch(`${server.baseUrl}/messages`, {
      method: "POST",
      body,
      signal: abort.signal,
    });
    await until("it arrives", () => server.requests[1]);
    abort.abort();
    await assert.rejects(running);
    await until("the server sees it", () => server.requests[1]?.aborted);
  });

  test("an answer waits where it is held, and is cut where it says", async (t) => {
    const server = await startModelServer(t, [
      { reply: answer("a", { hold: "gate" }, "b") },
      { reply: { ...text("a long answer"), cutAfterBytes: 200 } },
    ]);
    const held = await send(server, [USER]);
    const reader = held.body?.getReader();
    assert.ok(reader);
    let seen = "";
    while (!seen.includes('"a"')) seen += Buffer.from((await reader.read()).value ?? []).toString();
    assert.ok(!seen.includes('"b"'));
    server.release("gate");
    while (!seen.includes("[DONE]"))
      seen += Buffer.from((await reader.read()).value ?? []).toString();
    assert.ok(seen.includes('"b"'));
    await assert.rejects(send(server, [USER]).then((response) => response.text()));
    assert.equal(server.requests[1]?.aborted, false, "a cut of ours is no abort");
  });
});

describe("invariants", () => {
  const good: readonly (readonly [string, readonly (readonly Message[])[]])[] = [
    [
      "a conversation that grows",
      [
        [SYSTEM, USER],
        [SYSTEM, USER, CALL, RESULT],
        [SYSTEM, USER, CALL, RESULT, SAID, { role: "user", content: "more" }],
      ],
    ],
    [
      "the same request again",
      [
        [SYSTEM, USER],
        [SYSTEM, USER],
      ],
    ],
    [
      "an unanswered user text that was joined",
      [
        [SYSTEM, USER],
        [SYSTEM, { role: "user", content: "hi\n\nagain" }],
      ],
    ],
    ["results and then a user", [[SYSTEM, USER, CALL, RESULT, { role: "user", content: "stop" }]]],
    [
      "two conversations",
      [
        [SYSTEM, USER],
        [
          { role: "system", content: "other" },
          { role: "user", content: "elsewhere" },
        ],
      ],
    ],
  ];
  for (const [name, requests] of good) {
    test(`holds: ${name}`, async (t) => {
      const server = await startModelServer(t, [{ reply: text("x"), times: Infinity }]);
      await sendAll(server, requests);
      server.assertInvariants();
    });
  }

  const bad: readonly (readonly [
    string,
    RegExp,
    readonly (readonly Message[])[],
    (readonly object[])?,
  ])[] = [
    [
      "another system prompt",
      /I1.*system prompt/,
      [
        [SYSTEM, USER],
        [{ role: "system", content: "T" }, USER],
      ],
    ],
    [
      "other tools",
      /I1.*tools/,
      [
        [SYSTEM, USER],
        [SYSTEM, USER],
      ],
      [{}, { tools: [{ ...TOOLS[0], extra: 1 }] }],
    ],
    [
      "a changed message",
      /I1.*message 1/,
      [
        [SYSTEM, USER, SAID, { role: "user", content: "b" }],
        [SYSTEM, USER, { role: "assistant", content: "other" }, { role: "user", content: "b" }],
      ],
    ],
    [
      "a lost message",
      /I1/,
      [
        [SYSTEM, USER, SAID, { role: "user", content: "b" }],
        [SYSTEM, USER],
      ],
    ],
    ["two users in a row", /I2.*two user/, [[SYSTEM, USER, { role: "user", content: "b" }]]],
    ["two assistants in a row", /I2.*two assistant/, [[SYSTEM, USER, SAID, SAID]]],
    [
      "an empty assistant",
      /I2.*empty/,
      [[SYSTEM, USER, { role: "assistant", content: "" }, { role: "user", content: "b" }]],
    ],
    ["no user first", /I2.*begin/, [[SYSTEM, SAID]]],
    ["an unanswered call", /I3/, [[SYSTEM, USER, CALL, { role: "user", content: "b" }]]],
    ["a result twice", /I3/, [[SYSTEM, USER, CALL, RESULT, RESULT]]],
    ["a result of no call", /I3/, [[SYSTEM, USER, SAID, RESULT]]],
  ];
  for (const [name, pattern, requests, changes] of bad) {
    test(`fails: ${name}`, async (t) => {
      const server = await startModelServer(t, [{ reply: text("x"), times: Infinity }]);
      await sendAll(server, requests, changes);
      assert.throws(() => server.assertInvariants(), pattern);
    });
  }

  test("a compression begins anew where the test says so", async (t) => {
    const server = await startModelServer(t, [{ reply: text("x"), times: Infinity }]);
    await sendAll(server, [
      [SYSTEM, USER, SAID, { role: "user", content: "b" }],
      [{ role: "system", content: "new" }, USER],
    ]);
    assert.throws(() => server.assertInvariants(), /I1/);
    server.assertInvariants({ newSessionAt: [1] });
  });

  test("both wires read alike", async (t) => {
    const server = await startModelServer(t, [{ reply: text("x"), times: Infinity }]);
    await (await send(server, [SYSTEM, USER, CALL, RESULT])).text();
    const anthropic = [
      {
        role: "user",
        content: [{ type: "text", text: "hi", cache_control: { type: "ephemeral" } }],
      },
      { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "terminal", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "r" }] },
    ];
    await (
      await send(
        server,
        anthropic,
        { system: [{ type: "text", text: "S" }], tools: [{ name: "terminal" }] },
        "messages",
      )
    ).text();
    const [one, two] = server.requests;
    assert.deepEqual(
      [two?.system, two?.messages, two?.toolNames],
      [one?.system, one?.messages, one?.toolNames],
    );
  });
});

test("as a program of its own", async (t) => {
  const dir = tempDir(t);
  const script = join(dir, "script.json");
  writeFileSync(
    script,
    JSON.stringify([{ times: "always", reply: answer("Hi", call("terminal", { command: "x" })) }]),
  );
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "model-server-main.ts"), script],
    { stdio: ["pipe", "pipe", "inherit"] },
  );
  t.after(() => child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const { port } = JSON.parse(String((await lines.next()).value)) as { port: number };
  const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", messages: [USER] }),
  });
  assert.match(await response.text(), /"Hi"/);
  const seen = JSON.parse(String((await lines.next()).value)) as {
    path: string;
    body: { model: string };
  };
  assert.deepEqual([seen.path, seen.body.model], ["/v1/chat/completions", "m"]);
  child.stdin.end();
  assert.deepEqual(await once(child, "exit"), [0, null]);
});
