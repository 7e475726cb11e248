// Folds the event stream of one session into what is on screen beyond the stored messages (agent.md §4.2).
// A `snapshot` replaces everything; stored messages take the place of live parts by id, so each text shows once.
import type {
  AgentEvent,
  ApprovalRequest,
  ClarifyRequest,
  QueueItem,
  TurnError,
  TurnOutcome,
  TurnSnapshot,
  TurnState,
} from "#protocol/events.ts";
import type { Usage } from "#protocol/messages.ts";

/** Text of one model call; `savedAs` is the id of the stored message that will replace it. */
export interface LiveText {
  readonly kind: "text";
  readonly key: string;
  readonly text: string;
  readonly reasoning: string;
  readonly savedAs: number | null;
}

export interface LiveCall {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  readonly state: "waiting" | "running" | "ok" | "failed";
  readonly output: string;
  readonly summary: string | null;
  readonly code: string | null;
  /** Browser time of the start; null before it and after a reload. */
  readonly startedAtMs: number | null;
  readonly durationMs: number | null;
  readonly truncated: boolean;
}

export type LivePart = LiveText | { readonly kind: "call"; readonly callId: string };

export type PendingRequest =
  | ({ readonly type: "approval" } & ApprovalRequest)
  | ({ readonly type: "clarify" } & ClarifyRequest);

export interface LiveNotice {
  readonly key: string;
  readonly level: "info" | "warning" | "error";
  readonly code: string;
  readonly text: string;
}

export interface Retry {
  readonly attempt: number;
  readonly message: string;
  readonly waitMs: number;
  /** Event time, ISO 8601. */
  readonly at: string;
}

export interface TurnEnded {
  readonly turnId: string | null;
  readonly outcome: TurnOutcome;
  readonly error: TurnError | null;
  readonly messageId: number | null;
}

export interface Live {
  /** False until the first snapshot: nothing is known yet. */
  readonly known: boolean;
  readonly state: TurnState;
  readonly turnId: string | null;
  /** The user's text of the running turn until its row is loaded. */
  readonly user: { readonly messageId: number; readonly text: string } | null;
  readonly parts: readonly LivePart[];
  readonly calls: Readonly<Record<string, LiveCall>>;
  /** Row keys of stored messages that were live here before: the row on screen stays the same row. */
  readonly keys: Readonly<Record<number, string>>;
  readonly pending: readonly PendingRequest[];
  readonly queue: readonly QueueItem[];
  readonly notices: readonly LiveNotice[];
  readonly retry: Retry | null;
  readonly ended: TurnEnded | null;
  /** Input tokens of the last model call, for the context bar; null before one. */
  readonly lastUsage: Usage | null;
  /** Sum over this view's calls. */
  readonly costUsd: number | null;
  /** Highest id known to be stored: messages up to here must be fetched. */
  readonly savedUpTo: number;
  /** Grows when stored rows may have changed; the controller then fetches. */
  readonly revision: number;
  readonly movedTo: string | null;
  readonly title: string | null;
}

export const NOTHING_LIVE: Live = {
  known: false,
  state: "idle",
  turnId: null,
  user: null,
  parts: [],
  calls: {},
  keys: {},
  pending: [],
  queue: [],
  notices: [],
  retry: null,
  ended: null,
  lastUsage: null,
  costUsd: null,
  savedUpTo: 0,
  revision: 0,
  movedTo: null,
  title: null,
};

/** Output kept per call in the page; the whole of it comes with the stored result. */
const MOST_OUTPUT = 200_000;
const MOST_NOTICES = 50;

/** `nowMs` is the browser's clock, for running times only. */
export function fold(live: Live, event: AgentEvent, nowMs: number): Live {
  switch (event.type) {
    case "snapshot":
      return fromSnapshot(live, event.turn, event.state, event.queue);
    case "turn-start":
      return {
        ...live,
        state: "preparing",
        turnId: event.turnId,
        user: { messageId: event.userMessageId, text: event.text },
        parts: [],
        calls: {},
        pending: [],
        retry: null,
        ended: null,
        savedUpTo: Math.max(live.savedUpTo, event.userMessageId),
        revision: live.revision + 1,
      };
    case "status":
      return { ...live, state: event.state };
    case "model-start":
      return { ...live, state: "calling", retry: null, parts: withNewText(live.parts, event.seq) };
    case "model-end":
      return {
        ...live,
        lastUsage: event.usage,
        costUsd: event.costUsd === undefined ? live.costUsd : (live.costUsd ?? 0) + event.costUsd,
      };
    case "model-retry":
      return {
        ...live,
        retry: {
          attempt: event.attempt,
          message: event.message,
          waitMs: event.waitMs,
          at: event.at,
        },
        parts: event.discardText ? withoutOpenText(live.parts) : live.parts,
      };
    case "text-delta":
      return {
        ...live,
        parts: editText(live.parts, event.seq, (part) => ({
          ...part,
          text: part.text + event.text,
        })),
      };
    case "reasoning-delta":
      return {
        ...live,
        parts: editText(live.parts, event.seq, (part) => ({
          ...part,
          reasoning: part.reasoning + event.text,
        })),
      };
    case "tool-call":
      return withCall(live, newCall(event.callId, event.name, event.input));
    case "tool-start":
      return editCall(live, event.callId, (call) => ({
        ...call,
        state: "running",
        startedAtMs: nowMs,
      }));
    case "tool-output":
      return editCall(live, event.callId, (call) => ({
        ...call,
        output: (call.output + event.text).slice(-MOST_OUTPUT),
      }));
    case "tool-end":
      return editCall(live, event.callId, (call) => ({
        ...call,
        state: event.ok ? "ok" : "failed",
        summary: event.summary,
        durationMs: event.durationMs,
        truncated: event.truncated,
        code: event.code ?? null,
      }));
    case "approval-request":
      return withPending(live, { ...event, type: "approval" });
    case "clarify-request":
      return withPending(live, { ...event, type: "clarify" });
    case "approval-end":
    case "clarify-end":
      return {
        ...live,
        pending: live.pending.filter((entry) => entry.requestId !== event.requestId),
      };
    case "message-saved":
      return {
        ...(event.role === "assistant" ? withSavedText(live, event.messageId) : live),
        savedUpTo: Math.max(live.savedUpTo, event.messageId),
        revision: live.revision + 1,
      };
    case "compress-start":
      return { ...live, state: "compressing" };
    case "compress-end":
      return {
        ...live,
        notices: addNotice(live.notices, {
          key: `c${event.seq}`,
          level: event.ok ? "info" : "warning",
          code: event.ok ? "compressed" : (event.code ?? "COMPRESS_FAILED"),
          text: event.ok ? `${event.before} → ${event.after}` : "",
        }),
      };
    case "session-change":
      return { ...live, movedTo: event.toSessionId };
    case "title":
      return { ...live, title: event.title };
    case "notice":
      return {
        ...live,
        notices: addNotice(live.notices, {
          key: `n${event.seq}`,
          level: event.level,
          code: event.code,
          text: event.text,
        }),
      };
    case "process-end":
      return {
        ...live,
        notices: addNotice(live.notices, {
          key: `p${event.seq}`,
          level: event.exitCode === 0 ? "info" : "warning",
          code: "process-end",
          text: `${event.processId}: ${event.exitCode ?? "?"}`,
        }),
      };
    case "queue":
      return { ...live, queue: event.items };
    case "turn-end":
      return {
        ...(event.messageId === null ? live : withSavedText(live, event.messageId)),
        state: "idle",
        turnId: null,
        pending: [],
        retry: null,
        ended: {
          turnId: event.turnId,
          outcome: event.outcome,
          error: event.error ?? null,
          messageId: event.messageId,
        },
        savedUpTo: Math.max(live.savedUpTo, event.messageId ?? 0),
        revision: live.revision + 1,
      };
    default:
      return unknownEvent(live, event);
  }
}

/** A newer server's event: skipped, never an error. */
function unknownEvent(live: Live, _event: never): Live {
  return live;
}

function fromSnapshot(
  live: Live,
  turn: TurnSnapshot | null,
  state: TurnState,
  queue: readonly QueueItem[],
): Live {
  const base: Live = {
    ...NOTHING_LIVE,
    known: true,
    state,
    queue,
    notices: live.notices,
    title: live.title,
    keys: live.keys,
    lastUsage: live.lastUsage,
    costUsd: live.costUsd,
    ended: turn === null ? live.ended : null,
    savedUpTo: Math.max(live.savedUpTo, turn?.savedUpTo ?? 0),
    revision: live.revision + 1,
  };
  if (turn === null) return base;
  const text: LivePart[] =
    turn.text === "" && turn.reasoning === ""
      ? []
      : [
          {
            kind: "text",
            key: openTextKey(live) ?? `s${turn.turnId}`,
            text: turn.text,
            reasoning: turn.reasoning,
            savedAs: null,
          },
        ];
  const calls = turn.calls.map((call): LiveCall => ({
    ...newCall(call.callId, call.name, call.input),
    state: call.state,
    output: call.output,
    summary: call.summary,
  }));
  // Unstored text belongs to the call after finished tools, or to the call that asks for waiting ones.
  const asked = calls.map(({ callId }): LivePart => ({ kind: "call", callId }));
  return {
    ...base,
    turnId: turn.turnId,
    parts: calls.some((call) => call.state !== "waiting")
      ? [...asked, ...text]
      : [...text, ...asked],
    calls: Object.fromEntries(calls.map((call) => [call.callId, call])),
    pending: turn.pending,
  };
}

function newCall(callId: string, name: string, input: unknown): LiveCall {
  return {
    callId,
    name,
    input,
    state: "waiting",
    output: "",
    summary: null,
    code: null,
    startedAtMs: null,
    durationMs: null,
    truncated: false,
  };
}

/** The text that deltas go to: the last one, as long as it is not stored yet. */
function openTextIndex(parts: readonly LivePart[]): number {
  const index = parts.findLastIndex((part) => part.kind === "text");
  const part = parts[index];
  return part?.kind === "text" && part.savedAs === null ? index : -1;
}

/** After a reconnect the text on screen goes on in its row. */
function openTextKey(live: Live): string | null {
  const open = live.parts[openTextIndex(live.parts)];
  return open?.kind === "text" ? open.key : null;
}

function withNewText(parts: readonly LivePart[], seq: number): readonly LivePart[] {
  const open = parts[openTextIndex(parts)];
  if (open?.kind === "text" && open.text === "" && open.reasoning === "") return parts;
  return [...parts, { kind: "text", key: `t${seq}`, text: "", reasoning: "", savedAs: null }];
}

function editText(
  parts: readonly LivePart[],
  seq: number,
  edit: (part: LiveText) => LiveText,
): readonly LivePart[] {
  const ready = openTextIndex(parts) === -1 ? withNewText(parts, seq) : parts;
  const index = openTextIndex(ready);
  return ready.map((part, at) => (at === index && part.kind === "text" ? edit(part) : part));
}

function withoutOpenText(parts: readonly LivePart[]): readonly LivePart[] {
  const index = openTextIndex(parts);
  return parts.filter((_, at) => at !== index);
}

function withSavedText(live: Live, messageId: number): Live {
  const index = openTextIndex(live.parts);
  const open = live.parts[index];
  if (open?.kind !== "text") return live;
  return {
    ...live,
    parts: live.parts.map((part, at) => (at === index ? { ...open, savedAs: messageId } : part)),
    keys: { ...live.keys, [messageId]: open.key },
  };
}

function withCall(live: Live, call: LiveCall): Live {
  if (live.calls[call.callId]) return live;
  return {
    ...live,
    parts: [...live.parts, { kind: "call", callId: call.callId }],
    calls: { ...live.calls, [call.callId]: call },
  };
}

function editCall(live: Live, callId: string, edit: (call: LiveCall) => LiveCall): Live {
  const call = live.calls[callId];
  return call ? { ...live, calls: { ...live.calls, [callId]: edit(call) } } : live;
}

function withPending(live: Live, request: PendingRequest): Live {
  const others = live.pending.filter((entry) => entry.requestId !== request.requestId);
  return { ...live, pending: [...others, request] };
}

function addNotice(notices: readonly LiveNotice[], notice: LiveNotice): readonly LiveNotice[] {
  return [...notices, notice].slice(-MOST_NOTICES);
}

/** The agent works or waits: the composer offers stop, queue and steer. */
export function isBusy(live: Live): boolean {
  return live.turnId !== null || (live.state !== "idle" && live.state !== "failed");
}
