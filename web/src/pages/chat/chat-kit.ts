// Events and rows for the tests of the chat's pure parts.
import type { AgentEvent, AgentEventBody } from "#protocol/events.ts";
import type { MessageBody } from "#protocol/http-sessions.ts";
import { fold, NOTHING_LIVE, type Live } from "./live.ts";

export const NO_TOKENS = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

/** Folds bodies one after the other, with growing `seq`. */
export function play(bodies: readonly AgentEventBody[], from: Live = NOTHING_LIVE): Live {
  return bodies.reduce((live, body, index) => {
    const event = {
      v: 1,
      seq: index + 1,
      at: "2026-01-15T12:00:00.000Z",
      sessionId: "s",
      turnId: "turn",
      ...body,
    } as AgentEvent;
    return fold(live, event, 1000);
  }, from);
}

export const IDLE: AgentEventBody = { type: "snapshot", state: "idle", turn: null, queue: [] };

export function startTurn(text: string, userMessageId: number): AgentEventBody {
  return {
    type: "turn-start",
    source: "web",
    userMessageId,
    text,
    provider: "demo",
    model: "demo",
  };
}

export function endTurn(messageId: number | null, text = ""): AgentEventBody {
  return {
    type: "turn-end",
    outcome: "done",
    text,
    messageId,
    usage: NO_TOKENS,
    durationMs: 10,
  };
}

export function row(id: number, change: Partial<MessageBody> = {}): MessageBody {
  return {
    id,
    session_id: "s",
    role: "user",
    content: `text ${id}`,
    tool_call_id: null,
    tool_calls: null,
    tool_name: null,
    timestamp: "2026-01-15T12:00:00.000Z",
    token_count: null,
    finish_reason: null,
    reasoning: null,
    active: true,
    kind: null,
    turn_id: null,
    client_message_id: null,
    ...change,
  };
}
