// Exported conversations put back (agent.md §6.6): the same again is skipped, a clash gets an id of its own.
import { createHash } from "node:crypto";
import type { ImportReport } from "#agent/ports/session-store.ts";
import type { StoreContext } from "./context.ts";
import { type Columns, type ImportedSession, readSessions } from "./import-lines.ts";
import { findSession } from "./sessions.ts";
import type { Sql } from "./sqlite.ts";
import { cleanTitle, freeTitle } from "./titles.ts";
import { TRANSCRIPT_LIMIT_MS } from "./transaction.ts";

type Placed = { readonly id: string; readonly isNew: boolean };

export async function importLines(
  context: StoreContext,
  lines: AsyncIterable<string>,
): Promise<ImportReport> {
  const ids = new Map<string, string>();
  const parents = new Map<string, string>();
  const renamed: { from: string; to: string }[] = [];
  let imported = 0;
  let skipped = 0;
  try {
    for await (const session of readSessions(lines)) {
      const placed = await context.write((sql) => place(sql, session), TRANSCRIPT_LIMIT_MS);
      ids.set(session.id, placed.id);
      if (!placed.isNew) {
        skipped++;
        continue;
      }
      imported++;
      if (placed.id !== session.id) renamed.push({ from: session.id, to: placed.id });
      const parent = session.columns.get("parent_session_id");
      if (typeof parent === "string") parents.set(placed.id, parent);
    }
  } finally {
    // Also after a bad line: the sessions before it are in, and belong together.
    if (parents.size > 0) await context.write((sql) => linkParents(sql, parents, ids));
  }
  return { imported, skipped, renamed };
}

/** One session with its messages, in the caller's transaction; nothing when it is there already. */
function place(sql: Sql, session: ImportedSession): Placed {
  const id = freeId(sql, session);
  if (findSession(sql, id)) return { id, isNew: false };
  const columns = new Map(session.columns);
  const title = columns.get("title");
  const clean = typeof title === "string" ? cleanTitle(title) : null;
  columns.set("id", id);
  columns.set("title", clean === null ? null : freeTitle(sql, clean));
  columns.set("source", columns.get("source") ?? "cli");
  columns.set("root_id", id);
  columns.set("state", "idle");
  columns.set("message_count", session.messages.length);
  columns.set("last_active_at", columns.get("last_active_at") ?? lastTimestamp(session));
  columns.delete("parent_session_id");
  insert(sql, "sessions", columns);
  for (const message of session.messages) {
    insert(sql, "messages", new Map([...message, ["session_id", id]]));
  }
  return { id, isNew: true };
}

function lastTimestamp({ columns, messages }: ImportedSession): number {
  const times = messages.map((message) => message.get("timestamp"));
  return [columns.get("started_at"), ...times].reduce<number>(
    (latest, time) => (typeof time === "number" ? Math.max(latest, time) : latest),
    0,
  );
}

function insert(sql: Sql, table: string, columns: Columns): void {
  const names = [...columns.keys()];
  const marks = names.map(() => "?").join(", ");
  sql.run(`INSERT INTO ${table}(${names.join(", ")}) VALUES (${marks})`, ...columns.values());
}

/**
 * The session's own id while that is free or holds the same; else one made of the content's size, so that importing
 * the same file again finds it.
 */
function freeId(sql: Sql, session: ImportedSession): string {
  let id = session.id;
  for (let attempt = 1; ; attempt++) {
    const count = countMessages(sql, id);
    if (count === null || count === session.messages.length) return id;
    id = otherId(session, attempt);
  }
}

function countMessages(sql: Sql, id: string): number | null {
  if (!findSession(sql, id)) return null;
  return (
    sql.get<{ count: number }>("SELECT count(*) AS count FROM messages WHERE session_id = ?", id)
      ?.count ?? 0
  );
}

function otherId(session: ImportedSession, attempt: number): string {
  const hash = createHash("sha256")
    .update(`${session.id}\n${session.messages.length}\n${attempt}`)
    .digest("hex");
  return `${session.id.replace(/_[0-9a-f]{6,8}$/, "")}_${hash.slice(0, 8)}`;
}

/** Parents may stand behind their children in the file, or be missing; a circle is cut. */
function linkParents(
  sql: Sql,
  parents: ReadonlyMap<string, string>,
  ids: ReadonlyMap<string, string>,
): void {
  for (const [id, original] of parents) {
    const parent = ids.get(original) ?? original;
    if (!findSession(sql, parent) || ancestors(sql, parent).includes(id)) continue;
    sql.run("UPDATE sessions SET parent_session_id = ? WHERE id = ?", parent, id);
  }
  for (const id of parents.keys()) {
    const root = ancestors(sql, id).at(-1) ?? id;
    sql.run("UPDATE sessions SET root_id = ? WHERE id = ?", root, id);
  }
}

/** The session itself first, its oldest ancestor last. */
function ancestors(sql: Sql, id: string): readonly string[] {
  const path = [id];
  for (;;) {
    const parent = findSession(sql, path.at(-1) ?? id)?.parentSessionId ?? null;
    if (parent === null || path.includes(parent)) return path;
    path.push(parent);
  }
}
