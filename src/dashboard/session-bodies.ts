// Stored rows -> bodies on the wire.
import type { SearchHit, SessionRow, StoredMessage } from "#protocol/messages.ts";
import type { MessageBody, SearchHitBody, SessionBody } from "#protocol/http-sessions.ts";
import { isoTime } from "./route-services.ts";

/** A session counts as active for so long after its last message. */
export const ACTIVE_SECONDS = 300;

export function sessionBody(row: SessionRow, nowSeconds: number): SessionBody {
  const { provider } = row.modelConfig;
  return {
    id: row.id,
    root_id: row.rootId,
    parent_session_id: row.parentSessionId,
    source: row.source,
    title: row.title,
    title_source: row.titleSource,
    model: row.model,
    provider: typeof provider === "string" ? provider : null,
    cwd: row.cwd,
    started_at: isoTime(row.startedAt),
    last_active_at: isoTime(row.lastActiveAt),
    ended_at: row.endedAt === null ? null : isoTime(row.endedAt),
    end_reason: row.endReason,
    message_count: row.messageCount,
    tool_call_count: row.toolCallCount,
    api_call_count: row.apiCallCount,
    input_tokens: row.usage.input,
    output_tokens: row.usage.output,
    cache_read_tokens: row.usage.cacheRead,
    cache_write_tokens: row.usage.cacheWrite,
    reasoning_tokens: row.usage.reasoning,
    estimated_cost: row.costUsd,
    state: row.state,
    archived: row.archived,
    pinned: row.pinned,
    is_active: row.endedAt === null && nowSeconds - row.lastActiveAt <= ACTIVE_SECONDS,
  };
}

export function messageBody(row: StoredMessage): MessageBody {
  return {
    id: row.id,
    session_id: row.sessionId,
    role: row.role,
    content: row.content,
    tool_call_id: row.toolCallId,
    tool_calls: row.toolCalls,
    tool_name: row.toolName,
    timestamp: isoTime(row.timestamp),
    token_count: row.tokenCount,
    finish_reason: row.finishReason,
    reasoning: row.reasoning,
    active: row.active,
    kind: row.kind,
    turn_id: row.turnId,
    client_message_id: row.clientKey,
  };
}

export function searchHitBody(hit: SearchHit): SearchHitBody {
  return {
    session_id: hit.sessionId,
    root_id: hit.rootId,
    title: hit.title,
    message_id: hit.messageId,
    snippet: hit.snippet,
    role: hit.role,
    source: hit.source,
    model: hit.model,
    session_started: isoTime(hit.startedAt),
  };
}
