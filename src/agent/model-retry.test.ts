// Retries, waits, fallbacks and watchdogs (agent.md §3.4, §3.5; §12.2 rows 14, 15).
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ModelError, ModelErrorKind } from "#protocol/model-errors.ts";
import { until } from "../../test/kit/until.ts";
import {
  errorStep,
  hangStep,
  scriptedTarget,
  ScriptedModel,
  textStep,
} from "../../test/kit/scripted-model.ts";
import type { Step } from "../../test/kit/scripted-model.ts";
import { assertInvariants, turnKit, type TurnKit } from "../../test/kit/turn-kit.ts";
import { jitterOf, nextStep } from "./model-retry.ts";
import type { ModelClient } from "./ports/model-client.ts";

const TABLE: readonly [ModelErrorKind, Partial<ModelError>, number, string][] = [
  ["rate-limit", {}, 0, "wait 1000"],
  ["overloaded", {}, 1, "wait 2000"],
  ["server", {}, 2, "wait 4000"],
  ["network", {}, 3, "fallback"],
  ["stalled", {}, 0, "wait 1000"],
  ["rate-limit", { retryAfterMs: 2000 }, 0, "wait 2000"],
  ["rate-limit", { retryAfterMs: 0 }, 2, "wait 0"],
  ["rate-limit", { retryAfterMs: 60_000 }, 0, "wait 60000"],
  ["rate-limit", { retryAfterMs: 60_001 }, 0, "fallback"],
  ["overloaded", { retryAfterMs: 300_000 }, 0, "fallback"],
  ["garbled", {}, 1, "wait 2000"],
  ["garbled", {}, 2, "fallback"],
  ["empty", {}, 2, "fallback"],
  ["auth", {}, 0, "fallback"],
  ["billing", {}, 0, "fallback"],
  ["model-missing", {}, 0, "fallback"],
  ["bad-request", {}, 0, "give-up"],
  ["filtered", {}, 0, "give-up"],
  ["aborted", {}, 0, "give-up"],
  ["context", {}, 0, "compress"],
];

for (const [kind, more, failedBefore, expected] of TABLE) {
  test(`${kind} ${JSON.stringify(more)} after ${failedBefore} failures → ${expected}`, () => {
    const next = nextStep(
      { kind, message: "", ...more },
      { failedBefore, maxRetries: 3, jitter: 0.5 },
    );
    assert.equal(next.step === "wait" ? `wait ${next.ms}` : next.step, expected);
  });
}

test("waits stay within 0.8..1.2 and under 30 s × 1.2; no retry means none", () => {
  const error: ModelError = { kind: "server", message: "" };
  for (let failedBefore = 0; failedBefore < 9; failedBefore++) {
    const base = Math.min(30_000, 1000 * 2 ** failedBefore);
    const jitter = jitterOf("turn_0123456789abcdef", failedBefore);
    assert.ok(jitter >= 0 && jitter < 1);
    const next = nextStep(error, { failedBefore, maxRetries: 10, jitter });
    assert.ok(next.step === "wait" && next.ms >= base * 0.8 && next.ms <= base * 1.2);
  }
  assert.equal(nextStep(error, { failedBefore: 0, maxRetries: 0, jitter: 0 }).step, "fallback");
  const many = Array.from({ length: 100 }, (_, count) => jitterOf("turn_a", count));
  assert.ok(Math.min(...many) < 0.2 && Math.max(...many) > 0.8, "spread over the range");
});

async function retried(kit: TurnKit, count: number): Promise<void> {
  await until(`retry ${count}`, () => kit.eventsOf("model-retry").length >= count);
}

test("429 with Retry-After 2 waits 2 s, not less (row 14)", async () => {
  const kit = await turnKit({
    steps: [errorStep("rate-limit", { retryAfterMs: 2000 }), textStep("ok")],
  });
  const running = kit.run("hi");
  await retried(kit, 1);
  await kit.clock.advance(1999);
  assert.equal(kit.model.requests.length, 1);
  await kit.clock.advance(1);
  assert.equal((await running).text, "ok");
  assert.equal(kit.model.requests.length, 2);
});

test("429 with Retry-After 300 goes to the fallback at once (row 14)", async () => {
  const kit = await turnKit({
    steps: [errorStep("rate-limit", { retryAfterMs: 300_000 })],
    deps: { fallback: async (index) => (index === 0 ? other : null) },
  });
  const other = scriptedTarget(new ScriptedModel([textStep("from the other")], kit.clock), {
    provider: "b",
  });
  assert.equal((await kit.run("hi")).text, "from the other");
  assert.equal(kit.eventsOf("model-retry")[0]?.waitMs, 0);
});

const STALLS: readonly [string, Step, number][] = [
  ["before the first byte", hangStep(""), 120_000],
  ["between two chunks", hangStep("some text"), 180_000],
];
for (const [name, step, ms] of STALLS) {
  test(`silence ${name} is stalled after ${ms / 1000} s and tried again (row 14)`, async () => {
    const kit = await turnKit({ steps: [step, textStep("ok")] });
    const running = kit.run("hi");
    await until(
      "the stream is silent",
      () => kit.clock.pending === 1 && kit.model.requests.length === 1,
    );
    await kit.clock.advance(ms - 1);
    assert.equal(kit.eventsOf("model-retry").length, 0);
    await kit.clock.advance(1);
    await retried(kit, 1);
    const [retry] = kit.eventsOf("model-retry");
    assert.deepEqual([retry?.kind, retry?.message], ["stalled", `no data for ${ms / 1000} s`]);
    assert.equal(kit.model.requests[0]?.signal.aborted, true);
    await kit.clock.advance(2000);
    assert.equal((await running).text, "ok");
  });
}

test("signs of life keep a silent stream going", async () => {
  let live: (() => void) | undefined;
  const client: ModelClient = {
    async *stream(request) {
      live = request.onProgress;
      await new Promise<void>((resolve) => {
        request.signal.addEventListener("abort", () => resolve(), { once: true });
      });
      yield { type: "error", error: { kind: "aborted", message: "" } };
    },
  };
  const kit = await turnKit({ target: { client }, settings: { apiMaxRetries: 0 } });
  const running = kit.run("hi");
  await until("the request runs", () => live !== undefined);
  live?.();
  for (let count = 0; count < 3; count++) {
    await kit.clock.advance(179_000);
    live?.();
  }
  assert.equal(kit.eventsOf("turn-end").length, 0);
  await kit.clock.advance(180_000);
  assert.equal((await running).error?.kind, "stalled");
});

test("text of a failed attempt is withdrawn and enters neither history nor draft (row 15)", async () => {
  const kit = await turnKit({
    steps: [errorStep("garbled", {}, "half an ans"), textStep("whole")],
  });
  const running = kit.run("hi");
  await retried(kit, 1);
  assert.equal(kit.store.drafts.size, 0);
  await kit.clock.advance(2000);
  await running;
  assert.equal(kit.eventsOf("model-retry")[0]?.discardText, true);
  assert.deepEqual(
    (await kit.rows()).map((row) => row.content),
    ["hi", "whole"],
  );
});

test("the finally failed turn says why; its text is not stored", async () => {
  const steps = Array.from({ length: 4 }, () => errorStep("server", { status: 500 }, "bla"));
  const kit = await turnKit({ steps: [...steps, textStep("later")] });
  const running = kit.run("hi");
  for (let count = 1; count <= 3; count++) {
    await retried(kit, count);
    await kit.clock.advance(36_000);
  }
  const end = await running;
  assert.deepEqual(
    [end.outcome, end.error?.kind, end.text, end.apiCalls],
    ["failed", "server", "", 4],
  );
  assert.equal(kit.store.turns.get("turn_1")?.outcome, "failed");
  assert.deepEqual(
    (await kit.rows()).map((row) => row.role),
    ["user"],
  );
  await kit.run("again");
  assertInvariants(kit.model.requests);
});

const UNUSABLE: readonly [string, Step, ModelErrorKind][] = [
  ["neither text nor call", textStep(""), "empty"],
  ["only white space", textStep(" \n"), "empty"],
  ["content filter", textStep("some", "content-filter"), "filtered"],
];
for (const [name, step, kind] of UNUSABLE) {
  test(`an answer with ${name} is ${kind}`, async () => {
    const kit = await turnKit({ steps: [step], settings: { apiMaxRetries: 0 } });
    const end = await kit.run("hi");
    assert.deepEqual([end.outcome, end.error?.kind], ["failed", kind]);
  });
}

test("a client that ends without an end, or throws, is garbled", async () => {
  const clients: ModelClient[] = [
    { async *stream() {} },
    {
      // oxlint-disable-next-line require-yield -- a client that breaks its promise
      async *stream() {
        throw new Error("bug");
      },
    },
  ];
  for (const client of clients) {
    const kit = await turnKit({ target: { client }, settings: { apiMaxRetries: 0 } });
    assert.equal((await kit.run("hi")).error?.kind, "garbled");
  }
});

test("a stop during the wait ends the turn at once", async () => {
  const kit = await turnKit({ steps: [errorStep("rate-limit", { retryAfterMs: 60_000 })] });
  const abort = new AbortController();
  const running = kit.run("hi", { signal: abort.signal });
  await retried(kit, 1);
  abort.abort();
  assert.equal((await running).outcome, "interrupted");
  assert.equal(kit.clock.pending, 0);
});

test("a fallback has its own retries", async () => {
  const busy = () => errorStep("server", { retryAfterMs: 0 });
  const kit = await turnKit({
    steps: [busy(), busy()],
    settings: { apiMaxRetries: 1 },
    deps: { fallback: async (index) => (index === 0 ? other : null) },
  });
  kit.onEvent = (event) => {
    if (event.type === "model-retry") setImmediate(() => void kit.clock.advance(0));
  };
  const second = new ScriptedModel([busy(), textStep("at last")], kit.clock);
  const other = scriptedTarget(second, { provider: "b" });
  assert.equal((await kit.run("hi")).text, "at last");
});

test("when all fallbacks fail the last error is told", async () => {
  const kit = await turnKit({
    steps: [errorStep("billing")],
    deps: { fallback: async (index) => others[index] ?? null },
  });
  const others = ["auth", "model-missing"].map((kind) =>
    scriptedTarget(new ScriptedModel([errorStep(kind as ModelErrorKind)], kit.clock), {
      provider: kind,
    }),
  );
  const end = await kit.run("hi");
  assert.equal(end.error?.kind, "model-missing");
  assert.equal(kit.eventsOf("model-retry").length, 2);
});
