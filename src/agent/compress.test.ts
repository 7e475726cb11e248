// Compression (agent.md §4.7; §12.2 rows 16, 17): what is kept, what a child session gets, what failures do.
import assert from "node:assert/strict";
import { test } from "node:test";
import { HermesError } from "#base/errors.ts";
import { NO_USAGE } from "#protocol/messages.ts";
import type { NewMessage } from "./ports/session-store.ts";
import { until } from "../../test/kit/until.ts";
import { fakeTool } from "../../test/kit/fake-tools.ts";
import {
  callStep,
  errorStep,
  hangStep,
  scriptedTarget,
  ScriptedModel,
  textStep,
} from "../../test/kit/scripted-model.ts";
import {
  assertInvariants,
  SESSION,
  SETTINGS,
  turnKit,
  type TurnKit,
} from "../../test/kit/turn-kit.ts";
import { planCompression, triggerTokens } from "./compress-plan.ts";
import { splitSummary } from "./compress-summary.ts";
import { compressSession } from "./compress.ts";
import type { TurnKitOptions } from "../../test/kit/turn-kit.ts";

const TODO = '{"todos":[{"content":"paint","status":"pending"}]}';

/** `count` exchanges of about `tokens` tokens each; the answers of odd ones have a call with its result. */
function exchanges(count: number, tokens: number): NewMessage[] {
  const text = "word ".repeat(Math.ceil((tokens * 4) / 2 / 5));
  return Array.from({ length: count }, (_, index): NewMessage[] => {
    const at = { timestamp: index };
    const user: NewMessage = { ...at, role: "user", content: `question ${index} ${text}` };
    const answer: NewMessage = { ...at, role: "assistant", content: `answer ${index} ${text}` };
    if (index % 2 === 0) return [user, answer];
    const call = { id: `call_${index}`, name: "look", arguments: "{}" };
    const result: NewMessage = {
      ...at,
      role: "tool",
      toolCallId: call.id,
      toolName: "look",
      content: `{"seen":${index}}`,
    };
    return [user, { ...at, role: "assistant", content: null, toolCalls: [call] }, result, answer];
  }).flat();
}

async function filled(rows: readonly NewMessage[], options: TurnKitOptions = {}): Promise<TurnKit> {
  const kit = await turnKit({ title: "Plan", ...options });
  await kit.store.appendMessages(SESSION, rows);
  return kit;
}

const WINDOWS: readonly [number, number, number][] = [
  [128_000, 0.5, 96_000],
  [511_999, 0.9, 460_799],
  [512_000, 0.5, 256_000],
  [8192, 0.5, 6144],
];
for (const [window, threshold, expected] of WINDOWS) {
  test(`a window of ${window} at ${threshold} compresses from ${expected} tokens`, () => {
    assert.equal(triggerTokens({ ...SETTINGS.compression, threshold }, window), expected);
  });
}

test("a cut never goes between a call and its result, whatever the sizes (I10)", async () => {
  const kit = await filled(exchanges(30, 100));
  const rows = await kit.rows();
  for (let protectFirst = 0; protectFirst <= 12; protectFirst++) {
    for (let protectLast = 1; protectLast <= 30; protectLast++) {
      for (const room of [500, 3000, 8000]) {
        const settings = { ...SETTINGS.compression, protectFirst, protectLast };
        const plan = planCompression(rows, settings, room);
        assert.ok(plan);
        const parts = [plan.head, plan.middle, plan.tail];
        assert.deepEqual(parts.flat(), rows);
        for (const part of parts) {
          const called = part.flatMap((row) => row.toolCalls ?? []).map((call) => call.id);
          const answered = part.filter((row) => row.role === "tool").map((row) => row.toolCallId);
          assert.deepEqual(called, answered);
        }
        assert.ok(plan.head.length <= protectFirst);
        if (room === 8000) assert.ok(plan.tail.length >= protectLast);
      }
    }
  }
});

test("over the threshold the middle is summarised into a child session, then the call is made", async () => {
  const kit = await filled(exchanges(40, 3000), {
    steps: [textStep("## Goal\nbuild it"), textStep("done")],
  });
  const end = await kit.run("go on");
  assert.equal(end.outcome, "done");
  assert.notEqual(end.sessionId, SESSION);
  const parent = await kit.store.getSession(SESSION);
  const child = await kit.store.getSession(end.sessionId);
  assert.equal(parent?.endReason, "compressed");
  assert.deepEqual(
    [child?.parentSessionId, child?.rootId, child?.title],
    [SESSION, SESSION, "Plan #2"],
  );
  const rows = await kit.rows();
  assert.deepEqual(
    rows.slice(0, 2).map((row) => row.content?.slice(0, 10)),
    ["question 0", "answer 0 w"],
  );
  const summary = rows.find((row) => row.kind === "summary");
  assert.equal(summary?.role, "user");
  assert.match(summary?.content ?? "", /## Goal\nbuild it/);
  assert.ok(rows.length >= 22, "head, summary, at least 20 rows of tail");
  assert.deepEqual(
    rows.slice(-2).map((row) => row.content),
    ["go on", "done"],
  );
  assert.deepEqual(kit.model.requests[0]?.tools, []);
  assert.equal(kit.model.requests[0]?.toolChoice, "none");
  assertInvariants(kit.model.requests.slice(1));
  const order = kit.types().filter((type) => /compress|session-change/.test(type));
  assert.deepEqual(order, ["compress-start", "compress-end", "session-change"]);
  assert.equal(end.apiCalls, 2);
  assert.equal(kit.store.usage.length, 2);
  const moved = kit.eventsOf("session-change")[0];
  assert.deepEqual([moved?.fromSessionId, moved?.toSessionId], [SESSION, end.sessionId]);
});

test("a plausible count by the provider is believed, an absurd one is not", async () => {
  for (const [input, expected] of [
    [70_000, 0],
    [40_000, 0],
    [100, 1],
  ] as const) {
    const usage = { ...NO_USAGE, input, output: 1 };
    const finish = { type: "finish" as const, reason: "stop" as const, usage };
    const kit = await filled(exchanges(30, 3000), {
      steps: [[{ type: "text-delta", text: "one" }, finish], textStep("notes"), textStep("two")],
      target: { contextWindow: 110_000 },
    });
    kit.memory.compressRetryAtMs = kit.clock.monotonicMs() + 1;
    await kit.run("first");
    await kit.clock.advance(1);
    await kit.run("second");
    assert.equal(kit.eventsOf("compress-start").length, expected, `reported ${input}`);
  }
});

test("the prompt of the child is made anew (I1)", async () => {
  const kit = await filled(exchanges(40, 3000), { steps: [textStep("notes"), textStep("done")] });
  await kit.store.updateSession(SESSION, { systemPrompt: "old prompt" });
  const end = await kit.run("go on");
  assert.equal(kit.model.requests[1]?.system, "system prompt 1");
  assert.equal((await kit.store.getSession(end.sessionId))?.systemPrompt, "system prompt 1");
});

test("removing bulky results is enough where they are what is large: no model is asked", async () => {
  const bulky = exchanges(30, 100).map((row) =>
    row.role === "tool" ? { ...row, content: "x".repeat(60_000) } : row,
  );
  const kit = await filled(bulky, { steps: [textStep("done")] });
  await kit.run("go on");
  const results = (await kit.rows()).filter((row) => row.role === "tool");
  assert.equal(results[0]?.content, "[result of look removed, 60000 characters]");
  assert.equal(results.at(-1)?.content?.length, 60_000);
  assert.equal(kit.model.requests.length, 1);
  assertInvariants(kit.model.requests);
});

test("a context error naming 8192: compress, window remembered, answer (row 16)", async () => {
  const kit = await filled(exchanges(10, 1000), {
    steps: [
      errorStep("context", { contextLimit: 8192 }, "shown before"),
      textStep("notes"),
      textStep("the answer"),
    ],
  });
  const end = await kit.run("go on");
  assert.deepEqual([end.outcome, end.text], ["done", "the answer"]);
  assert.deepEqual(kit.remembered, [8192]);
  assert.equal((await kit.store.getSession(SESSION))?.endReason, "compressed");
  assert.equal(kit.eventsOf("compress-start")[0]?.reason, "context");
  assert.equal(kit.eventsOf("model-retry")[0]?.discardText, true);
  const after = kit.eventsOf("compress-end")[0]?.after ?? Infinity;
  assert.ok(after < 6144, `${after} tokens fit`);
});

test("a second context error compresses once more, a third ends the turn", async () => {
  const kit = await filled(exchanges(24, 1000), {
    steps: [
      errorStep("context"),
      textStep("notes one"),
      errorStep("context", { contextLimit: 8192 }),
      textStep("notes two"),
      errorStep("context", { contextLimit: 4096 }),
    ],
  });
  const end = await kit.run("go on");
  assert.deepEqual([end.outcome, end.error?.kind], ["failed", "context"]);
  assert.equal(kit.eventsOf("compress-end").filter((event) => event.ok).length, 2);
  assert.equal(kit.model.left, 0);
});

test("a conversation of one message that does not fit fails as context and stays as it was", async () => {
  const kit = await turnKit({ steps: [errorStep("context", { contextLimit: 8192 })] });
  const end = await kit.run("word ".repeat(20_000));
  assert.equal(end.error?.kind, "context");
  assert.equal(end.sessionId, SESSION);
  assert.deepEqual(
    kit.eventsOf("notice").map((event) => event.code),
    ["COMPRESS_FAILED"],
  );
});

test("a failed summary leaves all as it was; the next tries come after 60, 300 and 900 s", async () => {
  const fail = () => errorStep("server");
  const ok = () => textStep("ok");
  const kit = await filled(exchanges(40, 3000), {
    steps: [fail(), ok(), ok(), fail(), ok(), fail(), ok(), fail(), ok()],
  });
  const run = async (): Promise<number> => {
    await kit.run("go on");
    return kit.eventsOf("compress-start").length;
  };
  assert.equal(await run(), 1);
  assert.equal((await kit.store.getSession(SESSION))?.endedAt, null);
  await kit.clock.advance(59_000);
  assert.equal(await run(), 1, "59 s later it is not tried");
  for (const [seconds, tries] of [
    [1, 2],
    [300, 3],
    [900, 4],
  ] as const) {
    await kit.clock.advance(seconds * 1000);
    assert.equal(await run(), tries);
  }
  assert.deepEqual(
    kit.eventsOf("notice").map((event) => /Next try in (\d+) s/.exec(event.text)?.[1]),
    ["60", "300", "900", "900"],
  );
  assert.equal(kit.model.left, 0);
  assertInvariants(kit.model.requests.filter((request) => request.toolChoice === "auto"));
});

test("an empty summary and one that is not smaller are failures", async () => {
  for (const step of [textStep(""), textStep("word ".repeat(60_000))]) {
    const kit = await filled(exchanges(10, 1000), { steps: [step] });
    const result = await compressSession(SESSION, kit.deps, {
      signal: new AbortController().signal,
    });
    assert.deepEqual(result, { ok: false, sessionId: SESSION });
    assert.equal(kit.store.sessions.size, 1);
    assert.equal(kit.eventsOf("compress-end")[0]?.code, "COMPRESS_FAILED");
    assert.equal(kit.memory.compressRetryAtMs, 0, "asked for by hand: no waiting afterwards");
  }
});

test("auxiliary.compression summarises; where it fails the session's model does", async () => {
  const kit = await filled(exchanges(10, 1000), {
    steps: [textStep("notes of the main model")],
    deps: { auxiliary: async () => helper },
  });
  const helper = scriptedTarget(new ScriptedModel([errorStep("auth")], kit.clock), {
    provider: "b",
  });
  const result = await compressSession(SESSION, kit.deps, { signal: new AbortController().signal });
  assert.equal(result.ok, true);
  const missing = await filled(exchanges(10, 1000), {
    steps: [textStep("notes")],
    deps: { auxiliary: () => Promise.reject(new HermesError("CREDENTIAL_MISSING", "no key")) },
  });
  const again = await compressSession(SESSION, missing.deps, {
    signal: new AbortController().signal,
  });
  assert.equal(again.ok, true);
});

test("/compress with a focus asks for it, works on a short session, and is idle afterwards", async () => {
  const kit = await filled(exchanges(3, 200), { steps: [textStep("notes")] });
  const result = await compressSession(SESSION, kit.deps, {
    focus: "the database",
    signal: new AbortController().signal,
  });
  assert.equal(result.ok, true);
  const [request] = kit.model.requests[0]?.messages ?? [];
  assert.match(request?.role === "user" ? request.text : "", /what concerns: the database/);
  assert.deepEqual(
    kit.eventsOf("status").map((event) => event.state),
    ["compressing", "idle"],
  );
});

test("a stop during the summary leaves all as it was and is no failure", async () => {
  const kit = await filled(exchanges(40, 3000), { steps: [hangStep("half a summ")] });
  const abort = new AbortController();
  const running = kit.run("go on", { signal: abort.signal });
  await until("the summary runs", () => kit.model.requests.length === 1 && kit.clock.pending === 1);
  abort.abort();
  assert.equal((await running).outcome, "interrupted");
  assert.equal(kit.store.sessions.size, 1);
  assert.equal(kit.memory.compressFailures, 0);
  assert.deepEqual(kit.eventsOf("notice"), []);
});

test("a title that is taken gets the next number", async () => {
  const kit = await filled(exchanges(10, 1000), { steps: [textStep("notes")] });
  await kit.store.createSession({ id: "other", source: "cli", startedAt: 1, title: "Plan #2" });
  const { sessionId } = await compressSession(SESSION, kit.deps, {
    signal: new AbortController().signal,
  });
  assert.equal((await kit.store.getSession(sessionId))?.title, "Plan #3");
});

test("a turn longer than the tail keeps the user's words in the summary", async () => {
  const look = fakeTool("look", { run: () => ({ text: "x".repeat(20_000) }) });
  const kit = await turnKit({
    steps: [
      ...Array.from({ length: 3 }, (_, n) => callStep("look", n)),
      errorStep("context", { contextLimit: 8192 }),
      textStep("notes"),
      textStep("done"),
    ],
    tools: [look],
  });
  const end = await kit.run("find the red door");
  assert.equal(end.outcome, "done", JSON.stringify(kit.eventsOf("notice")));
  const summary = (await kit.rows()).find((row) => row.kind === "summary");
  assert.match(summary?.content ?? "", /word for word\]\nfind the red door/);
  assertInvariants(kit.model.requests.slice(-1));
});

test("60 turns with compressions: prefix stable within each session row, todo kept, one summary (row 17)", async () => {
  const todo = fakeTool("todo", { run: () => JSON.parse(TODO) as Record<string, unknown> });
  const kit = await turnKit({
    title: "Long",
    tools: [todo],
    target: { contextWindow: 20_000 },
    settings: { compression: { ...SETTINGS.compression, protectLast: 4 } },
  });
  kit.onEvent = (event) => {
    // A summary is asked for by the model's next request.
    if (event.type === "compress-start") kit.model.addFirst(textStep("## Goal\nlong"));
  };
  kit.model.add(callStep("todo", { todos: [] }), textStep("noted"));
  await kit.run("make a list");
  for (let turn = 0; turn < 60; turn++) {
    kit.model.add(textStep(`answer ${turn} ${"word ".repeat(800)}`));
    assert.equal((await kit.run(`question ${turn}`)).outcome, "done");
  }
  const compressions = kit.eventsOf("compress-end").filter((event) => event.ok).length;
  assert.ok(compressions >= 3, `${compressions} compressions`);
  const bySession = Map.groupBy(
    kit.model.requests.filter((request) => request.toolChoice === "auto"),
    (request) => request.system,
  );
  assert.equal(bySession.size, compressions + 1);
  for (const requests of bySession.values()) assertInvariants(requests);
  const rows = await kit.rows();
  const summaries = rows.filter((row) => row.kind === "summary");
  assert.equal(summaries.length, 1, "an earlier summary is updated, not nested");
  const inHead = rows.some((row) => row.toolName === "todo");
  assert.ok(inHead || splitSummary(summaries[0]?.content ?? "").todo === TODO);
  const child = await kit.store.newestDescendant(SESSION);
  assert.equal(child.session.title, `Long #${compressions + 1}`);
  assert.equal(child.session.rootId, SESSION);
});

test("the todo list goes from the middle into the summary, and from summary to summary", async () => {
  const rows = exchanges(10, 1000);
  const call = { id: "t", name: "todo", arguments: "{}" };
  rows.splice(
    8,
    0,
    { role: "user", content: "list", timestamp: 3 },
    { role: "assistant", content: null, toolCalls: [call], timestamp: 3 },
    { role: "tool", toolCallId: "t", toolName: "todo", content: TODO, timestamp: 3 },
  );
  const kit = await filled(rows, { steps: [textStep("notes 1"), textStep("notes 2")] });
  const signal = new AbortController().signal;
  const first = await compressSession(SESSION, kit.deps, { signal });
  await kit.store.appendMessages(first.sessionId, exchanges(3, 1000));
  const second = await compressSession(first.sessionId, kit.deps, { signal });
  assert.equal(second.ok, true);
  const summary = (await kit.rows()).filter((row) => row.kind === "summary");
  assert.equal(summary.length, 1);
  assert.deepEqual(splitSummary(summary[0]?.content ?? ""), { notes: "notes 2", todo: TODO });
  const [request] = kit.model.requests[1]?.messages ?? [];
  assert.match(
    request?.role === "user" ? request.text : "",
    /Notes so far, to be updated:\n\nnotes 1\n\nConversation/,
  );
});

test("a todo list in the tail is not said twice, a bulky result in the head is trimmed", async () => {
  const call = (id: string, name: string): NewMessage => ({
    role: "assistant",
    content: null,
    toolCalls: [{ id, name, arguments: "{}" }],
    timestamp: 0,
  });
  const result = (id: string, name: string, content: string): NewMessage => ({
    role: "tool",
    toolCallId: id,
    toolName: name,
    content,
    timestamp: 0,
  });
  const kit = await filled(
    [
      { role: "user", content: "start", timestamp: 0 },
      call("b", "look"),
      result("b", "look", "x".repeat(5000)),
      call("t", "todo"),
      result("t", "todo", '{"todos":["old"]}'),
      ...exchanges(12, 2000),
      { role: "user", content: "list", timestamp: 0 },
      call("u", "todo"),
      result("u", "todo", TODO),
    ],
    {
      steps: [textStep("notes")],
      settings: { compression: { ...SETTINGS.compression, protectLast: 3 } },
    },
  );
  await compressSession(SESSION, kit.deps, { signal: new AbortController().signal });
  const rows = await kit.rows();
  assert.equal(rows[2]?.content, "[result of look removed, 5000 characters]");
  const summary = rows.find((row) => row.kind === "summary");
  assert.deepEqual(splitSummary(summary?.content ?? ""), { notes: "notes", todo: null });
  assert.equal(rows.at(-1)?.content, TODO);
});

test("an earlier summary is never kept as head", async () => {
  const kit = await filled([
    ...exchanges(1, 10),
    { role: "user", kind: "summary", content: "earlier notes", timestamp: 0 },
    ...exchanges(30, 1000),
  ]);
  const plan = planCompression(
    await kit.rows(),
    { ...SETTINGS.compression, protectFirst: 12, protectLast: 3 },
    96_000,
  );
  assert.equal(plan?.head.length, 2);
  assert.equal(plan?.middle[0]?.kind, "summary");
});

test("compression that is switched off leaves the context error as the end", async () => {
  const kit = await filled(exchanges(40, 3000), {
    steps: [errorStep("context", { contextLimit: 8192 })],
    settings: { compression: { ...SETTINGS.compression, enabled: false } },
  });
  assert.equal((await kit.run("go on")).error?.kind, "context");
  assert.deepEqual(kit.eventsOf("compress-start"), []);
  assert.deepEqual(kit.remembered, [8192]);
});
