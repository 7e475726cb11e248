// The order of agent.md §5.3 as a table, and asking inside a turn (§12.2 rows 23, 24).
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../../test/kit/until.ts";
import { fakeTool } from "../../test/kit/fake-tools.ts";
import { callsStep, textStep } from "../../test/kit/scripted-model.ts";
import { turnKit, type TurnKit, type TurnKitOptions } from "../../test/kit/turn-kit.ts";
import { judge, type ApprovalContext } from "./approvals.ts";
import { HARMLESS, type Assessment } from "./ports/tool.ts";

const rule = (id: string) => ({ id, reason: `because of ${id}` });
const hard = { hardBlock: rule("hard") };
const denied = { denied: rule("deny") };
const danger = { dangerous: rule("danger"), allowKey: "rm x" };
const manual: ApprovalContext = {
  yolo: false,
  answerable: true,
  settings: { mode: "manual", timeoutMs: 1000, unattended: "deny" },
  allowedKeys: new Set(),
};
const mode = (word: "manual" | "deny" | "off", unattended: "deny" | "allow" = "deny") => ({
  settings: { mode: word, timeoutMs: 1000, unattended },
});
const alone = { answerable: false };

const TABLE: readonly [string, Partial<Assessment>, Partial<ApprovalContext>, string][] = [
  ["harmless", {}, {}, "allow"],
  ["harmless where everything is denied", {}, mode("deny"), "allow"],
  ["harmless, nobody there", {}, alone, "allow"],
  ["dangerous", danger, {}, "ask"],
  ["dangerous under yolo", danger, { yolo: true }, "allow"],
  ["dangerous, mode off", danger, mode("off"), "allow"],
  ["dangerous, mode deny", danger, mode("deny"), "APPROVAL_DENIED"],
  ["dangerous, nobody there", danger, alone, "APPROVAL_UNATTENDED"],
  [
    "dangerous, nobody there, allowed so",
    danger,
    { ...alone, ...mode("manual", "allow") },
    "allow",
  ],
  [
    "dangerous, mode deny beats unattended allow",
    danger,
    { ...alone, ...mode("deny", "allow") },
    "APPROVAL_DENIED",
  ],
  ["allowed for this session", danger, { allowedKeys: new Set(["rm x"]) }, "allow"],
  ["another key is allowed", danger, { allowedKeys: new Set(["rm y"]) }, "ask"],
  ["an empty key is nobody's", { ...danger, allowKey: "" }, { allowedKeys: new Set([""]) }, "ask"],
  ["allow-listed", { ...danger, allowListed: true }, mode("deny"), "allow"],
  ["denied", { ...danger, ...denied }, {}, "DENIED_BY_CONFIG"],
  ["denied without danger", denied, {}, "DENIED_BY_CONFIG"],
  ["denied under yolo", denied, { yolo: true }, "DENIED_BY_CONFIG"],
  ["denied and allow-listed", { ...denied, allowListed: true }, {}, "DENIED_BY_CONFIG"],
  ["hard under yolo", hard, { yolo: true }, "HARD_BLOCKED"],
  ["hard, mode off", hard, mode("off"), "HARD_BLOCKED"],
  ["hard and allow-listed", { ...hard, allowListed: true }, {}, "HARD_BLOCKED"],
  ["hard beats denied", { ...hard, ...denied }, {}, "HARD_BLOCKED"],
];

for (const [name, assessment, context, expected] of TABLE) {
  test(`approval order: ${name} → ${expected}`, () => {
    const verdict = judge({ ...HARMLESS, ...assessment }, { ...manual, ...context });
    assert.equal(verdict.verdict === "deny" ? verdict.code : verdict.verdict, expected);
  });
}

const rm = fakeTool("rm", {
  assess: (input) => ({
    ...(String(input).startsWith("safe") ? {} : { dangerous: rule("danger/rm") }),
    kind: "command",
    title: "Run a command",
    detail: `rm ${String(input)}`,
    allowKey: `rm ${String(input)}`,
  }),
  run: (input) => ({ removed: input }),
});

function asking(inputs: readonly string[], more: TurnKitOptions = {}): Promise<TurnKit> {
  const calls = inputs.map((input) => ({ name: "rm", input }));
  return turnKit({
    steps: [callsStep(calls), textStep("ok"), ...(more.steps ?? [])],
    tools: [rm],
    ...without(more),
  });
}

function without({ steps: _steps, ...rest }: TurnKitOptions): TurnKitOptions {
  return rest;
}

function asked(kit: TurnKit, count: number): Promise<unknown> {
  return until(`question ${count}`, () => kit.eventsOf("approval-request").length === count);
}

test("questions come one at a time in call order; harmless calls need none; each answer counts for its call", async () => {
  const kit = await asking(["a", "safe", "b", "c"]);
  const running = kit.run("go");
  const choices = ["once", "deny", "once"] as const;
  for (const [index, choice] of choices.entries()) {
    await asked(kit, index + 1);
    kit.answer(kit.eventsOf("approval-request").at(-1)?.requestId ?? "", choice);
  }
  await running;
  assert.deepEqual(
    kit.eventsOf("approval-request").map((event) => event.detail),
    ["rm a", "rm b", "rm c"],
  );
  assert.deepEqual(
    kit.box.runs.map((run) => run.input),
    ["a", "safe", "c"],
  );
  const denied = kit.eventsOf("tool-end").find((event) => !event.ok);
  assert.equal(denied?.code, "APPROVAL_DENIED");
  assert.match((await kit.rows())[4]?.content ?? "", /danger\/rm/);
  assert.deepEqual(
    kit.eventsOf("approval-end").map((event) => [event.choice, event.by]),
    choices.map((choice) => [choice, "cli"]),
  );
});

test("for this session and always are remembered; a list that cannot be written is told and holds here", async () => {
  const next = () =>
    callsStep([
      { name: "rm", input: "a" },
      { name: "rm", input: "b" },
    ]);
  const kit = await asking(["a", "b"], { steps: [next(), textStep("ok")] });
  kit.box.failAlways = true;
  const running = kit.run("go");
  await asked(kit, 1);
  kit.answer(kit.eventsOf("approval-request")[0]?.requestId ?? "", "session");
  await asked(kit, 2);
  kit.answer(kit.eventsOf("approval-request")[1]?.requestId ?? "", "always");
  await running;
  await kit.run("again");
  assert.equal(kit.eventsOf("approval-request").length, 2);
  assert.equal(kit.box.runs.length, 4);
  assert.deepEqual(
    kit.eventsOf("notice").map((event) => event.code),
    ["ALLOW_NOT_SAVED"],
  );
});

test("unanswered: denied at the limit (row 24)", async () => {
  const kit = await asking(["a"]);
  const running = kit.run("go");
  await asked(kit, 1);
  const [request] = kit.eventsOf("approval-request");
  assert.equal(request?.expiresAt, "2026-01-15T12:05:00.000Z");
  await kit.clock.advance(299_000);
  assert.equal(kit.eventsOf("approval-end").length, 0);
  await kit.clock.advance(1000);
  await running;
  assert.deepEqual(
    kit.eventsOf("approval-end").map(({ choice, by }) => ({ choice, by })),
    [{ choice: "deny", by: "timeout" }],
  );
  assert.deepEqual(kit.box.runs, []);
  assert.equal(kit.eventsOf("tool-end")[0]?.code, "APPROVAL_TIMEOUT");
});

test("a stop answers the open question with deny and ends the turn", async () => {
  const kit = await asking(["a", "b"]);
  const abort = new AbortController();
  const running = kit.run("go", { signal: abort.signal });
  await asked(kit, 1);
  abort.abort();
  assert.equal((await running).outcome, "interrupted");
  assert.deepEqual(
    kit.eventsOf("approval-end").map((event) => event.by),
    ["interrupt"],
  );
  assert.equal(kit.eventsOf("approval-request").length, 1);
  assert.deepEqual(
    (await kit.rows()).filter((row) => row.role === "tool").map((row) => row.content),
    ["a", "b"].map(() => '{"error":"interrupted","note":"not run"}'),
  );
});

test("yolo that is switched on during the turn counts for the next call", async () => {
  const kit = await asking(["a", "b"]);
  let yolo = false;
  const input = {};
  Object.defineProperty(input, "yolo", { get: () => yolo, enumerable: true });
  const { session } = await kit.store.newestDescendant([...kit.store.sessions.keys()][0] ?? "");
  kit.onEvent = (event) => {
    if (event.type !== "approval-request") return;
    yolo = true;
    setImmediate(() => kit.answer(event.requestId, "once"));
  };
  const { runTurn } = await import("./loop.ts");
  await runTurn(
    {
      sessionId: session.id,
      turnId: "turn_y",
      userText: "go",
      clientKey: null,
      surface: "cli",
      answerable: true,
      get yolo() {
        return yolo;
      },
      signal: new AbortController().signal,
      owner: { pid: 1, startTime: "1", host: "here" },
    },
    kit.deps,
  );
  assert.equal(kit.eventsOf("approval-request").length, 1);
  assert.equal(kit.box.runs.length, 2);
});

test("a call is judged after the exclusive call before it ran: a changed directory counts", async () => {
  const cd = fakeTool("cd", {
    exclusive: true,
    run: (input, context) => {
      context.setCwd(String(input));
      return {};
    },
  });
  const write = fakeTool("write", {
    assess: (_input, cwd) => (cwd === "/project" ? {} : { denied: rule("outside") }),
    run: () => ({}),
  });
  const calls = [
    { name: "cd", input: "/etc" },
    { name: "write", input: "passwd" },
  ];
  const kit = await turnKit({ steps: [callsStep(calls), textStep("ok")], tools: [cd, write] });
  await kit.run("go");
  assert.deepEqual(
    kit.box.runs.map((run) => run.name),
    ["cd"],
  );
  assert.equal(kit.memory.cwd, "/etc");
});

test("a call that cannot be judged is not run", async () => {
  const odd = fakeTool("odd", {
    assess: () => {
      throw new Error("EACCES");
    },
    run: () => ({}),
  });
  const kit = await turnKit({
    steps: [callsStep([{ name: "odd", input: 1 }]), textStep("ok")],
    tools: [odd],
  });
  await kit.run("go");
  assert.deepEqual(kit.box.runs, []);
  assert.equal(kit.eventsOf("tool-end")[0]?.code, "TOOL_FAILED");
});

test("a question of a tool: answered, unanswered, stopped, nobody there", async () => {
  const answers: unknown[] = [];
  const clarify = fakeTool("clarify", {
    exclusive: true,
    run: async (_input, context) => {
      const answer = await context.ask({ question: "which?", choices: ["a", "b"] });
      answers.push(answer);
      return { answer };
    },
  });
  const step = () => callsStep([{ name: "clarify", input: 1 }]);
  const end = () => textStep("ok");
  const kit = await turnKit({
    steps: [step(), end(), step(), end(), step(), end(), step()],
    tools: [clarify],
    settings: { clarifyTimeoutMs: 5000 },
  });
  const question = (count: number) =>
    until(`question ${count}`, () => kit.eventsOf("clarify-request").length === count);
  let running = kit.run("one");
  await question(1);
  kit.clarify(kit.eventsOf("clarify-request")[0]?.requestId ?? "", "b");
  await running;
  running = kit.run("two");
  await question(2);
  await kit.clock.advance(5000);
  await running;
  await kit.run("three", { answerable: false });
  const abort = new AbortController();
  running = kit.run("four", { signal: abort.signal });
  await question(3);
  abort.abort();
  await running;
  assert.deepEqual(answers, ["b", null, null, null]);
  assert.deepEqual(
    kit.eventsOf("clarify-end").map((event) => event.reason),
    ["answered", "timeout", "interrupted"],
  );
});
