// The running turn folded from its events: what a viewer that comes late is given (agent.md §4.2, product.md D17).
import { cutEnd } from "#base/text.ts";
import type {
  AgentEvent,
  CallSnapshot,
  EventOf,
  QueueItem,
  TurnSnapshot,
  TurnState,
} from "#protocol/events.ts";

/** Live output kept per call, in UTF-16 units; the whole of it comes with the stored result. */
const MAX_OUTPUT = 16 * 1024;

export interface TurnView {
  readonly state: TurnState;
  /** null between turns. */
  readonly turn: TurnSnapshot | null;
  readonly queue: readonly QueueItem[];
}

export const idleView: TurnView = { state: "idle", turn: null, queue: [] };

/**
 * Pure. Text counts from the model call's start until its row is stored; calls stay until the next model call, whose
 * request begins after all their results are stored, so that a viewer merges them with stored rows by `callId`.
 */
export function foldEvent(view: TurnView, event: AgentEvent): TurnView {
  switch (event.type) {
    case "snapshot":
      return { state: event.state, turn: event.turn, queue: event.queue };
    case "queue":
      return { ...view, queue: event.items };
    case "status":
      return { ...view, state: event.state };
    case "turn-start":
      return {
        ...view,
        state: "preparing",
        turn: newTurn(event.turnId ?? "", event.userMessageId),
      };
    case "turn-end":
      return { ...view, state: "idle", turn: null };
    case "compress-start":
      return { ...view, state: "compressing" };
    case "model-start":
      return edit(view, (turn) => ({ ...turn, text: "", reasoning: "", calls: [] }));
    case "model-retry":
      return event.discardText ? edit(view, withoutText) : view;
    case "text-delta":
      return edit(view, (turn) => ({ ...turn, text: turn.text + event.text }));
    case "reasoning-delta":
      return edit(view, (turn) => ({ ...turn, reasoning: turn.reasoning + event.text }));
    case "tool-call":
      return edit(view, (turn) => ({ ...turn, calls: [...turn.calls, newCall(event)] }));
    case "tool-start":
      return editCall(view, event.callId, (call) => ({ ...call, state: "running" }));
    case "tool-output":
      return editCall(view, event.callId, (call) => ({
        ...call,
        output: cutEnd(call.output + event.text, MAX_OUTPUT),
      }));
    case "tool-end":
      return editCall(view, event.callId, (call) => ({
        ...call,
        state: event.ok ? "ok" : "failed",
        summary: event.summary,
      }));
    case "approval-request":
    case "clarify-request":
      return edit(view, (turn) => ({ ...turn, pending: [...turn.pending, pendingOf(event)] }));
    case "approval-end":
    case "clarify-end":
      return edit(view, (turn) => ({
        ...turn,
        pending: turn.pending.filter((entry) => entry.requestId !== event.requestId),
      }));
    case "message-saved":
      return edit(view, (turn) => withSaved(turn, event.messageId, event.role === "assistant"));
    case "session-change":
    case "compress-end":
    case "model-end":
    case "title":
    case "notice":
    case "process-end":
      return view;
    default:
      return unknownEvent(view, event);
  }
}

/** A newer writer's event: skipped, never an error. */
function unknownEvent(view: TurnView, _event: never): TurnView {
  return view;
}

function newTurn(turnId: string, savedUpTo: number): TurnSnapshot {
  return { turnId, text: "", reasoning: "", calls: [], pending: [], savedUpTo };
}

function newCall(event: EventOf<"tool-call">): CallSnapshot {
  const { callId, name, input } = event;
  return { callId, name, input, state: "waiting", output: "", summary: null };
}

function pendingOf(
  event: EventOf<"approval-request"> | EventOf<"clarify-request">,
): TurnSnapshot["pending"][number] {
  const { requestId, callId, expiresAt } = event;
  if (event.type === "clarify-request") {
    const { question, choices } = event;
    return { type: "clarify", requestId, callId, question, choices, expiresAt };
  }
  const { kind, title, detail, rule, choices } = event;
  return { type: "approval", requestId, callId, kind, title, detail, rule, choices, expiresAt };
}

/** An event that finds no open turn changes nothing. */
function edit(view: TurnView, change: (turn: TurnSnapshot) => TurnSnapshot): TurnView {
  return view.turn ? { ...view, turn: change(view.turn) } : view;
}

function editCall(
  view: TurnView,
  callId: string,
  change: (call: CallSnapshot) => CallSnapshot,
): TurnView {
  return edit(view, (turn) => ({
    ...turn,
    calls: turn.calls.map((call) => (call.callId === callId ? change(call) : call)),
  }));
}

function withoutText(turn: TurnSnapshot): TurnSnapshot {
  return { ...turn, text: "", reasoning: "" };
}

function withSaved(turn: TurnSnapshot, messageId: number, isAnswer: boolean): TurnSnapshot {
  const savedUpTo = Math.max(turn.savedUpTo, messageId);
  return isAnswer ? { ...withoutText(turn), savedUpTo } : { ...turn, savedUpTo };
}
