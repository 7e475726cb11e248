// Pages of messages that hold what was looked for, newest first (agent.md §6.5): by the word index, the trigram index,
// or by reading the newest rows.
import type { Role } from "#protocol/messages.ts";
import { type Group, hasTrigram, literalTerms, toLike, toMatch } from "./search-query.ts";
import { snippetAround } from "./snippet.ts";
import type { Sql } from "./sqlite.ts";
import { expandPrefix } from "./vocabulary.ts";

/** Never `ORDER BY rank`: ranking a common word over a million rows takes a second. */
export const PAGE_ROWS = 200;
export const ROW_LIMIT = 2000;
/** Under three characters no index helps: the newest rows are read, in slices. */
const SCAN_ROWS = 100_000;
const SCAN_SLICE = 2000;

export interface Candidate {
  readonly id: number;
  readonly role: Role;
  readonly session_id: string;
  readonly root_id: string;
  readonly title: string | null;
  readonly source: string;
  readonly model: string | null;
  readonly started_at: number;
  readonly hidden: number | null;
}

export const CANDIDATE = `m.role, m.session_id, coalesce(s.root_id, s.id) AS root_id, s.title, s.source, s.model,
  s.started_at, s.hidden`;

/** One page, newest first; `next` is where the page after it begins, null at the end. */
interface Page {
  readonly rows: readonly Candidate[];
  readonly next: number | null;
}

/** The next page: at most `rows` rows with an id below `before`. */
export interface Cursor {
  readonly before: number;
  readonly rows: number;
}

/** A way to find messages: asked for pages, then for the snippets of the hits that were chosen. */
export interface Finder {
  page(sql: Sql, cursor: Cursor): Page;
  snippet(sql: Sql, id: number): string;
  /** Rows looked at when enough is enough. */
  readonly rowLimit: number;
  readonly pageRows: number;
}

interface Grouped extends Candidate {
  readonly found: number;
  readonly lowest: number;
}

/**
 * A page of an index. FTS5 sees a bound JavaScript number as REAL and then ignores it as a limit: rowids go as bigint.
 * `ids` selects rowids and must end with a WHERE clause. Only the newest row of each `per` comes back. It is looked up
 * again by its id: beside both a maximum and a minimum SQLite takes bare columns from either row (sqlite.org/lang_select.html §2.4).
 */
function pageOf(
  sql: Sql,
  ids: string,
  values: readonly string[],
  cursor: Cursor,
  per: "m.session_id" | "m.id",
): Page {
  const rows = sql.all<Grouped>(
    `SELECT g.id, ${CANDIDATE}, g.found, g.lowest
      FROM (SELECT max(f.rowid) AS id, count(*) AS found, min(f.rowid) AS lowest
        FROM (${ids} AND rowid < ? ORDER BY rowid DESC LIMIT ?) f
        CROSS JOIN messages m ON m.id = f.rowid GROUP BY ${per}) g
      CROSS JOIN messages m ON m.id = g.id CROSS JOIN sessions s ON s.id = m.session_id ORDER BY g.id DESC`,
    ...values,
    BigInt(cursor.before),
    cursor.rows,
  );
  const found = rows.reduce((sum, row) => sum + row.found, 0);
  const lowest = rows.reduce((low, row) => Math.min(low, row.lowest), cursor.before);
  return { rows, next: found < cursor.rows ? null : lowest };
}

function contentOf(sql: Sql, id: number): string {
  const row = sql.get<{ content: string | null; tool_name: string | null }>(
    "SELECT content, tool_name FROM messages WHERE id = ?",
    id,
  );
  return [row?.content, row?.tool_name].filter(Boolean).join(" ");
}

export function wordFinder(sql: Sql, groups: readonly Group[]): Finder {
  const match = toMatch(groups, (prefix) => expandPrefix(sql, prefix));
  const literals = literalTerms(groups);
  const isLiteral = (sql: Sql, id: number): boolean => {
    const text = contentOf(sql, id).toLowerCase();
    return literals.every((term) => text.includes(term));
  };
  return {
    rowLimit: ROW_LIMIT,
    pageRows: PAGE_ROWS,
    page(sql, cursor) {
      const page = pageOf(
        sql,
        "SELECT rowid FROM messages_fts WHERE messages_fts MATCH ?",
        [match],
        cursor,
        literals.length === 0 ? "m.session_id" : "m.id",
      );
      if (literals.length === 0) return page;
      return { rows: page.rows.filter((row) => isLiteral(sql, row.id)), next: page.next };
    },
    snippet(sql, id) {
      if (literals.length > 0) return snippetAround(contentOf(sql, id), literals);
      const row = sql.get<{ snippet: string }>(
        `SELECT snippet(messages_fts, -1, '>>>', '<<<', '…', 24) AS snippet FROM messages_fts
          WHERE messages_fts MATCH ? AND rowid = ?`,
        match,
        BigInt(id),
      );
      return row?.snippet ?? "";
    },
  };
}

/** Substrings by the trigram index where a term is long enough for it, else by reading the newest rows. */
export function substringFinder({ all, none }: Group): Finder {
  const wanted = all.map((term) => term.text.toLowerCase());
  const unwanted = none.map((term) => term.text.toLowerCase());
  const indexed = all.filter((term) => hasTrigram(term.text)).map((term) => toLike(term.text));
  const holds = (sql: Sql, row: Candidate): boolean => {
    const text = contentOf(sql, row.id).toLowerCase();
    return (
      wanted.every((term) => text.includes(term)) && !unwanted.some((term) => text.includes(term))
    );
  };
  const likes = all.map((term) => toLike(term.text));
  return {
    rowLimit: indexed.length > 0 ? ROW_LIMIT : SCAN_ROWS,
    pageRows: indexed.length > 0 ? PAGE_ROWS : SCAN_SLICE,
    page(sql, cursor) {
      const page =
        indexed.length > 0 ? indexPage(sql, indexed, cursor) : scanPage(sql, likes, cursor);
      return { rows: page.rows.filter((row) => holds(sql, row)), next: page.next };
    },
    snippet: (sql, id) => snippetAround(contentOf(sql, id), wanted),
  };
}

function indexPage(sql: Sql, likes: readonly string[], cursor: Cursor): Page {
  const where = likes.map(() => "content LIKE ?").join(" AND ");
  return pageOf(
    sql,
    `SELECT rowid FROM messages_fts_trigram WHERE ${where}`,
    likes,
    cursor,
    "m.id",
  );
}

function scanPage(sql: Sql, likes: readonly string[], cursor: Cursor): Page {
  const start = sql.get<{ start: number | null; count: number }>(
    `SELECT min(id) AS start, count(*) AS count
      FROM (SELECT id FROM messages WHERE id < ? ORDER BY id DESC LIMIT ?)`,
    cursor.before,
    cursor.rows,
  );
  if (!start || start.start === null) return { rows: [], next: null };
  const rows = sql.all<Candidate>(
    `SELECT m.id, ${CANDIDATE} FROM messages m JOIN sessions s ON s.id = m.session_id
      WHERE m.id >= ? AND m.id < ? AND m.role IN ('user', 'assistant')
        AND ${likes.map(() => "m.content LIKE ?").join(" AND ")} ORDER BY m.id DESC`,
    start.start,
    cursor.before,
    ...likes,
  );
  return { rows, next: start.count < cursor.rows ? null : start.start };
}
