// The turn from outside: events, rows and requests of scripted conversations (agent.md §4.3, §12.2 rows 11–19).
import assert from "node:assert/strict";
import { test } from "node:test";
import { HermesError } from "#base/errors.ts";
import { until } from "../../test/kit/until.ts";
import { fakeTool } from "../../test/kit/fake-tools.ts";
import {
  callStep,
  callsStep,
  errorStep,
  hangStep,
  scriptedTarget,
  ScriptedModel,
  textStep,
} from "../../test/kit/scripted-model.ts";
import { assertInvariants, SESSION, turnKit } from "../../test/kit/turn-kit.ts";
import { NO_USAGE } from "#protocol/messages.ts";
import type { AgentEventBody } from "#protocol/events.ts";

const echo = fakeTool("echo", { run: (input) => ({ echoed: input }) });

test("an answer without calls: user row, request, final row and turn row, then turn-end", async () => {
  const kit = await turnKit({ steps: [textStep("Hello there.")] });
  const end = await kit.run("hi");
  assert.deepEqual(
    { outcome: end.outcome, text: end.text, error: end.error, apiCalls: end.apiCalls },
    { outcome: "done", text: "Hello there.", error: null, apiCalls: 1 },
  );
  const rows = await kit.rows();
  assert.deepEqual(
    rows.map((row) => [row.role, row.content, row.finishReason]),
    [
      ["user", "hi", null],
      ["assistant", "Hello there.", "stop"],
    ],
  );
  assert.equal(end.messageId, rows[1]?.id);
  assert.equal(end.usage.input, 100);
  assert.equal(end.costUsd, 0.01);
  assert.equal(kit.store.turns.get("turn_1")?.outcome, "done");
  assert.equal((await kit.store.getSession(SESSION))?.state, "idle");
  const shown = kit.eventsOf("text-delta").map((event) => event.text);
  assert.equal(shown.join(""), "Hello there.");
  assert.deepEqual(kit.types(), [
    "status",
    "turn-start",
    "message-saved",
    "status",
    "model-start",
    ...shown.map(() => "text-delta"),
    "model-end",
    "status",
    "message-saved",
    "turn-end",
  ]);
});

test("what is shown as done is stored already (I4)", async () => {
  const kit = await turnKit({
    steps: [
      callsStep(
        [
          { name: "echo", input: 1 },
          { name: "echo", input: 2 },
        ],
        "Look:",
      ),
      textStep("ok"),
    ],
    tools: [echo],
  });
  const wrong: string[] = [];
  const stored = (role: string): number =>
    kit.store.messages.filter((row) => row.role === role).length;
  let results = 0;
  const checks: Partial<Record<AgentEventBody["type"], () => boolean>> = {
    "model-start": () => stored("user") === 1 && stored("tool") === results,
    "tool-call": () => stored("assistant") === 1,
    "tool-start": () => stored("assistant") === 1,
    "tool-end": () => stored("tool") >= ++results,
    "turn-end": () => stored("assistant") === 2 && kit.store.turns.get("turn_1")?.endedAt !== null,
  };
  kit.onEvent = (event) => {
    if (checks[event.type]?.() === false) wrong.push(event.type);
  };
  await kit.run("go");
  assert.deepEqual(wrong, []);
  assert.equal(results, 2);
});

test("calls of one reply run together, results are stored in call order (row 18)", async () => {
  const release = new Map<string, () => void>();
  const slow = fakeTool("slow", {
    run: (input) =>
      new Promise((resolve) => {
        release.set(String(input), () => resolve({ was: input }));
      }),
  });
  const steps = [
    callsStep(["a", "b", "c"].map((input) => ({ name: "slow", input }))),
    textStep("ok"),
  ];
  const kit = await turnKit({ steps, tools: [slow] });
  const running = kit.run("go");
  await until("all three run", () => release.size === 3);
  for (const name of ["c", "b", "a"]) {
    release.get(name)?.();
    await kit.clock.advance(0);
  }
  await running;
  const contents = (await kit.rows())
    .filter((row) => row.role === "tool")
    .map((row) => row.content);
  assert.deepEqual(contents, ['{"was":"a"}', '{"was":"b"}', '{"was":"c"}']);
  assertInvariants(kit.model.requests);
});

test("exclusive tools run alone and in call order; the others up to the limit", async () => {
  let now = 0;
  let most = 0;
  /** How many ran at the start and at the end of each exclusive call. */
  const alone: number[] = [];
  const log: string[] = [];
  const make = (name: string, exclusive: boolean) =>
    fakeTool(name, {
      exclusive,
      run: async (input) => {
        now++;
        if (exclusive) alone.push(now);
        most = Math.max(most, now);
        log.push(`${name}${String(input)}`);
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
        if (exclusive) alone.push(now);
        now--;
        return {};
      },
    });
  const calls = ["p1", "p2", "p3", "x1", "p4", "x2", "p5"].map((word) => ({
    name: word.startsWith("x") ? "only" : "par",
    input: Number(word.slice(1)),
  }));
  const kit = await turnKit({
    steps: [callsStep(calls), textStep("ok")],
    tools: [make("par", false), make("only", true)],
    settings: { maxParallelTools: 2 },
  });
  await kit.run("go");
  assert.equal(most, 2);
  assert.deepEqual(alone, [1, 1, 1, 1]);
  assert.deepEqual(log, ["par1", "par2", "par3", "only1", "par4", "only2", "par5"]);
});

test("a bad call costs a round, not the turn", async () => {
  const strict = fakeTool("strict", { check: () => "path: expected string", run: () => ({}) });
  const kit = await turnKit({
    steps: [
      callsStep([
        { name: "ecko", input: {} },
        { name: "echo", input: {}, invalid: { text: "{oops", message: "unexpected token" } },
        { name: "strict", input: {} },
        { name: "echo", input: { a: 1 } },
      ]),
      textStep("done"),
    ],
    tools: [echo, strict],
  });
  const end = await kit.run("go");
  assert.equal(end.text, "done");
  assert.deepEqual(
    kit.eventsOf("tool-end").map((event) => [event.ok, event.code]),
    [
      [false, "UNKNOWN_TOOL"],
      [false, "BAD_ARGUMENTS"],
      [false, "INVALID_INPUT"],
      [true, undefined],
    ],
  );
  const results = (await kit.rows()).filter((row) => row.role === "tool").map((row) => row.content);
  assert.match(results[0] ?? "", /no tool \\"ecko\\"\. Nearest: echo, strict/);
  assert.match(results[1] ?? "", /unexpected token/);
  assert.match(results[2] ?? "", /path: expected string/);
  assert.deepEqual(
    kit.box.runs.map((run) => run.name),
    ["echo"],
  );
  const call = (await kit.rows())[1]?.toolCalls?.[1];
  assert.equal(call?.arguments, "{oops");
});

test("no tool starts when the stream ends with an error (I6)", async () => {
  const [call] = callStep("echo", { a: 1 });
  assert.ok(call && call.type === "tool-call");
  const broken = [
    call,
    { type: "error" as const, error: { kind: "garbled" as const, message: "x" } },
  ];
  const kit = await turnKit({ steps: [broken, textStep("fine")], tools: [echo] });
  const running = kit.run("go");
  await until("the retry waits", () => kit.eventsOf("model-retry").length === 1);
  await kit.clock.advance(2000);
  assert.equal((await running).text, "fine");
  assert.deepEqual(kit.box.runs, []);
});

test("call ids that a server uses again are made unique", async () => {
  const step = () => callsStep([0, 1].map((n) => ({ name: "echo", input: n, callId: "call_0" })));
  const kit = await turnKit({ steps: [step(), step(), textStep("ok")], tools: [echo] });
  await kit.run("go");
  const ids = (await kit.rows()).flatMap((row) => row.toolCalls ?? []).map((call) => call.id);
  assert.equal(new Set(ids).size, 4);
  assert.equal(ids[0], "call_0");
  assertInvariants(kit.model.requests);
});

test("stopped while streaming: what was shown is stored as interrupted, equal to what was shown (I5)", async () => {
  const kit = await turnKit({ steps: [hangStep("I was saying "), textStep("ok")] });
  const abort = new AbortController();
  const running = kit.run("hi", { signal: abort.signal });
  await until("text is shown", () => kit.eventsOf("text-delta").length === 2);
  abort.abort(new Error("interrupted"));
  const end = await running;
  assert.equal(end.outcome, "interrupted");
  const row = (await kit.rows())[1];
  assert.deepEqual([row?.content, row?.finishReason], ["I was saying ", "interrupted"]);
  assert.equal(end.messageId, row?.id);
  assert.equal(kit.store.drafts.size, 0);
  assert.equal(kit.model.requests[0]?.signal.aborted, true);
  await kit.run("go on");
  assertInvariants(kit.model.requests);
  assert.equal(kit.model.requests[1]?.messages.length, 3);
});

test("what is shown is in the draft already, for a process that is killed the next moment", async () => {
  const kit = await turnKit({
    steps: [callStep("echo", 1, "First. "), textStep("Then.")],
    tools: [echo],
  });
  let shown = "";
  const wrong: string[] = [];
  kit.onEvent = (event) => {
    if (event.type === "model-start") shown = "";
    if (event.type !== "text-delta") return;
    shown += event.text;
    if (kit.store.drafts.get("turn_1")?.text !== shown) wrong.push(shown);
  };
  await kit.run("go");
  assert.equal(shown, "Then.");
  assert.deepEqual(wrong, []);
  assert.equal(kit.store.drafts.size, 0);
});

test("stopped before any text: nothing is stored, the next user text is joined by a blank line (I2)", async () => {
  const kit = await turnKit({ steps: [hangStep(""), textStep("ok")] });
  const abort = new AbortController();
  const running = kit.run("one", { signal: abort.signal });
  await until("the call runs", () => kit.eventsOf("model-start").length === 1);
  abort.abort();
  assert.equal((await running).messageId, null);
  await kit.run("two");
  assert.deepEqual(kit.model.requests[1]?.messages, [{ role: "user", text: "one\n\ntwo" }]);
});

test("stopped in a tool: its end is waited for, later calls are not run, every call has a result (I3, I8)", async () => {
  const obedient = fakeTool("obedient", {
    run: (_input, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve({ ended: "by signal" }));
      }),
  });
  const deaf = fakeTool("deaf", { run: () => new Promise(() => undefined) });
  const only = fakeTool("only", { exclusive: true, run: () => ({}) });
  const calls = ["obedient", "deaf", "only"].map((name) => ({ name, input: {} }));
  const kit = await turnKit({
    steps: [callsStep(calls), textStep("ok")],
    tools: [obedient, deaf, only],
  });
  const abort = new AbortController();
  const running = kit.run("go", { signal: abort.signal });
  await until("both run", () => kit.box.runs.length === 2);
  kit.steer.push("never mind");
  abort.abort();
  await until("the grace runs", () => kit.clock.pending === 1);
  await kit.clock.advance(2600);
  assert.equal((await running).outcome, "interrupted");
  const results = (await kit.rows()).filter((row) => row.role === "tool").map((row) => row.content);
  assert.deepEqual(results, [
    '{"ended":"by signal"}',
    '{"error":"interrupted","note":"outcome unknown"}',
    '{"error":"interrupted","note":"not run"}',
  ]);
  assert.deepEqual(kit.steer, ["never mind"], "it becomes the next turn");
  await kit.run("again");
  assertInvariants(kit.model.requests);
});

test("the wall clock ends the turn with outcome budget; shown text is kept", async () => {
  const kit = await turnKit({ steps: [hangStep("half")], settings: { runBudgetMs: 1000 } });
  const running = kit.run("hi");
  await until("text is shown", () => kit.eventsOf("text-delta").length === 1);
  await kit.clock.advance(1000);
  const end = await running;
  assert.deepEqual([end.outcome, end.budget, end.text], ["budget", "wall-clock", "half"]);
  assert.equal(kit.clock.pending, 0);
});

test("a turn that ends in time leaves no timer; output after a call's end is dropped", async () => {
  let late: () => void = () => undefined;
  const chatty = fakeTool("chatty", {
    run: (_input, context) => {
      late = () => context.output("stdout", "too late");
      return {};
    },
  });
  const kit = await turnKit({
    steps: [callStep("chatty", 1), textStep("ok")],
    tools: [chatty],
    settings: { runBudgetMs: 60_000 },
  });
  kit.onEvent = (event) => {
    if (event.type === "tool-end") late();
  };
  await kit.run("hi");
  assert.equal(kit.clock.pending, 0);
  assert.deepEqual(kit.eventsOf("tool-output"), []);
});

test("at agent.max_turns one last call without tools, outcome budget (row 19)", async () => {
  const kit = await turnKit({
    steps: [callStep("echo", 1), callStep("echo", 2), textStep("so far so good")],
    tools: [echo],
    settings: { maxTurns: 2 },
  });
  const end = await kit.run("go");
  assert.deepEqual(
    kit.model.requests.map((request) => request.toolChoice),
    ["auto", "auto", "none"],
  );
  assert.deepEqual([end.outcome, end.budget, end.text], ["budget", "rounds", "so far so good"]);
  assert.deepEqual(kit.model.requests[2]?.tools, kit.model.requests[0]?.tools);
  assert.equal((await kit.rows()).at(-2)?.kind, "nudge");
  assertInvariants(kit.model.requests);
});

test("a model that asks for tools at the cap all the same runs none", async () => {
  const asks = () => callStep("echo", 1);
  const kit = await turnKit({
    steps: [asks(), asks(), asks(), asks()],
    tools: [echo],
    settings: { maxTurns: 1, apiMaxRetries: 2 },
  });
  const running = kit.run("go");
  for (let retry = 1; retry <= 2; retry++) {
    await until("a retry waits", () => kit.eventsOf("model-retry").length === retry);
    await kit.clock.advance(30_000);
  }
  const end = await running;
  assert.deepEqual(
    [end.outcome, end.budget, end.text, end.messageId],
    ["budget", "rounds", "", null],
  );
  assert.equal(kit.box.runs.length, 1);
});

test("the same failing call: the second is warned, the sixth not run any more (row 19)", async () => {
  const bad = fakeTool("bad", {
    run: () => {
      throw new Error("no such file");
    },
  });
  const steps = [
    ...Array.from({ length: 6 }, () => callStep("bad", { a: 1 })),
    textStep("I give up"),
  ];
  const kit = await turnKit({
    steps,
    tools: [bad],
    settings: { guardrails: { enabled: true, hardStop: true } },
  });
  await kit.run("go", { answerable: false });
  const results = (await kit.rows())
    .filter((row) => row.role === "tool")
    .map((row) => JSON.parse(row.content ?? "") as { warning?: string; code: string });
  assert.equal(results[0]?.warning, undefined);
  assert.match(results[1]?.warning ?? "", /failed 2 times/);
  assert.deepEqual(
    results.map((result) => result.code),
    [...Array.from({ length: 5 }, () => "TOOL_FAILED"), "LOOP_GUARD"],
  );
  assert.equal(kit.box.runs.length, 5);
});

test("a text that comes meanwhile is added to the next tool result; without one it is left", async () => {
  const kit = await turnKit({ steps: [callStep("echo", 1), textStep("ok")], tools: [echo] });
  kit.onEvent = (event) => {
    if (event.type === "tool-start") kit.steer.push("use the other file");
    if (event.type === "model-end" && event.finishReason === "stop") kit.steer.push("too late");
  };
  await kit.run("go");
  const result = (await kit.rows())[2]?.content;
  assert.equal(result, '{"echoed":1}\n\n[user, meanwhile] use the other file');
  assert.deepEqual(kit.steer, ["too late"]);
});

for (const code of ["STORE_FULL", "STORE_BUSY", "STORE_CORRUPT"]) {
  test(`${code} on a result ends the turn as failed, once, and stops what runs`, async () => {
    let aborted = false;
    const slow = fakeTool("slow", {
      run: (_input, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => {
            aborted = true;
            resolve({});
          });
        }),
    });
    const kit = await turnKit({
      steps: [
        callsStep([
          { name: "echo", input: 1 },
          { name: "slow", input: 1 },
        ]),
      ],
      tools: [echo, slow],
    });
    let tries = 0;
    let closes = 0;
    const close = kit.store.closeTurn.bind(kit.store);
    kit.store.closeTurn = (row) => {
      closes++;
      return close(row);
    };
    const write = kit.store.appendMessages.bind(kit.store);
    kit.store.appendMessages = async (id, messages) => {
      if (messages[0]?.role !== "tool") return write(id, messages);
      tries++;
      throw new HermesError(code, "the store takes nothing");
    };
    const end = await kit.run("go");
    assert.deepEqual([end.outcome, end.error?.kind, end.error?.code], ["failed", "store", code]);
    assert.equal(tries, 1);
    assert.equal(closes, code === "STORE_FULL" ? 1 : 0, "a busy or damaged store is left alone");
    assert.equal(aborted, true);
    assert.equal(kit.types().at(-1), "turn-end");
  });
}

test("a store that is full at the end: the text is still in turn-end, nothing is tried again", async () => {
  const kit = await turnKit({ steps: [textStep("the answer")] });
  let tries = 0;
  kit.store.closeTurn = async () => {
    tries++;
    throw new HermesError("STORE_FULL", "no space left");
  };
  const end = await kit.run("hi");
  assert.deepEqual([end.outcome, end.text, end.messageId], ["failed", "the answer", null]);
  assert.equal(end.error?.code, "STORE_FULL");
  assert.equal(tries, 1);
});

test("a turn that cannot begin is a turn-end too and stores nothing (I7)", async () => {
  const notConfigured = new HermesError("MODEL_NOT_CONFIGURED", "no model", { exit: 78 });
  const cases = [
    { error: notConfigured, kind: "model-missing", code: "MODEL_NOT_CONFIGURED" },
    {
      error: new HermesError("CREDENTIAL_MISSING", "no key", { exit: 78 }),
      kind: "auth",
      code: "CREDENTIAL_MISSING",
    },
    { error: new Error("boom sk-secret-1"), kind: "internal", code: undefined },
  ];
  for (const { error, kind, code } of cases) {
    const kit = await turnKit({
      secrets: ["sk-secret-1"],
      deps: { target: () => Promise.reject(error) },
    });
    const end = await kit.run("hi");
    assert.deepEqual([end.outcome, end.error?.kind, end.error?.code], ["failed", kind, code]);
    assert.doesNotMatch(end.error?.message ?? "", /sk-secret/);
    assert.deepEqual(kit.types(), ["status", "status", "turn-end"]);
    assert.deepEqual(await kit.rows(), []);
  }
});

test("what throws inside the turn is a turn-end (I7)", async () => {
  const kit = await turnKit({
    steps: [textStep("x")],
    deps: {
      cost: () => {
        throw new Error("bug");
      },
    },
  });
  const end = await kit.run("hi");
  assert.deepEqual([end.outcome, end.error?.kind], ["failed", "internal"]);
  assert.equal(kit.store.turns.get("turn_1")?.outcome, "failed");
});

test("a secret in an answer, in reasoning, in arguments and in tool output is nowhere (row 26)", async () => {
  const secret = "sk-live-0123456789";
  const leak = fakeTool("leak", {
    run: (_input, context) => {
      context.output("stdout", `key ${secret.slice(0, 9)}`);
      context.output("stdout", `${secret.slice(9)} end`);
      return { done: true };
    },
  });
  const [call, finish] = callStep("leak", { key: secret });
  assert.ok(call && finish);
  const first = [
    { type: "reasoning-delta" as const, text: `think ${secret.slice(0, 5)}` },
    { type: "reasoning-delta" as const, text: secret.slice(5) },
    ...`It is ${secret}!`.split("").map((text) => ({ type: "text-delta" as const, text })),
    call,
    finish,
  ];
  const kit = await turnKit({
    steps: [first, textStep(`again ${secret}`)],
    tools: [leak],
    secrets: [secret],
  });
  const end = await kit.run("show it");
  assert.equal(end.text, "again [redacted]");
  assert.doesNotMatch(JSON.stringify(kit.events), /sk-live-0/);
  assert.doesNotMatch(JSON.stringify(kit.store.messages), /sk-live-0/);
  const output = kit.eventsOf("tool-output").map((event) => event.text);
  assert.equal(output.join(""), "key [redacted] end");
  assert.equal((await kit.rows())[1]?.content, "It is [redacted]!");
});

test("a stop never lets out the beginning of a secret (I10)", async () => {
  const kit = await turnKit({
    steps: [hangStep("key: sk-live-01")],
    secrets: ["sk-live-0123456789"],
  });
  const abort = new AbortController();
  const running = kit.run("hi", { signal: abort.signal });
  await until("text is shown", () => kit.eventsOf("text-delta").length > 0);
  await kit.clock.advance(0);
  abort.abort();
  const end = await running;
  assert.equal(end.text, "key: ");
});

test("a secret that the user typed is in no event; questions and approvals are redacted too", async () => {
  const secret = "sk-live-0123456789";
  const asks = fakeTool("asks", {
    exclusive: true,
    assess: () => ({
      dangerous: { id: "r", reason: "x" },
      title: `run ${secret}`,
      detail: `echo ${secret}`,
      allowKey: "k",
    }),
    run: async (_input, context) => {
      await context.ask({ question: `is it ${secret}?`, choices: [secret] });
      return {};
    },
  });
  const kit = await turnKit({
    steps: [callStep("asks", 1), textStep("ok")],
    tools: [asks],
    secrets: [secret],
  });
  kit.onEvent = (event) => {
    if (event.type === "approval-request") setImmediate(() => kit.answer(event.requestId, "once"));
    if (event.type === "clarify-request") setImmediate(() => kit.clarify(event.requestId, secret));
  };
  await kit.run(`my key is ${secret}`);
  assert.equal(kit.eventsOf("clarify-end").length, 1);
  assert.doesNotMatch(JSON.stringify(kit.events), /sk-live-0/);
});

test("a turn that was stopped before it began stores the user's text and makes no request", async () => {
  const kit = await turnKit();
  const end = await kit.run("hi", { signal: AbortSignal.abort() });
  assert.equal(end.outcome, "interrupted");
  assert.deepEqual(kit.model.requests, []);
  assert.deepEqual(
    (await kit.rows()).map((row) => row.content),
    ["hi"],
  );
});

test("what was held back is shown when the answer ended well", async () => {
  const kit = await turnKit({
    steps: [textStep("it begins with sk-live")],
    secrets: ["sk-live-0123456789"],
  });
  assert.equal((await kit.run("hi")).text, "it begins with sk-live");
  const shown = kit.eventsOf("text-delta").map((event) => event.text);
  assert.equal(shown.join(""), "it begins with sk-live");
});

test("signed reasoning is stored with its provider, and not at all when a secret is in it", async () => {
  const steps = ["a thought", "a thought of sk-live-0123456789"].map((thought) => [
    { type: "text-delta" as const, text: "ok" },
    {
      type: "finish" as const,
      reason: "stop" as const,
      usage: NO_USAGE,
      reasoningDetails: [{ thought, signature: "sig" }],
    },
  ]);
  const kit = await turnKit({ steps, secrets: ["sk-live-0123456789"] });
  await kit.run("one");
  await kit.run("two");
  assert.deepEqual(
    (await kit.rows()).filter((row) => row.role === "assistant").map((row) => row.reasoningDetails),
    [{ provider: "scripted", details: [{ thought: "a thought", signature: "sig" }] }, null],
  );
});

test("prompt and tools are stored at the first call and used again; a changed tool list is told (I1)", async () => {
  let made = 0;
  const kit = await turnKit({
    steps: [textStep("one"), textStep("two")],
    tools: [echo],
    deps: { systemPrompt: async () => `prompt ${++made}` },
  });
  await kit.run("a");
  await kit.run("b");
  assert.deepEqual(
    kit.model.requests.map((request) => request.system),
    ["prompt 1", "prompt 1"],
  );
  assertInvariants(kit.model.requests);
  assert.deepEqual(kit.eventsOf("notice"), []);
  await kit.store.updateSession(SESSION, { toolsHash: "of another program" });
  kit.model.add(textStep("three"));
  await kit.run("c");
  assert.deepEqual(
    kit.eventsOf("notice").map((event) => event.code),
    ["TOOLS_CHANGED"],
  );
});

test("a call without a result is answered, not run again, and told once (row 12)", async () => {
  const kit = await turnKit({ steps: [textStep("I see"), textStep("yes")], tools: [echo] });
  const calls = [{ id: "lost", name: "echo", arguments: "{}" }];
  await kit.store.appendMessages(SESSION, [
    { role: "user", content: "do it", timestamp: 1 },
    { role: "assistant", content: null, toolCalls: calls, timestamp: 2 },
  ]);
  await kit.run("what happened?");
  await kit.run("sure?");
  assert.deepEqual(kit.box.runs, []);
  assert.deepEqual(
    kit.eventsOf("notice").map((event) => event.code),
    ["OUTCOME_UNKNOWN"],
  );
  assert.deepEqual(kit.model.requests[0]?.messages[2], {
    role: "tool",
    callId: "lost",
    name: "echo",
    content: '{"error":"interrupted","note":"outcome unknown"}',
  });
  assertInvariants(kit.model.requests);
});

test("userText null goes on with the history as it is", async () => {
  const kit = await turnKit({ steps: [textStep("again")] });
  await kit.store.appendMessages(SESSION, [{ role: "user", content: "hello", timestamp: 1 }]);
  await kit.run(null);
  assert.deepEqual(kit.model.requests[0]?.messages, [{ role: "user", text: "hello" }]);
  assert.deepEqual(
    kit.eventsOf("turn-start").map((event) => [event.userMessageId, event.text]),
    [[1, "hello"]],
  );
});

test("a fallback answers for the rest of the turn, the next turn starts with the session's model", async () => {
  const kit = await turnKit({
    steps: [errorStep("auth"), textStep("main again")],
    tools: [echo],
    deps: { fallback: async (index) => (index === 1 ? other : null) },
  });
  const second = new ScriptedModel([callStep("echo", 1), textStep("from the other")], kit.clock);
  const other = scriptedTarget(second, { provider: "other", model: "two" });
  const end = await kit.run("hi");
  assert.deepEqual([end.text, end.provider, end.model], ["from the other", "other", "two"]);
  const [retry] = kit.eventsOf("model-retry");
  assert.deepEqual(retry?.fallback, { provider: "other", model: "two" });
  assert.equal((await kit.run("more")).provider, "scripted");
  assertInvariants(kit.model.requests.slice(1));
});
