import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentEventBody } from "#protocol/events.ts";
import { NO_USAGE } from "#protocol/messages.ts";
import { describeInput, Screen, type ScreenOptions } from "./screen.ts";

function open(options: Partial<ScreenOptions> = {}) {
  let shown = "";
  const typing = { on: false };
  const screen = new Screen(
    { write: (text) => void (shown += text), paint: (_style, text) => text },
    { toolProgress: "all", showReasoning: false, ...options },
    { isTyping: () => typing.on, makeWay: () => undefined },
  );
  const see = (body: AgentEventBody): void =>
    screen.event({ v: 1, seq: 1, at: "", sessionId: "s", turnId: "t", ...body });
  return { screen, see, typing, shown: () => shown };
}

test("nothing that the terminal would obey comes out of an answer, a tool or a question", () => {
  const { screen, see, shown } = open({ showReasoning: true, toolProgress: "verbose" });
  const evil = "\x1b[2K\x1b]52;c;eA==\x07\x9b";
  see(delta(`one${evil}\n`));
  see({ type: "reasoning-delta", blockId: "r", text: `two${evil}\n` });
  see({ type: "tool-output", callId: "c", stream: "stdout", text: `three${evil}\n` });
  screen.say(`? rm -rf .${evil}\rls`);
  screen.show(`four${evil}`);
  // oxlint-disable-next-line no-control-regex -- that is what is looked for
  assert.doesNotMatch(shown(), /[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  assert.match(shown(), /rm -rf \.\\x1b\[2K/);
});

const delta = (text: string): AgentEventBody => ({ type: "text-delta", blockId: "b", text });
const end = (outcome: "done" | "interrupted" | "budget"): AgentEventBody => ({
  type: "turn-end",
  outcome,
  text: "",
  messageId: null,
  usage: NO_USAGE,
  durationMs: 1,
});
const toolCall = (name: string): AgentEventBody => ({
  type: "tool-call",
  callId: "c",
  name,
  input: { command: "ls -la" },
  index: 0,
  of: 1,
});
const toolEnd: AgentEventBody = {
  type: "tool-end",
  callId: "c",
  ok: true,
  summary: "exit 0",
  durationMs: 1200,
  bytes: 1,
  truncated: false,
};

test("text streams as it is; lines of ours begin on their own line", () => {
  const { see, shown } = open();
  for (const body of [
    delta("Let me "),
    delta("look."),
    toolCall("terminal"),
    toolEnd,
    delta("Done."),
    end("done"),
  ])
    see(body);
  assert.equal(shown(), "Let me look.\n⚙ terminal ls -la\n  ✓ exit 0 (1.2 s)\nDone.\n");
});

test("held markup comes out before a line of ours", () => {
  let shown = "";
  let rest = "";
  const filter = {
    push: (text: string) => ((rest += text), ""),
    flush: () => rest.toUpperCase(),
    reset: () => undefined,
  };
  const screen = new Screen(
    { write: (text) => void (shown += text), paint: (_style, text) => text },
    { toolProgress: "all", showReasoning: false },
    { isTyping: () => false, makeWay: () => undefined },
    filter,
  );
  screen.event({
    v: 1,
    seq: 1,
    at: "",
    sessionId: "s",
    turnId: "t",
    type: "text-delta",
    blockId: "b",
    text: "held",
  });
  screen.say("ours");
  assert.equal(shown, "HELD\nours\n");
});

test("output waits while the user types and comes whole afterwards", () => {
  const { screen, see, typing, shown } = open();
  see(delta("one"));
  typing.on = true;
  screen.makeRoom();
  see(delta(" two"));
  assert.equal(shown(), "one\n");
  typing.on = false;
  see(delta(" three"));
  assert.equal(shown(), "one\n", "nothing overtakes what is held back");
  screen.lineEntered();
  see(delta("!"));
  assert.equal(shown(), "one\n two three!");
});

test("tool_progress: off, new, verbose; reasoning only when asked for", () => {
  const output: AgentEventBody = {
    type: "tool-output",
    callId: "c",
    stream: "stdout",
    text: "a file\n",
  };
  const thought: AgentEventBody = { type: "reasoning-delta", blockId: "r", text: "hmm\n" };
  const run = (options: Partial<ScreenOptions>): string => {
    const { see, shown } = open(options);
    for (const body of [
      thought,
      toolCall("terminal"),
      output,
      toolEnd,
      toolCall("terminal"),
      toolEnd,
    ])
      see(body);
    return shown();
  };
  assert.equal(run({ toolProgress: "off" }), "");
  assert.equal(run({ toolProgress: "new" }), "⚙ terminal ls -la\n");
  assert.match(run({ toolProgress: "verbose" }), /a file\n {2}✓ exit 0/);
  assert.match(run({ toolProgress: "off", showReasoning: true }), /^hmm\n$/);
});

test("a withdrawn text is said to be withdrawn, an interrupted turn to be one", () => {
  const { see, shown } = open();
  see(delta("half"));
  see({
    type: "model-retry",
    attempt: 1,
    kind: "server",
    message: "provider error 500",
    waitMs: 1500,
    discardText: true,
  });
  see(end("interrupted"));
  assert.equal(
    shown(),
    "half\n! provider error 500; again in 2 s (the text above is withdrawn)\n[interrupted; what was shown is kept]\n",
  );
});

test("an input on one line", () => {
  assert.equal(describeInput({ timeout: 3, command: "a\n  b" }), " a b");
  assert.equal(describeInput({ urls: ["https://x"] }), ' ["https://x"]');
  assert.equal(describeInput({}), "");
  assert.ok(describeInput({ content: "x".repeat(500) }).length < 140);
});
