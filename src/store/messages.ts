// Rows of `messages`: appended, read by page, and what the model sees of them.
import type {
  CompressionStep,
  MessagePage,
  ModelHistory,
  NewMessage,
  SessionStore,
} from "#agent/ports/session-store.ts";
import { ownIdentity } from "#base/process-identity.ts";
import type { SessionRow, StoredMessage } from "#protocol/messages.ts";
import type { StoreContext } from "./context.ts";
import { dropDraft } from "./drafts.ts";
import { arrangeHistory, type OpenCall } from "./history.ts";
import { liveLease } from "./live-leases.ts";
import {
  fromMessage,
  INSERT_MESSAGE,
  MESSAGE_COLUMNS,
  type MessageRecord,
  toMessage,
} from "./rows.ts";
import { insertSession, needSession } from "./sessions.ts";
import type { Sql, Value } from "./sqlite.ts";
import { cleanTitle, freeTitle } from "./titles.ts";
import { TRANSCRIPT_LIMIT_MS } from "./transaction.ts";

/** What the model reads where a result is missing: I5 of agent.md §4.3. */
const OUTCOME_UNKNOWN = JSON.stringify({ error: "interrupted", note: "outcome unknown" });

/** In the caller's transaction. A client key that is there already gives its row's id. */
export function insertMessages(
  sql: Sql,
  sessionId: string,
  messages: readonly NewMessage[],
): readonly number[] {
  const ids: number[] = [];
  let added = 0;
  let calls = 0;
  let lastAt = 0;
  for (const message of messages) {
    const known = message.clientKey ? idOfKey(sql, sessionId, message.clientKey) : null;
    ids.push(known ?? sql.run(INSERT_MESSAGE, ...fromMessage(sessionId, message)).lastId);
    if (known !== null) continue;
    if (message.role === "assistant" && message.turnId) dropDraft(sql, message.turnId);
    added++;
    calls += message.toolCalls?.length ?? 0;
    lastAt = Math.max(lastAt, message.timestamp);
  }
  if (added > 0) {
    sql.run(
      `UPDATE sessions SET message_count = coalesce(message_count, 0) + ?,
        tool_call_count = coalesce(tool_call_count, 0) + ?,
        last_active_at = max(coalesce(last_active_at, started_at), ?) WHERE id = ?`,
      added,
      calls,
      lastAt,
      sessionId,
    );
  }
  return ids;
}

function idOfKey(sql: Sql, sessionId: string, key: string): number | null {
  const row = sql.get<{ id: number }>(
    "SELECT id FROM messages WHERE session_id = ? AND client_key = ?",
    sessionId,
    key,
  );
  return row?.id ?? null;
}

function selectMessages(sql: Sql, rest: string, ...values: Value[]): StoredMessage[] {
  return sql
    .all<MessageRecord>(`SELECT ${MESSAGE_COLUMNS} FROM messages ${rest}`, ...values)
    .map(toMessage);
}

function readPage(
  sql: Sql,
  sessionId: string,
  page: Parameters<SessionStore["readMessages"]>[1],
): MessagePage {
  needSession(sql, sessionId);
  const total = sql.get<{ total: number }>(
    "SELECT count(*) AS total FROM messages WHERE session_id = ?",
    sessionId,
  );
  const messages = selectMessages(
    sql,
    `WHERE session_id = ? AND id > ? AND id < ? ORDER BY id ${page.order === "asc" ? "ASC" : "DESC"} LIMIT ? OFFSET ?`,
    sessionId,
    page.after ?? -1,
    page.before ?? Number.MAX_SAFE_INTEGER,
    page.limit,
    page.offset ?? 0,
  );
  return { messages, total: total?.total ?? 0 };
}

function activeMessages(sql: Sql, sessionId: string): StoredMessage[] {
  needSession(sql, sessionId);
  return selectMessages(sql, "WHERE session_id = ? AND active <> 0 ORDER BY id", sessionId);
}

async function loadHistory(context: StoreContext, sessionId: string): Promise<ModelHistory> {
  const found = await context.read((sql) => arrangeHistory(activeMessages(sql, sessionId)));
  if (found.open.length === 0) return { messages: found.messages, repairedCalls: [] };
  return context.write((sql) => repair(sql, context, sessionId), TRANSCRIPT_LIMIT_MS);
}

/** Answers the calls that are still open; a turn that another process runs right now is not ours to repair. */
function repair(sql: Sql, context: StoreContext, sessionId: string): ModelHistory {
  const before = arrangeHistory(activeMessages(sql, sessionId));
  const now = context.clock.now() / 1000;
  const lease = liveLease(sql, context, sessionId, now);
  if (lease !== null && lease.owner.pid !== ownIdentity().pid) {
    return { messages: before.messages, repairedCalls: [] };
  }
  insertMessages(
    sql,
    sessionId,
    before.open.map((open) => unknownOutcome(open, now)),
  );
  return {
    messages: arrangeHistory(activeMessages(sql, sessionId)).messages,
    repairedCalls: before.open.map(({ call }) => call.id),
  };
}

function unknownOutcome({ call, turnId }: OpenCall, timestamp: number): NewMessage {
  const { id: toolCallId, name: toolName } = call;
  return { role: "tool", content: OUTCOME_UNKNOWN, toolCallId, toolName, timestamp, turnId };
}

/** Ends the parent and moves what points at it (route, lease, open turn) to the child: agent.md §4.7. */
function compress(sql: Sql, step: CompressionStep): SessionRow {
  const parent = needSession(sql, step.parentId);
  const { child } = step;
  const title = cleanTitle(child.title ?? parent.title);
  insertSession(sql, {
    ...child,
    parentSessionId: parent.id,
    title: title === null ? null : freeTitle(sql, title),
    titleSource: child.titleSource ?? parent.titleSource,
  });
  insertMessages(sql, child.id, step.messages);
  sql.run(
    "UPDATE sessions SET ended_at = ?, end_reason = 'compressed', state = 'idle' WHERE id = ?",
    child.startedAt,
    parent.id,
  );
  sql.run("UPDATE sessions SET state = ? WHERE id = ?", parent.state, child.id);
  for (const table of ["routes", "turn_leases", "turn_drafts"]) {
    sql.run(`UPDATE ${table} SET session_id = ? WHERE session_id = ?`, child.id, parent.id);
  }
  sql.run(
    "UPDATE turns SET session_id = ? WHERE session_id = ? AND ended_at IS NULL",
    child.id,
    parent.id,
  );
  return needSession(sql, child.id);
}

function neighbours(sql: Sql, messageId: number, around: number): readonly StoredMessage[] {
  const middle = selectMessages(sql, "WHERE id = ?", messageId)[0];
  if (!middle) return [];
  const side = (comparison: string): StoredMessage[] =>
    selectMessages(
      sql,
      `WHERE session_id = ? AND id ${comparison} LIMIT ?`,
      middle.sessionId,
      messageId,
      around,
    );
  const before = side("< ? ORDER BY id DESC").reverse();
  return [...before, middle, ...side("> ? ORDER BY id ASC")];
}

type MessageMethods = Pick<
  SessionStore,
  "appendMessages" | "readMessages" | "loadHistory" | "deactivateFrom" | "compress" | "neighbours"
>;

export function messageMethods(context: StoreContext): MessageMethods {
  const { read, write } = context;
  return {
    appendMessages: (sessionId, messages) =>
      write((sql) => {
        needSession(sql, sessionId);
        return insertMessages(sql, sessionId, messages);
      }, TRANSCRIPT_LIMIT_MS),
    readMessages: (sessionId, page) => read((sql) => readPage(sql, sessionId, page)),
    loadHistory: (sessionId) => loadHistory(context, sessionId),
    deactivateFrom: (sessionId, messageId) =>
      write((sql) => {
        needSession(sql, sessionId);
        return sql.run(
          "UPDATE messages SET active = 0 WHERE session_id = ? AND id >= ? AND active <> 0",
          sessionId,
          messageId,
        ).changes;
      }, TRANSCRIPT_LIMIT_MS),
    compress: (step) => write((sql) => compress(sql, step), TRANSCRIPT_LIMIT_MS),
    neighbours: (messageId, around) => read((sql) => neighbours(sql, messageId, around)),
  };
}
