// Rows of SQLite as the shapes of the protocol, and back. Liberal with what the Python version wrote.
import type { NewMessage } from "#agent/ports/session-store.ts";
import type {
  MessageKind,
  Role,
  SessionActivity,
  SessionRow,
  StoredMessage,
  ToolCall,
} from "#protocol/messages.ts";
import type { Value } from "./sqlite.ts";

export interface SessionRecord {
  readonly id: string;
  readonly source: string;
  readonly user_id: string | null;
  readonly model: string | null;
  readonly model_config: string | null;
  readonly system_prompt: string | null;
  readonly parent_session_id: string | null;
  readonly started_at: number;
  readonly ended_at: number | null;
  readonly end_reason: string | null;
  readonly message_count: number | null;
  readonly tool_call_count: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cache_read_tokens: number | null;
  readonly cache_write_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly estimated_cost_usd: number | null;
  readonly actual_cost_usd: number | null;
  readonly title: string | null;
  readonly api_call_count: number | null;
  readonly root_id: string | null;
  readonly session_key: string | null;
  readonly cwd: string | null;
  readonly last_active_at: number | null;
  readonly title_source: string | null;
  readonly tools_hash: string | null;
  readonly state: string | null;
  readonly hidden: number | null;
  readonly archived: number | null;
  readonly pinned: number | null;
}

export const SESSION_COLUMNS = `id, source, user_id, model, model_config, system_prompt, parent_session_id, started_at,
  ended_at, end_reason, message_count, tool_call_count, input_tokens, output_tokens, cache_read_tokens,
  cache_write_tokens, reasoning_tokens, estimated_cost_usd, actual_cost_usd, title, api_call_count, root_id,
  session_key, cwd, last_active_at, title_source, tools_hash, state, hidden, archived, pinned`;

export function toSession(row: SessionRecord): SessionRow {
  return {
    id: row.id,
    source: row.source,
    userId: row.user_id,
    model: row.model,
    modelConfig: parseObject(row.model_config),
    systemPrompt: row.system_prompt,
    toolsHash: row.tools_hash,
    parentSessionId: row.parent_session_id,
    rootId: row.root_id ?? row.id,
    sessionKey: row.session_key,
    cwd: row.cwd,
    startedAt: row.started_at,
    lastActiveAt: row.last_active_at ?? row.started_at,
    endedAt: row.ended_at,
    endReason: row.end_reason,
    messageCount: row.message_count ?? 0,
    toolCallCount: row.tool_call_count ?? 0,
    apiCallCount: row.api_call_count ?? 0,
    usage: {
      input: row.input_tokens ?? 0,
      output: row.output_tokens ?? 0,
      cacheRead: row.cache_read_tokens ?? 0,
      cacheWrite: row.cache_write_tokens ?? 0,
      reasoning: row.reasoning_tokens ?? 0,
    },
    costUsd: row.actual_cost_usd ?? row.estimated_cost_usd,
    title: row.title,
    titleSource: toTitleSource(row.title_source),
    state: toActivity(row.state),
    hidden: row.hidden === 1,
    archived: row.archived === 1,
    pinned: row.pinned === 1,
  };
}

function toTitleSource(text: string | null): SessionRow["titleSource"] {
  return text === "user" || text === "model" || text === "first-line" ? text : null;
}

function toActivity(text: string | null): SessionActivity {
  return text === "running" || text === "interrupted" || text === "suspended" ? text : "idle";
}

export interface MessageRecord {
  readonly id: number;
  readonly session_id: string;
  readonly role: string;
  readonly content: string | null;
  readonly tool_call_id: string | null;
  readonly tool_calls: string | null;
  readonly tool_name: string | null;
  readonly timestamp: number;
  readonly token_count: number | null;
  readonly finish_reason: string | null;
  readonly reasoning: string | null;
  readonly reasoning_content: string | null;
  readonly reasoning_details: string | null;
  readonly active: number;
  readonly kind: string | null;
  readonly turn_id: string | null;
  readonly platform_message_id: string | null;
  readonly client_key: string | null;
}

export const MESSAGE_COLUMNS = `id, session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp,
  token_count, finish_reason, reasoning, reasoning_content, reasoning_details, active, kind, turn_id,
  platform_message_id, client_key`;

export function toMessage(row: MessageRecord): StoredMessage {
  return {
    id: row.id,
    sessionId: row.session_id,
    role: toRole(row.role),
    content: row.content,
    toolCallId: row.tool_call_id,
    toolCalls: parseToolCalls(row.tool_calls),
    toolName: row.tool_name,
    timestamp: row.timestamp,
    tokenCount: row.token_count,
    finishReason: row.finish_reason,
    reasoning: row.reasoning ?? row.reasoning_content,
    reasoningDetails: parseJson(row.reasoning_details),
    active: row.active !== 0,
    kind: toKind(row.kind),
    turnId: row.turn_id,
    platformMessageId: row.platform_message_id,
    clientKey: row.client_key,
  };
}

/** A role that we do not know stays readable, as a note that no model is told to act on. */
function toRole(text: string): Role {
  return text === "user" || text === "assistant" || text === "tool" ? text : "system";
}

function toKind(text: string | null): MessageKind | null {
  return text === "summary" || text === "notice" || text === "nudge" ? text : null;
}

const INSERT_COLUMNS = [
  "session_id",
  "role",
  "content",
  "tool_call_id",
  "tool_calls",
  "tool_name",
  "timestamp",
  "token_count",
  "finish_reason",
  "reasoning",
  "reasoning_details",
  "kind",
  "turn_id",
  "platform_message_id",
  "client_key",
] as const;

export const INSERT_MESSAGE = `INSERT INTO messages(${INSERT_COLUMNS.join(", ")})
  VALUES (${INSERT_COLUMNS.map(() => "?").join(", ")})`;

/** Values of INSERT_MESSAGE, in its order. */
export function fromMessage(sessionId: string, message: NewMessage): Value[] {
  return [
    sessionId,
    message.role,
    message.content,
    message.toolCallId ?? null,
    message.toolCalls ? JSON.stringify(message.toolCalls.map(toOpenAiCall)) : null,
    message.toolName ?? null,
    message.timestamp,
    message.tokenCount ?? null,
    message.finishReason ?? null,
    message.reasoning ?? null,
    jsonOrNull(message.reasoningDetails),
    message.kind ?? null,
    message.turnId ?? null,
    message.platformMessageId ?? null,
    message.clientKey ?? null,
  ];
}

function toOpenAiCall(call: ToolCall): unknown {
  return {
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  };
}

/** OpenAI's form; a flat `{id, name, arguments}` and arguments that are an object are understood too. */
function parseToolCalls(text: string | null): readonly ToolCall[] | null {
  const value = parseJson(text);
  if (!Array.isArray(value)) return null;
  const calls = value.map(parseToolCall).filter((call) => call !== null);
  return calls.length === 0 ? null : calls;
}

function parseToolCall(value: unknown): ToolCall | null {
  if (!isRecord(value)) return null;
  const body = isRecord(value["function"]) ? value["function"] : value;
  const { name, arguments: input } = body as { name?: unknown; arguments?: unknown };
  const id = value["id"] ?? value["call_id"];
  if (typeof id !== "string" || typeof name !== "string") return null;
  return { id, name, arguments: typeof input === "string" ? input : JSON.stringify(input ?? {}) };
}

function parseObject(text: string | null): Readonly<Record<string, unknown>> {
  const value = parseJson(text);
  return isRecord(value) ? value : {};
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function parseJson(text: string | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export function jsonOrNull(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value);
}
