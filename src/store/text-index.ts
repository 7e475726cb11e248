// The two full-text tables and what keeps them in step with `messages` (agent.md §6.2).
import type { Clock } from "#base/clock.ts";
import type { Sql } from "./sqlite.ts";
import type { Transactions } from "./transaction.ts";

/** Rows with a smaller id are not in the index yet; 0 when it is complete. */
const INDEXED_FROM_KEY = "fts_done_to";
const INDEXED_FROM = `coalesce((SELECT CAST(value AS INTEGER) FROM state_meta WHERE key = '${INDEXED_FROM_KEY}'), 0)`;
const SPOKEN = "('user', 'assistant')";

const SLICE_ROWS = 2000;
const SLICE_MS = 20;

/**
 * The words of a row. A tool result's words beyond 8192 characters are not found: they are mostly noise. It is JSON text: without its
 * escapes of white space the first word of a line would be "nword". A pair of backslashes goes first, so that `\\new` keeps its word.
 */
function contentWords(row: string): string {
  const escapes = ["\\\\", "\\n", "\\r", "\\t"];
  const start = `substr(${row}content, 1, 8192)`;
  const plain = escapes.reduce((text, escape) => `replace(${text}, '${escape}', '  ')`, start);
  return `CASE WHEN ${row}role = 'tool' THEN ${plain} ELSE ${row}content END`;
}

/** What `messages_fts` holds of a row. */
function words(row: "new" | "old"): string {
  return `${row}.id, ${contentWords(`${row}.`)}, ${row}.tool_name`;
}

const addWords = `INSERT INTO messages_fts(rowid, content, tool_name) VALUES (${words("new")});`;
const dropWords = `INSERT INTO messages_fts(messages_fts, rowid, content, tool_name) VALUES ('delete', ${words("old")});`;
const addSpoken = `INSERT INTO messages_fts_trigram(rowid, content)
  SELECT new.id, new.content WHERE new.role IN ${SPOKEN};`;
const dropSpoken = `INSERT INTO messages_fts_trigram(messages_fts_trigram, rowid, content)
  SELECT 'delete', old.id, old.content WHERE old.role IN ${SPOKEN};`;

/** A row that is not indexed yet is left alone: FTS5 would write tombstones for words that it never had. */
function trigger(event: string, row: "new" | "old", body: string): string {
  const name = `messages_fts_${event.split(" ")[0]?.toLowerCase()}`;
  return `CREATE TRIGGER ${name} AFTER ${event} ON messages WHEN ${row}.id >= ${INDEXED_FROM} BEGIN ${body} END`;
}

const OBJECTS: readonly string[] = [
  `CREATE VIEW messages_fts_words AS SELECT id, ${contentWords("")} AS content, tool_name FROM messages`,
  `CREATE VIEW messages_fts_spoken AS SELECT id, content FROM messages WHERE role IN ${SPOKEN}`,
  // prefix: a search while typing asks for one to three letters, which without it would merge every word of the store.
  `CREATE VIRTUAL TABLE messages_fts USING fts5(content, tool_name, content='messages_fts_words',
    content_rowid='id', tokenize='unicode61 remove_diacritics 2', prefix='1 2 3', columnsize=0)`,
  `CREATE VIRTUAL TABLE messages_fts_trigram USING fts5(content, content='messages_fts_spoken',
    content_rowid='id', tokenize='trigram', detail='none', columnsize=0)`,
  trigger("INSERT", "new", addWords + addSpoken),
  trigger("DELETE", "old", dropWords + dropSpoken),
  // One trigger, because the order of two on the same event is not defined.
  trigger(
    "UPDATE OF content, tool_name, role",
    "old",
    dropWords + addWords + dropSpoken + addSpoken,
  ),
];

/** Makes the empty index; rows that exist already are left to `buildIndexSlice`. */
export function createTextIndex(sql: Sql): void {
  for (const text of OBJECTS) sql.exec(text);
  const top =
    sql.get<{ top: number }>("SELECT coalesce(max(id), 0) AS top FROM messages")?.top ?? 0;
  setIndexedFrom(sql, top === 0 ? 0 : top + 1);
}

/** Triggers, views and tables named `messages_fts*`, of whatever version: triggers first, shadow tables go with theirs. */
export function dropTextIndex(sql: Sql): void {
  const order =
    "CASE type WHEN 'trigger' THEN 0 WHEN 'view' THEN 1 ELSE 2 END, sql LIKE 'CREATE VIRTUAL%' DESC";
  const named = sql.all<{ type: string; name: string }>(
    `SELECT type, name FROM sqlite_schema WHERE name LIKE 'messages\\_fts%' ESCAPE '\\'
      AND type IN ('trigger', 'view', 'table') ORDER BY ${order}`,
  );
  for (const { type, name } of named) {
    sql.exec(`DROP ${type} IF EXISTS "${name.replaceAll('"', '""')}"`);
  }
}

export function indexedFrom(sql: Sql): number {
  return sql.get<{ from: number }>(`SELECT ${INDEXED_FROM} AS "from"`)?.from ?? 0;
}

function setIndexedFrom(sql: Sql, id: number): void {
  sql.run(
    "INSERT INTO state_meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
    INDEXED_FROM_KEY,
    String(id),
  );
}

/** Indexes the next `rows` rows, newest first, in the caller's transaction. True when the index is complete. */
function buildIndexSlice(sql: Sql, rows: number): boolean {
  const end = indexedFrom(sql);
  if (end === 0) return true;
  const start = sql.get<{ start: number | null }>(
    "SELECT min(id) AS start FROM (SELECT id FROM messages WHERE id < ? ORDER BY id DESC LIMIT ?)",
    end,
    rows,
  )?.start;
  if (start === null || start === undefined) {
    setIndexedFrom(sql, 0);
    return true;
  }
  sql.run(
    `INSERT INTO messages_fts(rowid, content, tool_name)
      SELECT id, content, tool_name FROM messages_fts_words WHERE id >= ? AND id < ?`,
    start,
    end,
  );
  sql.run(
    `INSERT INTO messages_fts_trigram(rowid, content)
      SELECT id, content FROM messages_fts_spoken WHERE id >= ? AND id < ?`,
    start,
    end,
  );
  setIndexedFrom(sql, start);
  return false;
}

/**
 * Builds the rest of the index in slices with a turn of the event loop between; a slice is at most 2000 rows and
 * shrinks while it takes longer than 20 ms. Resolves early when `stopped` says so. Safe in several processes at once.
 */
export async function buildIndex(
  transactions: Transactions,
  clock: Clock,
  stopped: () => boolean,
): Promise<void> {
  let rows = 250;
  while (!stopped()) {
    const start = clock.monotonicMs();
    if (await transactions.write((sql) => buildIndexSlice(sql, rows))) return;
    const tookMs = clock.monotonicMs() - start;
    rows = tookMs > SLICE_MS ? Math.max(25, rows >> 1) : Math.min(SLICE_ROWS, rows * 2);
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
