// Every row of agent.md §3.6, and that the demo model behaves like any other.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ModelEvent, ModelMessage, ModelRequest } from "#agent/ports/model-client.ts";
import { systemClock } from "#base/clock.ts";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import {
  collect,
  modelRequest,
  modelSettings,
  openDeps,
  openTestTarget,
  textOf,
} from "../../test/kit/model-settings.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { until } from "../../test/kit/until.ts";
import { createDemoClient } from "./demo.ts";
import { demoStep } from "./demo-script.ts";

const TOOLS = [
  "terminal",
  "read_file",
  "write_file",
  "search_files",
  "web_extract",
  "memory",
  "session_search",
  "todo",
  "clarify",
].map((name) => ({ name, description: name, inputSchema: { type: "object" } }));
const LABEL = "[demo model: not an AI]";

function client() {
  return createDemoClient({ clock: systemClock, delayMs: 0 });
}

function ask(text: string, changes: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
  return collect(
    client().stream(modelRequest({ messages: [{ role: "user", text }], tools: TOOLS, ...changes })),
  );
}

describe("tool rows", () => {
  const cases: readonly (readonly [string, string, object])[] = [
    ["run date -u", "terminal", { command: "date -u" }],
    ["RUN Date", "terminal", { command: "Date" }],
    ["run cat <<E\na\nE", "terminal", { command: "cat <<E\na\nE" }],
    ["read notes.md", "read_file", { path: "notes.md" }],
    ["write notes.md some text", "write_file", { path: "notes.md", content: "some text\n" }],
    ["find a b", "search_files", { pattern: "a b" }],
    ["fetch https://example.org/", "web_extract", { urls: ["https://example.org/"] }],
    ["remember I like tea", "memory", { action: "add", target: "memory", content: "I like tea" }],
    ["recall tea", "session_search", { query: "tea" }],
    [
      "todo A; B;C",
      "todo",
      {
        todos: [
          { content: "A", status: "in_progress" },
          { content: "B", status: "pending" },
          { content: "C", status: "pending" },
        ],
      },
    ],
    ["ask", "clarify", { question: "Which one shall it be?", choices: ["red", "green", "blue"] }],
  ];
  for (const [text, tool, input] of cases) {
    test(text.split("\n")[0] ?? text, async () => {
      const [made, finish, ...rest] = await ask(text);
      assert.ok(made?.type === "tool-call" && finish?.type === "finish" && rest.length === 0);
      assert.deepEqual([made.name, made.input, JSON.parse(made.inputText)], [tool, input, input]);
      assert.equal(finish.reason, "tool-calls");
    });
  }

  test("two: both in one reply, with different ids", async () => {
    const calls = (await ask("two")).filter((event) => event.type === "tool-call");
    assert.deepEqual(
      calls.map((call) => call.input),
      [{ command: "date" }, { command: "pwd" }],
    );
    assert.equal(new Set(calls.map((call) => call.callId)).size, 2);
  });

  test("a tool that is not offered is not called; nor is any when calls are forbidden", async () => {
    const missing = textOf(await ask("run date", { tools: [] }));
    assert.match(missing, /^\[demo model: not an AI\]\nThe tool terminal is not available/);
    assert.match(textOf(await ask("run date", { toolChoice: "none" })), /no more tool calls/);
  });
});

describe("results", () => {
  const cases: readonly (readonly [string, string, unknown, RegExp])[] = [
    ["run x", "terminal", { exit_code: 3, output: "a\nb\n" }, /\nThe command ended with 3:\na\nb$/],
    [
      "run x",
      "terminal",
      { exit_code: 0, output: "line\n".repeat(22) },
      /\nThe command ended with 0:\n(?:line\n){20}… and 2 more lines$/,
    ],
    [
      "run x",
      "terminal",
      { exit_code: 0, output: "line\n".repeat(21) },
      /\n(?:line\n){20}… and 1 more line$/,
    ],
    ["run x", "terminal", { exit_code: 0, output: "line\n".repeat(20) }, /:\n(?:line\n){19}line$/],
    ["run x", "terminal", { exit_code: 1, output: "\n" }, /ended with 1 and printed nothing\.$/],
    [
      "run x",
      "terminal",
      { error: "denied by user", code: "DENIED" },
      /terminal did not work: denied by user/,
    ],
    [
      "read x",
      "read_file",
      { content: "1\thello\n2\tx", total_lines: 2 },
      /2 lines; it begins: 1\thello/,
    ],
    ["read x", "read_file", { content: "", total_lines: 0 }, /has 0 lines\.$/],
    ["write x y", "write_file", { bytes: 2, created: true }, /Wrote 2 bytes into a new file/],
    [
      "find x",
      "search_files",
      { matches: [{ path: "a.ts", line: 4, text: "x" }], total: 9 },
      /Found 9 matches.*a\.ts:4 x/,
    ],
    [
      "fetch u",
      "web_extract",
      { results: [{ status: 200, title: "Example", url: "u" }] },
      /answered 200: Example/,
    ],
    ["remember x", "memory", { ok: true, used: 10, limit: 2200 }, /10 of 2200/],
    ["recall x", "session_search", { hits: [] }, /Found nothing in earlier conversations\.$/],
    [
      "recall x",
      "session_search",
      {
        hits: [
          { title: "Tea", snippet: "green >>>tea<<<" },
          { title: null, session_id: "s1", snippet: "black" },
        ],
      },
      /earlier conversations:\n- Tea: green >>>tea<<<\n- s1: black$/,
    ],
    [
      "todo a",
      "todo",
      {
        todos: [
          { content: "a", status: "completed" },
          { content: "b", status: "pending" },
        ],
      },
      /- \[x\] a\n- \[ \] b/,
    ],
    ["ask", "clarify", { answer: "green" }, /You answered: green/],
  ];
  for (const [text, tool, result, pattern] of cases) {
    test(`${text}: ${JSON.stringify(result).slice(0, 40)}`, async () => {
      const messages: ModelMessage[] = [
        { role: "user", text },
        {
          role: "assistant",
          text: "",
          toolCalls: [{ id: "demo_1_0", name: tool, arguments: "{}" }],
        },
        { role: "tool", callId: "demo_1_0", name: tool, content: JSON.stringify(result) },
      ];
      const said = textOf(await ask(text, { messages }));
      assert.ok(said.startsWith(`${LABEL}\n`));
      assert.match(said, pattern);
    });
  }

  test("only the first 20 lines of a command", async () => {
    const output = Array.from({ length: 50 }, (_, i) => `line${i}`).join("\n");
    const messages: ModelMessage[] = [
      { role: "user", text: "run x" },
      { role: "assistant", text: "", toolCalls: [{ id: "c", name: "terminal", arguments: "{}" }] },
      {
        role: "tool",
        callId: "c",
        name: "terminal",
        content: JSON.stringify({ exit_code: 0, output }),
      },
    ];
    const said = textOf(await ask("run x", { messages }));
    assert.ok(said.includes("line19") && !said.includes("line20"));
  });

  test("two results are told in order; call ids never repeat in a history", async () => {
    const calls = ["demo_1_0", "demo_1_1"].map((id) => ({ id, name: "terminal", arguments: "{}" }));
    const result = (callId: string, output: string): ModelMessage => ({
      role: "tool",
      callId,
      name: "terminal",
      content: JSON.stringify({ exit_code: 0, output }),
    });
    const history: ModelMessage[] = [
      { role: "user", text: "two" },
      { role: "assistant", text: "", toolCalls: calls },
      result("demo_1_0", "FIRST"),
      result("demo_1_1", "SECOND"),
    ];
    const said = textOf(await ask("two", { messages: history }));
    assert.ok(said.indexOf("FIRST") > 0 && said.indexOf("FIRST") < said.indexOf("SECOND"));
    const shortened: ModelMessage[] = [
      {
        role: "assistant",
        text: "",
        toolCalls: [{ id: "demo_2_0", name: "terminal", arguments: "{}" }],
      },
    ];
    const next = await ask("run x", { messages: [...shortened, { role: "user", text: "run x" }] });
    assert.equal(next[0]?.type === "tool-call" ? next[0].callId : null, "demo_3_0");
  });
});

describe("text rows", () => {
  test("anything else: what was said, the table, the way to a real model", async () => {
    const said = textOf(await ask("Good morning"));
    assert.ok(said.startsWith(`${LABEL}\nYou said: Good morning`));
    for (const part of ["`run CMD`", "`fail KIND`", "`slow SECONDS`", "hermes model"])
      assert.ok(said.includes(part), part);
    assert.ok(textOf(await ask("help")).includes("`think`"));
  });

  test("a long text is not repeated whole", async () => {
    assert.ok(textOf(await ask("x".repeat(5000))).length < 2500);
  });

  const streams = [
    ["stream", 200],
    ["stream 3", 3],
    ["STREAM 99999", 2000],
    ["stream 0", 1],
  ] as const;
  for (const [text, words] of streams) {
    test(text, async () => {
      const deltas = (await ask(text)).filter((event) => event.type === "text-delta");
      const said = deltas.map((event) => event.text).join("");
      assert.equal(said.match(/word\d+/g)?.length, words);
      assert.ok(said.endsWith(`word${words}`));
      assert.ok(deltas.length >= words, "word by word");
    });
  }

  test("think: three reasoning deltas, then a line", async () => {
    const events = await ask("think");
    assert.deepEqual(
      events.slice(0, 3).map((event) => event.type),
      ["reasoning-delta", "reasoning-delta", "reasoning-delta"],
    );
    assert.ok(textOf(events).startsWith(LABEL));
  });

  test("usage is characters / 4", async () => {
    const events = await ask("hello", {
      system: "x".repeat(95),
      messages: [{ role: "user", text: "hello" }],
    });
    const finish = events.at(-1);
    assert.ok(finish?.type === "finish");
    assert.deepEqual(
      [finish.usage.input, finish.usage.output],
      [25, Math.ceil(textOf(events).length / 4)],
    );
  });

  test("the same question has the same answer", async () => {
    assert.deepEqual(await ask("two"), await ask("two"));
    assert.deepEqual(await ask("stream 20"), await ask("stream 20"));
  });
});

describe("fail KIND", () => {
  const kinds = [
    "auth",
    "billing",
    "model-missing",
    "rate-limit",
    "overloaded",
    "server",
    "network",
    "stalled",
    "context",
    "filtered",
    "garbled",
    "empty",
    "bad-request",
    "aborted",
  ];
  for (const kind of kinds) {
    test(`${kind}: once, then it succeeds, then it fails again`, async () => {
      const demo = client();
      const outcome = async (): Promise<string> => {
        const last = (
          await collect(
            demo.stream(modelRequest({ messages: [{ role: "user", text: `fail ${kind}` }] })),
          )
        ).at(-1);
        return last?.type === "error" ? last.error.kind : (last?.type ?? "");
      };
      assert.deepEqual([await outcome(), await outcome(), await outcome()], [kind, "finish", kind]);
    });
  }

  test("the text after one that failed for good is answered, not failed again", async () => {
    assert.match(textOf(await ask("fail auth\n\nhello there")), /You said: hello there/);
  });

  test("an unknown kind lists the known ones", async () => {
    assert.match(textOf(await ask("fail loudly")), /rate-limit.*bad-request/);
  });
});

describe("time", () => {
  test("15 ms between words by the injected clock; slow: a second each", async (t) => {
    for (const [text, pause] of [
      ["stream 3", 15],
      ["slow 3", 1000],
    ] as const) {
      const clock = new FakeClock();
      const deps = openDeps(modelSettings({ model: { provider: "demo" } }), tempDir(t), { clock });
      const target = await openTestTarget(deps);
      assert.deepEqual(
        [target.provider, target.model, target.demo, target.contextWindow],
        ["demo", "demo", true, 32_768],
      );
      const events: ModelEvent[] = [];
      const running = (async () => {
        for await (const event of target.client.stream(
          modelRequest({ messages: [{ role: "user", text }] }),
        ))
          events.push(event);
      })();
      await until("the first pause", () => clock.pending === 1);
      assert.equal(events.length, 1);
      await clock.advance(pause - 1);
      assert.equal(events.length, 1);
      await clock.advance(1);
      assert.equal(events.length, 2);
      await clock.advance(60_000);
      await running;
      assert.equal(events.at(-1)?.type, "finish");
    }
  });

  test("`slow` is at most 120 words", () => {
    const step = demoStep("slow 9999");
    assert.ok("wordMs" in step && step.wordMs === 1000);
    assert.equal(step.say.split(" ").length, 120);
  });

  test("an abort ends it at once, in a pause and before it began", async () => {
    const clock = new FakeClock();
    const abort = new AbortController();
    const demo = createDemoClient({ clock });
    const running = collect(
      demo.stream(
        modelRequest({ messages: [{ role: "user", text: "slow 60" }], signal: abort.signal }),
      ),
    );
    await until("the first pause", () => clock.pending === 1);
    abort.abort(new Error("interrupted"));
    const events = await running;
    const last = events.at(-1);
    assert.equal(last?.type === "error" ? last.error.kind : null, "aborted");
    assert.equal(clock.pending, 0, "no timer is left");
    const never = await ask("hello", { signal: AbortSignal.abort() });
    assert.deepEqual(
      never.map((event) => event.type),
      ["error"],
    );
  });
});
