// Stored messages + live parts + unsent texts -> the rows of the conversation, each thing once.
import type { MessageBody } from "#protocol/http-sessions.ts";
import { isBusy, type Live, type LiveCall, type LiveNotice } from "./live.ts";

/** A text of ours that no stored row stands for yet. */
export interface Outgoing {
  readonly clientId: string;
  readonly text: string;
  readonly state: "sending" | "waiting" | "failed";
  /** Sentence of the refusal. */
  readonly reason: string | null;
  /** Code of the refusal. */
  readonly code: string | null;
}

/** A tool call with what is known of it: the stored result wins over the live state. */
export interface ToolView {
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
  readonly state: "waiting" | "running" | "ok" | "failed" | "unknown";
  readonly output: string;
  readonly summary: string | null;
  readonly exitCode: number | null;
  readonly code: string | null;
  readonly startedAtMs: number | null;
  readonly durationMs: number | null;
  readonly truncated: boolean;
}

export type Item =
  | {
      readonly kind: "user";
      readonly key: string;
      /** Id of the stored row; null until there is one. */
      readonly messageId: number | null;
      readonly text: string;
      readonly at: string | null;
      readonly outgoing: Outgoing | null;
    }
  | {
      readonly kind: "assistant";
      readonly key: string;
      readonly text: string;
      readonly reasoning: string;
      readonly at: string | null;
      readonly streaming: boolean;
      readonly interrupted: boolean;
    }
  | { readonly kind: "tool"; readonly key: string; readonly tool: ToolView }
  | { readonly kind: "summary"; readonly key: string; readonly text: string }
  | { readonly kind: "notice"; readonly key: string; readonly notice: LiveNotice }
  | { readonly kind: "ending"; readonly key: string; readonly ending: Ending }
  | { readonly kind: "working"; readonly key: string };

/** How the last turn ended, where that asks for something. */
export type Ending =
  | { readonly type: "interrupted" }
  | { readonly type: "unanswered" }
  | { readonly type: "budget" }
  | { readonly type: "failed"; readonly error: NonNullable<NonNullable<Live["ended"]>["error"]> };

/** Rows of stored messages: pure in its input, so it is made anew only when rows change. */
export interface StoredPart {
  readonly items: readonly Item[];
  readonly ids: ReadonlySet<number>;
  readonly callIds: ReadonlySet<string>;
  /** Calls without a stored result. */
  readonly openCalls: ReadonlySet<string>;
  readonly clientIds: ReadonlySet<string>;
  readonly last: MessageBody | null;
  /** Highest id of an answer, by turn. */
  readonly answerOf: ReadonlyMap<string, number>;
}

export function storedPart(rows: readonly MessageBody[]): StoredPart {
  const results = new Map<string, MessageBody>();
  for (const row of rows) {
    if (row.role === "tool" && row.tool_call_id !== null) results.set(row.tool_call_id, row);
  }
  const items: Item[] = [];
  const callIds = new Set<string>();
  const openCalls = new Set<string>();
  for (const row of rows) {
    if (!row.active) continue;
    items.push(...itemsOfRow(row));
    for (const call of row.tool_calls ?? []) {
      const result = results.get(call.id) ?? null;
      callIds.add(call.id);
      if (result === null) openCalls.add(call.id);
      items.push({
        kind: "tool",
        key: `call:${call.id}`,
        tool: storedTool(call.id, call.name, call.arguments, result),
      });
    }
  }
  return {
    items,
    ids: new Set(rows.map((row) => row.id)),
    callIds,
    openCalls,
    clientIds: new Set(rows.flatMap((row) => row.client_message_id ?? [])),
    answerOf: new Map(
      rows.flatMap((row) =>
        row.role === "assistant" && row.turn_id !== null ? [[row.turn_id, row.id] as const] : [],
      ),
    ),
    last: rows.findLast((row) => row.active && row.kind === null) ?? null,
  };
}

function itemsOfRow(row: MessageBody): Item[] {
  const text = row.content ?? "";
  const key = `m${row.id}`;
  if (row.kind === "summary") return [{ kind: "summary", key, text }];
  if (row.kind === "notice" || row.role === "system") {
    return [{ kind: "notice", key, notice: { key, level: "info", code: "notice", text } }];
  }
  if (row.kind === "nudge") return [];
  if (row.role === "user") {
    const own = row.client_message_id === null ? key : outgoingKey(row.client_message_id);
    return [{ kind: "user", key: own, messageId: row.id, text, at: row.timestamp, outgoing: null }];
  }
  if (row.role !== "assistant") return [];
  const reasoning = row.reasoning ?? "";
  const interrupted = row.finish_reason === "interrupted";
  if (text === "" && reasoning === "" && !interrupted) return [];
  return [
    {
      kind: "assistant",
      key,
      text,
      reasoning,
      at: row.timestamp,
      streaming: false,
      interrupted,
    },
  ];
}

/** A text keeps its row from the moment it is sent. */
const outgoingKey = (clientId: string) => `o${clientId}`;

/** The whole conversation. `outbox` texts disappear once a stored row carries their client id. */
export function conversation(
  stored: StoredPart,
  live: Live,
  outbox: readonly Outgoing[],
): readonly Item[] {
  const items: Item[] = withLiveFacts(stored, live);
  const unsent = outbox.filter((entry) => !stored.clientIds.has(entry.clientId));
  const own = unsent.find((entry) => entry.text === live.user?.text);
  if (live.user !== null && !stored.ids.has(live.user.messageId)) {
    items.push({
      kind: "user",
      key: own ? outgoingKey(own.clientId) : `m${live.user.messageId}`,
      messageId: null,
      text: live.user.text,
      at: null,
      outgoing: null,
    });
  }
  items.push(...liveItems(stored, live));
  for (const notice of live.notices) items.push({ kind: "notice", key: notice.key, notice });
  const ending = endingOf(stored, live);
  if (ending !== null) items.push({ kind: "ending", key: "ending", ending });
  const shown = live.user !== null && own !== undefined && !stored.ids.has(live.user.messageId);
  items.push(...unsent.filter((entry) => !shown || entry !== own).map(outgoingItem));
  if (isBusy(live) && live.pending.length === 0 && !isTalking(items)) {
    items.push({ kind: "working", key: "working" });
  }
  return items;
}

/** Stored rows keep the key of their live form; cards whose result is still to come show the live state. */
function withLiveFacts(stored: StoredPart, live: Live): Item[] {
  const keys = new Map(Object.entries(live.keys).map(([id, key]) => [`m${id}`, key]));
  return stored.items.map((item) => {
    if (item.kind === "assistant") {
      const key = keys.get(item.key);
      return key === undefined ? item : { ...item, key };
    }
    const call = item.kind === "tool" ? live.calls[item.tool.callId] : undefined;
    if (item.kind !== "tool" || !call) return item;
    const isOpen = stored.openCalls.has(call.callId);
    return { ...item, tool: isOpen ? liveTool(call) : withCallFacts(item.tool, call) };
  });
}

/** A fetched row can be ahead of the stream: then the open text is in it already. */
function isOpenTextStored(stored: StoredPart, live: Live): boolean {
  return live.turnId !== null && (stored.answerOf.get(live.turnId) ?? 0) > live.savedUpTo;
}

function liveItems(stored: StoredPart, live: Live): Item[] {
  const lastText = live.parts.findLast((part) => part.kind === "text");
  return live.parts.flatMap((part): Item[] => {
    if (part.kind === "call") {
      const call = live.calls[part.callId];
      if (!call || stored.callIds.has(part.callId)) return [];
      return [{ kind: "tool", key: `call:${part.callId}`, tool: liveTool(call) }];
    }
    if (part.text === "" && part.reasoning === "") return [];
    if (part.savedAs !== null && stored.ids.has(part.savedAs)) return [];
    if (part.savedAs === null && isOpenTextStored(stored, live)) return [];
    return [
      {
        kind: "assistant",
        key: part.key,
        text: part.text,
        reasoning: part.reasoning,
        at: null,
        streaming: part === lastText && part.savedAs === null && isBusy(live),
        interrupted: false,
      },
    ];
  });
}

function outgoingItem(entry: Outgoing): Item {
  return {
    kind: "user",
    key: outgoingKey(entry.clientId),
    messageId: null,
    text: entry.text,
    at: null,
    outgoing: entry,
  };
}

function isTalking(items: readonly Item[]): boolean {
  const last = items.at(-1);
  return (
    (last?.kind === "assistant" && last.streaming && last.text !== "") ||
    (last?.kind === "tool" && last.tool.state === "running")
  );
}

/** Asks for a next step only when the agent is idle and its last word is missing or cut. */
function endingOf(stored: StoredPart, live: Live): Ending | null {
  if (!live.known || isBusy(live)) return null;
  if (live.ended?.outcome === "failed" && live.ended.error !== null) {
    return { type: "failed", error: live.ended.error };
  }
  if (live.ended?.outcome === "budget") return { type: "budget" };
  if (live.ended?.outcome === "interrupted") return { type: "interrupted" };
  const { last } = stored;
  if (last === null || live.savedUpTo > last.id) return null;
  if (last.finish_reason === "interrupted") return { type: "interrupted" };
  if (last.role === "user" || last.role === "tool") return { type: "unanswered" };
  return null;
}

function liveTool(call: LiveCall): ToolView {
  return { ...call, exitCode: null };
}

function withCallFacts(tool: ToolView, call: LiveCall): ToolView {
  return {
    ...tool,
    summary: tool.summary ?? call.summary,
    durationMs: tool.durationMs ?? call.durationMs,
    state: call.state === "failed" ? "failed" : tool.state,
  };
}

function storedTool(
  callId: string,
  name: string,
  argumentsText: string,
  result: MessageBody | null,
): ToolView {
  const base: ToolView = {
    callId,
    name,
    input: parseJson(argumentsText) ?? argumentsText,
    state: "unknown",
    output: "",
    summary: null,
    exitCode: null,
    code: null,
    startedAtMs: null,
    durationMs: null,
    truncated: false,
  };
  return result === null ? base : { ...base, ...readResult(result.content ?? "") };
}

type Outcome = Pick<
  ToolView,
  "state" | "output" | "exitCode" | "code" | "durationMs" | "truncated"
>;

/** A tool's stored result is one JSON text (agent.md §5.1): known fields get their place, the rest is shown as it is. */
function readResult(content: string): Outcome {
  const value = parseJson(content);
  const plain: Outcome = {
    state: "ok",
    output: content,
    exitCode: null,
    code: null,
    durationMs: null,
    truncated: false,
  };
  if (typeof value !== "object" || value === null || Array.isArray(value)) return plain;
  const record = value as Record<string, unknown>;
  const exitCode = typeof record["exit_code"] === "number" ? record["exit_code"] : null;
  const failed = typeof record["error"] === "string";
  return {
    state: failed || (exitCode !== null && exitCode !== 0) ? "failed" : "ok",
    output: resultText(record, failed),
    exitCode,
    code: typeof record["code"] === "string" ? record["code"] : null,
    durationMs: typeof record["duration_ms"] === "number" ? record["duration_ms"] : null,
    truncated: record["truncated"] === true,
  };
}

function resultText(record: Record<string, unknown>, failed: boolean): string {
  for (const name of ["output", "content", "diff", ...(failed ? ["error"] : [])]) {
    if (typeof record[name] === "string") return record[name];
  }
  return JSON.stringify(record, null, 2);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
