// The turn loop over real HTTP on both wires: rows 11 and 14–18 of agent.md §12.2. The loop's clock is moved by hand.
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type { ModelTarget } from "#agent/ports/model-client.ts";
import { fakeTool } from "../kit/fake-tools.ts";
import {
  answer,
  call,
  contextError,
  rateLimited,
  REPLY,
  text,
  think,
  type Answer,
} from "../kit/model-reply.ts";
import { startModelServer, type ModelServer, type ScriptStep } from "../kit/model-server.ts";
import { openDeps, openTestTarget, settingsFor } from "../kit/model-settings.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { SESSION, turnKit, type TurnKit, type TurnKitOptions } from "../kit/turn-kit.ts";
import { until } from "../kit/until.ts";

const WIRES = ["openai-chat", "anthropic-messages"] as const;
type Wire = (typeof WIRES)[number];

const echo = fakeTool("echo", { run: (input) => ({ echoed: input }) });

interface WireKit extends TurnKit {
  readonly server: ModelServer;
  readonly target: ModelTarget;
}

async function wireKit(
  t: TestContext,
  wire: Wire,
  script: readonly ScriptStep[],
  options: TurnKitOptions = {},
): Promise<WireKit> {
  const server = await startModelServer(t, script);
  const target = await openTestTarget(openDeps(settingsFor(wire, server.baseUrl), tempDir(t)));
  const kit = await turnKit({
    tools: [echo],
    target: { ...target, ...options.target },
    ...rest(options),
  });
  return Object.assign(kit, { server, target });
}

function rest({ target: _target, ...others }: TurnKitOptions): TurnKitOptions {
  return others;
}

function retried(kit: TurnKit, count: number): Promise<unknown> {
  return until(`retry ${count}`, () => kit.eventsOf("model-retry").length >= count);
}

const withoutUsage = (reply: Answer): Answer => ({ ...reply, usage: null });

for (const wire of WIRES) {
  describe(`loop on ${wire}`, () => {
    test("row 11: text, two calls with split arguments, text", async (t) => {
      const kit = await wireKit(t, wire, [
        {
          reply: answer(
            "Let me ",
            "look.",
            call("echo", { path: "a b", n: 1 }, { split: 4 }),
            call("echo", { path: "ü😀", n: 2 }, { split: 9 }),
          ),
        },
        { reply: text("Both ", "are there.") },
      ]);
      const end = await kit.run("look twice");
      assert.deepEqual([end.outcome, end.text, end.apiCalls], ["done", "Both are there.", 2]);
      const rows = await kit.rows();
      assert.deepEqual(
        rows.map((row) => [row.role, row.content]),
        [
          ["user", "look twice"],
          ["assistant", "Let me look."],
          ["tool", '{"echoed":{"path":"a b","n":1}}'],
          ["tool", '{"echoed":{"path":"ü😀","n":2}}'],
          ["assistant", "Both are there."],
        ],
      );
      const shape = kit
        .types()
        .filter((type) => !["status", "text-delta", "message-saved"].includes(type));
      assert.deepEqual(shape, [
        "turn-start",
        "model-start",
        "model-end",
        "tool-call",
        "tool-call",
        "tool-start",
        "tool-start",
        "tool-end",
        "tool-end",
        "model-start",
        "model-end",
        "turn-end",
      ]);
      assert.equal(kit.server.requests.length, 2);
      assert.ok(end.usage.input > 0 && end.usage.output > 0);
      kit.server.assertDone();
      kit.server.assertInvariants();
    });

    test("row 14: 429 with Retry-After 2 waits 2 s", async (t) => {
      const kit = await wireKit(t, wire, [{ reply: rateLimited(2) }, { reply: text("ok") }]);
      const running = kit.run("hi");
      await retried(kit, 1);
      const [retry] = kit.eventsOf("model-retry");
      assert.deepEqual([retry?.kind, retry?.waitMs], ["rate-limit", 2000]);
      await kit.clock.advance(1999);
      assert.equal(kit.server.requests.length, 1);
      await kit.clock.advance(1);
      assert.equal((await running).text, "ok");
      assert.equal(kit.server.requests.length, 2);
    });

    test("row 14: 429 with Retry-After 300 goes to the fallback at once", async (t) => {
      const other = await startModelServer(t, [{ reply: text("from the other") }]);
      const settings = settingsFor(wire, other.baseUrl, "other-model");
      const target = await openTestTarget(openDeps(settings, tempDir(t)));
      const kit = await wireKit(t, wire, [{ reply: rateLimited(300) }], { fallbacks: [target] });
      const end = await kit.run("hi");
      assert.deepEqual([end.text, end.model], ["from the other", "other-model"]);
      assert.equal(other.requests[0]?.model, "other-model");
    });

    test("row 14: a stall is noticed by the clock, the request is aborted and made again", async (t) => {
      const kit = await wireKit(t, wire, [
        { reply: answer("half", { stall: true }) },
        { reply: REPLY.silent },
        { reply: text("ok") },
      ]);
      const running = kit.run("hi");
      await until("text is shown", () => kit.eventsOf("text-delta").length > 0);
      await kit.clock.advance(180_000);
      await retried(kit, 1);
      await until("the first socket is closed", () => kit.server.requests[0]?.aborted);
      await kit.clock.advance(2000);
      await until("the second request is there", () => kit.server.requests.length === 2);
      await kit.clock.advance(120_000);
      await retried(kit, 2);
      await kit.clock.advance(5000);
      assert.equal((await running).text, "ok");
      assert.deepEqual(
        kit.eventsOf("model-retry").map((event) => [event.kind, event.discardText]),
        [
          ["stalled", true],
          ["stalled", false],
        ],
      );
    });

    test("row 15: a cut and a garbage line withdraw what was shown; history has one answer", async (t) => {
      const kit = await wireKit(t, wire, [
        { reply: answer("first try ", { hold: "shown" }, { cut: true }) },
        { reply: answer("second try ", { garbage: "{not json" }) },
        { reply: text("third ", "time.") },
      ]);
      const running = kit.run("hi");
      await until("text is shown", () => kit.eventsOf("text-delta").length > 0);
      kit.server.release("shown");
      for (const count of [1, 2]) {
        await retried(kit, count);
        await kit.clock.advance(10_000);
      }
      assert.equal((await running).text, "third time.");
      assert.deepEqual(
        kit.eventsOf("model-retry").map((event) => event.discardText),
        [true, true],
      );
      assert.deepEqual(
        (await kit.rows()).map((row) => row.content),
        ["hi", "third time."],
      );
      kit.server.assertDone();
      kit.server.assertInvariants();
    });

    test("row 16: a context error naming 8192 compresses, remembers, answers", async (t) => {
      const wording = wire === "openai-chat" ? "openai" : "anthropic";
      const kit = await wireKit(t, wire, [
        { reply: contextError(wording, 8192) },
        { when: { tools: false }, reply: text("## Goal\nthe red door") },
        { reply: text("Behind it is a garden.") },
      ]);
      const words = "word ".repeat(900);
      for (let index = 0; index < 12; index++) {
        await kit.store.appendMessages(SESSION, [
          { role: "user", content: `question ${index} ${words}`, timestamp: index },
          { role: "assistant", content: `answer ${index} ${words}`, timestamp: index },
        ]);
      }
      const end = await kit.run("what is behind the red door?");
      assert.deepEqual([end.outcome, end.text], ["done", "Behind it is a garden."]);
      assert.deepEqual(kit.remembered, [8192]);
      assert.equal((await kit.store.getSession(SESSION))?.endReason, "compressed");
      const last = kit.server.requests.at(-1);
      assert.match(JSON.stringify(last?.messages), /the red door/);
      assert.match(last?.lastUserText ?? "", /what is behind the red door\?$/);
      kit.server.assertDone();
      kit.server.assertInvariants({ newSessionAt: [2] });
    });

    test("row 17: many turns with compressions keep the prefix within each session row", async (t) => {
      const kit = await wireKit(
        t,
        wire,
        [
          { when: { tools: false }, times: Infinity, reply: withoutUsage(text("## Goal\nnotes")) },
          {
            when: { tools: true },
            times: Infinity,
            reply: (request) =>
              request.messages.at(-1)?.role === "user" && request.lastUserText.endsWith("call")
                ? withoutUsage(answer(call("echo", { at: request.index })))
                : withoutUsage(text(`said ${request.index} `, "word ".repeat(700))),
          },
        ],
        { target: { contextWindow: 16_384 } },
      );
      for (let turn = 0; turn < 30; turn++) {
        const end = await kit.run(`turn ${turn} ${turn % 3 === 0 ? "call" : "say"}`);
        assert.equal(end.outcome, "done", end.error?.message ?? "");
      }
      const compressed = kit.eventsOf("compress-end").filter((event) => event.ok).length;
      assert.ok(compressed >= 2, `${compressed} compressions`);
      const chats = kit.server.requests.filter((request) => request.toolNames.length > 0);
      const bySession = Map.groupBy(chats, (request) => request.system);
      assert.equal(bySession.size, compressed + 1);
      for (const requests of bySession.values()) kit.server.assertInvariants({ requests });
    });

    test("row 18: three parallel calls that end in reverse are stored and sent in call order", async (t) => {
      const release = new Map<number, () => void>();
      const slow = fakeTool("slow", {
        run: (input) =>
          new Promise((resolve) => {
            const { n } = input as { n: number };
            release.set(n, () => resolve({ n }));
          }),
      });
      const kit = await wireKit(
        t,
        wire,
        [{ reply: answer(...[1, 2, 3].map((n) => call("slow", { n }))) }, { reply: text("done") }],
        { tools: [slow] },
      );
      const running = kit.run("go");
      await until("all three run", () => release.size === 3);
      for (const n of [3, 2, 1]) release.get(n)?.();
      assert.equal((await running).text, "done");
      const sent = kit.server.requests[1]?.messages.flatMap((message) =>
        message.role === "tool" ? [message.content] : [],
      );
      assert.deepEqual(sent, ['{"n":1}', '{"n":2}', '{"n":3}']);
      kit.server.assertInvariants();
    });

    test("row 13: a stop closes the request's socket and keeps the text", async (t) => {
      const kit = await wireKit(t, wire, [{ reply: answer("I was about to", { stall: true }) }]);
      const abort = new AbortController();
      const running = kit.run("hi", { signal: abort.signal });
      await until("text is shown", () => kit.eventsOf("text-delta").length > 0);
      abort.abort();
      const end = await running;
      assert.deepEqual([end.outcome, end.text], ["interrupted", "I was about to"]);
      await until("the socket is closed", () => kit.server.requests[0]?.aborted);
    });

    test("row 19: at the cap the request forbids tools and still lists them", async (t) => {
      const kit = await wireKit(
        t,
        wire,
        [
          { reply: answer(call("echo", { n: 1 })) },
          { reply: answer(call("echo", { n: 2 })) },
          { reply: text("so far") },
        ],
        { settings: { maxTurns: 2 } },
      );
      const end = await kit.run("go");
      assert.deepEqual([end.outcome, end.text], ["budget", "so far"]);
      assert.equal(kit.server.requests[2]?.toolChoice, "none");
      assert.deepEqual(kit.server.requests[2]?.toolNames, ["echo"]);
      kit.server.assertInvariants();
    });
  });
}

test("anthropic: reasoning goes back with its signature, also after it was stored", async (t) => {
  const kit = await wireKit(t, "anthropic-messages", [
    { reply: answer(think(["First ", "I think."], "sig-42"), call("echo", { n: 1 })) },
    { reply: text("done") },
    { reply: text("again") },
  ]);
  await kit.run("go");
  await kit.run("more");
  const sent = kit.server.requests
    .slice(1)
    .map((request) => JSON.stringify(request.body["messages"]));
  for (const body of sent) {
    assert.match(body, /"type":"thinking","thinking":"First I think\.","signature":"sig-42"/);
  }
  kit.server.assertInvariants();
});
