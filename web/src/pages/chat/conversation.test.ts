import { describe, expect, test } from "vitest";
import type { AgentEventBody, TurnSnapshot } from "#protocol/events.ts";
import type { MessageBody } from "#protocol/http-sessions.ts";
import { endTurn, IDLE, NO_TOKENS, play, row, startTurn } from "./chat-kit.ts";
import { conversation, storedPart, type Item, type Outgoing } from "./items.ts";
import { isBusy, type Live } from "./live.ts";

/** The conversation as short words: what a reader sees, in order. */
function seen(
  rows: readonly MessageBody[],
  live: Live,
  outbox: readonly Outgoing[] = [],
): readonly string[] {
  return conversation(storedPart(rows), live, outbox).map(word);
}

function word(item: Item): string {
  switch (item.kind) {
    case "user":
      return `user:${item.text}`;
    case "assistant":
      return `agent:${item.text}${item.streaming ? "…" : ""}${item.interrupted ? "!" : ""}`;
    case "tool":
      return `tool:${item.tool.name}:${item.tool.state}`;
    case "ending":
      return `ending:${item.ending.type}`;
    case "notice":
      return `notice:${item.notice.text}`;
    case "summary":
      return "summary";
    case "working":
      return "working";
  }
}

const delta = (text: string): AgentEventBody => ({ type: "text-delta", blockId: "b", text });
const saved = (messageId: number, role: "assistant" | "tool" | "user"): AgentEventBody => ({
  type: "message-saved",
  messageId,
  role,
  kind: null,
});
const call = (callId: string): AgentEventBody => ({
  type: "tool-call",
  callId,
  name: "terminal",
  input: { command: "ls" },
  index: 0,
  of: 1,
});
const called: AgentEventBody = {
  type: "model-start",
  attempt: 1,
  provider: "demo",
  model: "demo",
};
const toolEnd: AgentEventBody = {
  type: "tool-end",
  callId: "c1",
  ok: true,
  summary: "exit 0",
  durationMs: 1200,
  bytes: 3,
  truncated: false,
};
const asks = row(2, {
  role: "assistant",
  content: "I look.",
  tool_calls: [{ id: "c1", name: "terminal", arguments: '{"command":"ls"}' }],
});
const result = row(3, {
  role: "tool",
  content: '{"exit_code":0,"output":"a\\nb","duration_ms":5}',
  tool_call_id: "c1",
  tool_name: "terminal",
});

describe("everything once, whatever arrives first", () => {
  const question = row(1, { content: "hi" });
  const answer = row(2, { role: "assistant", content: "Hello.", finish_reason: "stop" });
  const events = [
    IDLE,
    startTurn("hi", 1),
    called,
    delta("Hel"),
    delta("lo."),
    saved(2, "assistant"),
  ];

  test("the live text stands alone until its row is loaded", () => {
    const live = play([...events, endTurn(2, "Hello.")]);
    expect(seen([question], live)).toEqual(["user:hi", "agent:Hello."]);
    expect(seen([question, answer], live)).toEqual(["user:hi", "agent:Hello."]);
  });

  test("the user's text shows before its row is loaded", () => {
    expect(seen([], play(events.slice(0, 2)))).toEqual(["user:hi", "working"]);
    expect(seen([question], play(events.slice(0, 4)))).toEqual(["user:hi", "agent:Hel…"]);
  });

  test("a tool call keeps one card from the first event to the stored result", () => {
    const steps = [IDLE, startTurn("hi", 1), called, delta("I look."), call("c1")];
    expect(seen([question], play(steps))).toEqual([
      "user:hi",
      "agent:I look.…",
      "tool:terminal:waiting",
      "working",
    ]);
    const running = [
      ...steps,
      saved(2, "assistant"),
      { type: "tool-start", callId: "c1" } as const,
    ];
    expect(seen([question, asks], play(running))).toEqual([
      "user:hi",
      "agent:I look.",
      "tool:terminal:running",
    ]);
    const done = [...running, toolEnd, saved(3, "tool"), called, delta("Two files.")];
    const all = ["user:hi", "agent:I look.", "tool:terminal:ok", "agent:Two files.…"];
    expect(seen([question, asks], play(done))).toEqual(all);
    expect(seen([question, asks, result], play(done))).toEqual(all);
  });

  test("a snapshot in the middle of a turn rebuilds the same view", () => {
    const turn: TurnSnapshot = {
      turnId: "turn",
      text: "Two fi",
      reasoning: "",
      calls: [
        {
          callId: "c1",
          name: "terminal",
          input: { command: "ls" },
          state: "ok",
          output: "a\nb",
          summary: "exit 0",
        },
      ],
      pending: [],
      savedUpTo: 3,
    };
    const live = play([{ type: "snapshot", state: "calling", turn, queue: [] }, delta("les.")]);
    const view = ["user:hi", "agent:I look.", "tool:terminal:ok", "agent:Two files.…"];
    expect(seen([question, asks, result], live)).toEqual(view);
    expect(live.savedUpTo).toBe(3);
    expect(isBusy(live)).toBe(true);
  });

  test("a fetched row that is ahead of the stream shows its text once", () => {
    const early = { ...answer, turn_id: "turn" };
    const view = ["user:hi", "agent:Hello.", "working"];
    expect(seen([question, early], play(events.slice(0, 4)))).toEqual(view);
    expect(seen([question, early], play(events))).toEqual(view);
    const turn: TurnSnapshot = {
      turnId: "turn",
      text: "Hel",
      reasoning: "",
      calls: [],
      pending: [],
      savedUpTo: 1,
    };
    const live = play([{ type: "snapshot", state: "calling", turn, queue: [] }]);
    expect(seen([question, early], live)).toEqual(view);
  });

  test("a snapshot replaces what was folded before it", () => {
    const before = play(events);
    expect(seen([question, answer], play([IDLE], before))).toEqual(["user:hi", "agent:Hello."]);
  });
});

test("a row on screen stays the same row when its stored form arrives", () => {
  const question = row(1, { content: "hi", client_message_id: "web-1" });
  const answer = row(2, { role: "assistant", content: "Hello." });
  const out: Outgoing = {
    clientId: "web-1",
    text: "hi",
    state: "sending",
    reason: null,
    code: null,
  };
  const keys = (rows: readonly MessageBody[], live: Live) =>
    conversation(storedPart(rows), live, [out]).map((item) => item.key);
  const live = play([IDLE, startTurn("hi", 1), called, delta("Hello."), saved(2, "assistant")]);
  const before = keys([], live).slice(0, 2);
  expect(before[0]).toBe("oweb-1");
  expect(keys([question, answer], live).slice(0, 2)).toEqual(before);
  const later = play([endTurn(2), startTurn("more", 3)], live);
  expect(keys([question, answer], later).slice(0, 2)).toEqual(before);
});

describe("what goes wrong", () => {
  test("a retry withdraws the text of the failed attempt", () => {
    const retry: AgentEventBody = {
      type: "model-retry",
      attempt: 1,
      kind: "network",
      message: "reset",
      waitMs: 500,
      discardText: true,
    };
    const live = play([
      IDLE,
      startTurn("hi", 1),
      called,
      delta("Hal"),
      retry,
      called,
      delta("Hello"),
    ]);
    expect(seen([row(1, { content: "hi" })], live)).toEqual(["user:hi", "agent:Hello…"]);
  });

  test("a failed turn shows its error, an interrupted one offers to go on", () => {
    const failed: AgentEventBody = {
      type: "turn-end",
      outcome: "failed",
      text: "",
      messageId: null,
      usage: NO_TOKENS,
      durationMs: 1,
      error: { kind: "auth", message: "key rejected" },
    };
    const rows = [row(1, { content: "hi" })];
    expect(seen(rows, play([IDLE, startTurn("hi", 1), failed]))).toEqual([
      "user:hi",
      "ending:failed",
    ]);
    const cut = row(2, { role: "assistant", content: "Hal", finish_reason: "interrupted" });
    expect(seen([...rows, cut], play([IDLE]))).toEqual([
      "user:hi",
      "agent:Hal!",
      "ending:interrupted",
    ]);
    expect(seen(rows, play([IDLE]))).toEqual(["user:hi", "ending:unanswered"]);
  });

  test("before the first snapshot nothing is claimed about the end", () => {
    expect(seen([row(1, { content: "hi" })], play([]))).toEqual(["user:hi"]);
  });

  test("undone rows are gone", () => {
    expect(
      seen([row(1, { active: false }), row(2, { role: "assistant", content: "x" })], play([IDLE])),
    ).toEqual(["agent:x"]);
  });

  test("a tool that failed and one without result are told apart", () => {
    const error = row(3, {
      role: "tool",
      tool_call_id: "c1",
      content: '{"error":"no","code":"DENIED"}',
    });
    expect(seen([asks, error], play([IDLE]))[1]).toBe("tool:terminal:failed");
    expect(seen([asks], play([IDLE]))[1]).toBe("tool:terminal:unknown");
  });
});

describe("unsent texts", () => {
  const out: Outgoing = {
    clientId: "web-1",
    text: "later",
    state: "waiting",
    reason: null,
    code: null,
  };
  test("stand at the end until a row carries their id", () => {
    expect(seen([], play([IDLE]), [out])).toEqual(["user:later"]);
    const stored = row(1, { content: "later", client_message_id: "web-1" });
    expect(seen([stored], play([IDLE, startTurn("later", 1)]), [out])).toEqual([
      "user:later",
      "working",
    ]);
  });
});

test("approvals wait until they end, and a turn's end clears them", () => {
  const request: AgentEventBody = {
    type: "approval-request",
    requestId: "q1",
    callId: "c1",
    kind: "command",
    title: "Run",
    detail: "rm -r x",
    rule: "recursive rm",
    choices: ["once", "deny"],
    expiresAt: "2026-01-15T12:05:00.000Z",
  };
  const live = play([IDLE, startTurn("hi", 1), request]);
  expect(live.pending.map((entry) => entry.requestId)).toEqual(["q1"]);
  const after = play([{ type: "approval-end", requestId: "q1", choice: "once", by: "web" }], live);
  expect(after.pending).toEqual([]);
  expect(play([endTurn(null)], live).pending).toEqual([]);
});
