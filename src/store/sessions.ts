// Rows of `sessions`: made, found, listed, changed, deleted.
import type {
  NewSession,
  SessionFilter,
  SessionPatch,
  SessionResolution,
  SessionStore,
} from "#agent/ports/session-store.ts";
import { HermesError } from "#base/errors.ts";
import { HIDDEN_SOURCES, type SessionRow } from "#protocol/messages.ts";
import type { StoreContext } from "./context.ts";
import { liveLease } from "./live-leases.ts";
import { jsonOrNull, SESSION_COLUMNS, type SessionRecord, toSession } from "./rows.ts";
import type { Sql, Value } from "./sqlite.ts";
import { cleanTitle } from "./titles.ts";

/** Sessions that lists, searches and `latest` show without being asked for by source. */
export const IS_LISTED = `coalesce(hidden, 0) = 0 AND source NOT IN (${HIDDEN_SOURCES.map((source) => `'${source}'`).join(", ")})`;
const NEWEST_FIRST = "last_active_at DESC, started_at DESC, id DESC";
/** More candidates than anyone reads. */
const CANDIDATES = 20;

export function findSession(sql: Sql, id: string): SessionRow | null {
  const row = sql.get<SessionRecord>(`SELECT ${SESSION_COLUMNS} FROM sessions WHERE id = ?`, id);
  return row ? toSession(row) : null;
}

/** Throws SESSION_NOT_FOUND. */
export function needSession(sql: Sql, id: string): SessionRow {
  const session = findSession(sql, id);
  if (session) return session;
  throw new HermesError("SESSION_NOT_FOUND", `there is no session ${id}`, {
    fix: "hermes sessions list shows those that there are.",
  });
}

export function selectSessions(sql: Sql, rest: string, ...values: Value[]): SessionRow[] {
  return sql
    .all<SessionRecord>(`SELECT ${SESSION_COLUMNS} FROM sessions ${rest}`, ...values)
    .map(toSession);
}

/** In the caller's transaction. Throws SESSION_EXISTS, TITLE_TAKEN, SESSION_NOT_FOUND for the parent. */
export function insertSession(sql: Sql, input: NewSession): SessionRow {
  if (findSession(sql, input.id)) {
    throw new HermesError("SESSION_EXISTS", `there is a session ${input.id} already`);
  }
  const parent = input.parentSessionId ? needSession(sql, input.parentSessionId) : null;
  const title = cleanTitle(input.title ?? null);
  refuseTaken(sql, title, input.id);
  sql.run(
    `INSERT INTO sessions(id, source, model, model_config, title, title_source, cwd, user_id, session_key,
      parent_session_id, root_id, started_at, last_active_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    input.id,
    input.source,
    input.model ?? null,
    jsonOrNull(input.modelConfig),
    title,
    title === null ? null : (input.titleSource ?? null),
    input.cwd ?? null,
    input.userId ?? null,
    input.sessionKey ?? null,
    parent?.id ?? null,
    parent?.rootId ?? input.id,
    input.startedAt,
    input.startedAt,
  );
  return needSession(sql, input.id);
}

function refuseTaken(sql: Sql, title: string | null, ownId: string): void {
  if (title === null) return;
  const other = sql.get<{ id: string }>(
    "SELECT id FROM sessions WHERE title = ? AND id <> ?",
    title,
    ownId,
  );
  if (!other) return;
  throw new HermesError("TITLE_TAKEN", `another session has the title "${title}"`, {
    fix: "Choose another title.",
    data: { sessionId: other.id },
  });
}

/** In the caller's transaction: the session, its messages and what hangs on it. */
export function removeSession(sql: Sql, id: string): void {
  sql.run("UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?", id);
  for (const table of [
    "messages",
    "turns",
    "turn_leases",
    "turn_drafts",
    "routes",
    "model_usage",
  ]) {
    sql.run(`DELETE FROM ${table} WHERE session_id = ?`, id);
  }
  sql.run("DELETE FROM sessions WHERE id = ?", id);
}

const PATCH_COLUMNS: Readonly<Record<keyof SessionPatch, string>> = {
  model: "model",
  modelConfig: "model_config",
  systemPrompt: "system_prompt",
  toolsHash: "tools_hash",
  cwd: "cwd",
  title: "title",
  titleSource: "title_source",
  state: "state",
  hidden: "hidden",
  archived: "archived",
  pinned: "pinned",
};

function patchSession(sql: Sql, id: string, patch: SessionPatch): SessionRow {
  needSession(sql, id);
  for (const [field, column] of Object.entries(PATCH_COLUMNS)) {
    const value = patch[field as keyof SessionPatch];
    if (value === undefined) continue;
    const stored = field === "title" ? cleanTitle(value as string | null) : toValue(value);
    if (field === "title") refuseTaken(sql, stored as string | null, id);
    sql.run(`UPDATE sessions SET ${column} = ? WHERE id = ?`, stored, id);
  }
  return needSession(sql, id);
}

function toValue(value: NonNullable<SessionPatch[keyof SessionPatch]> | null): Value {
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "object" ? jsonOrNull(value) : value;
}

function resolve(sql: Sql, ref: string): SessionResolution {
  if (ref === "") return { found: "none" };
  const exact = findSession(sql, ref);
  if (exact) return { found: "one", session: exact };
  // Every id that starts with `ref` sorts between it and itself with the highest character behind.
  const candidates = selectSessions(
    sql,
    `WHERE id >= ?1 AND id < ?1 || char(1114111) ORDER BY ${NEWEST_FIRST} LIMIT ${CANDIDATES}`,
    ref,
  );
  if (candidates.length > 1) return { found: "many", candidates };
  const session =
    candidates[0] ?? selectSessions(sql, "WHERE title = ?", ref)[0] ?? latest(sql, ref);
  return session ? { found: "one", session } : { found: "none" };
}

function latest(sql: Sql, ref: string): SessionRow | undefined {
  if (ref !== "latest") return undefined;
  return selectSessions(
    sql,
    `WHERE ${IS_LISTED} AND coalesce(archived, 0) = 0 ORDER BY ${NEWEST_FIRST} LIMIT 1`,
  )[0];
}

function list(sql: Sql, filter: SessionFilter): { sessions: readonly SessionRow[]; total: number } {
  const conditions: string[] = [];
  const values: Value[] = [];
  if (filter.source !== undefined) {
    conditions.push("source = ?");
    values.push(filter.source);
  } else if (filter.all !== true) {
    conditions.push(IS_LISTED);
  }
  if (filter.cwd !== undefined) {
    conditions.push("cwd = ?");
    values.push(filter.cwd);
  }
  if (filter.archived !== true) conditions.push("coalesce(archived, 0) = 0");
  const where = conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
  const count = sql.get<{ total: number }>(
    `SELECT count(*) AS total FROM sessions ${where}`,
    ...values,
  );
  const sessions = selectSessions(
    sql,
    `${where} ORDER BY ${NEWEST_FIRST} LIMIT ? OFFSET ?`,
    ...values,
    filter.limit,
    filter.offset,
  );
  return { sessions, total: count?.total ?? 0 };
}

function newestDescendant(sql: Sql, id: string): { session: SessionRow; path: readonly string[] } {
  let session = needSession(sql, id);
  const path = [id];
  const seen = new Set(path);
  for (;;) {
    const child = selectSessions(
      sql,
      "WHERE parent_session_id = ? ORDER BY started_at DESC, id DESC",
      session.id,
    ).find((row) => !seen.has(row.id));
    if (!child) return { session, path };
    path.push(child.id);
    seen.add(child.id);
    session = child;
  }
}

/** Throws SESSION_BUSY naming the surface. */
function refuseLeased(sql: Sql, context: StoreContext, id: string): void {
  const holder = liveLease(sql, context, id, context.clock.now() / 1000)?.owner;
  if (!holder) return;
  throw new HermesError("SESSION_BUSY", `a turn from ${holder.surface} runs in session ${id}`, {
    fix: "Stop that turn first.",
    data: { holder: holder.surface },
  });
}

type SessionMethods = Pick<
  SessionStore,
  | "createSession"
  | "getSession"
  | "resolveSession"
  | "listSessions"
  | "updateSession"
  | "endSession"
  | "deleteSession"
  | "newestDescendant"
  | "lineage"
  | "countActive"
>;

export function sessionMethods(context: StoreContext): SessionMethods {
  const { read, write } = context;
  return {
    createSession: (input) => write((sql) => insertSession(sql, input)),
    getSession: (id) => read((sql) => findSession(sql, id)),
    resolveSession: (ref) => read((sql) => resolve(sql, ref)),
    listSessions: (filter) => read((sql) => list(sql, filter)),
    updateSession: (id, patch) => write((sql) => patchSession(sql, id, patch)),
    endSession: (id, reason, endedAt) =>
      write((sql) => {
        needSession(sql, id);
        sql.run(
          "UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ?",
          endedAt,
          reason,
          id,
        );
      }),
    deleteSession: (id) =>
      write((sql) => {
        needSession(sql, id);
        refuseLeased(sql, context, id);
        removeSession(sql, id);
      }),
    newestDescendant: (id) => read((sql) => newestDescendant(sql, id)),
    lineage: (id) =>
      read((sql) =>
        selectSessions(
          sql,
          "WHERE root_id = ? ORDER BY started_at, id",
          needSession(sql, id).rootId,
        ),
      ),
    countActive: (since) =>
      read(
        (sql) =>
          sql.get<{ count: number }>(
            "SELECT count(*) AS count FROM sessions WHERE ended_at IS NULL AND last_active_at >= ?",
            since,
          )?.count ?? 0,
      ),
  };
}
