// Text search (agent.md §6.5): newest first, one hit per lineage, in pages, so that a common word costs milliseconds.
import type { SessionStore } from "#agent/ports/session-store.ts";
import {
  HIDDEN_SOURCES,
  type Role,
  type SearchHit,
  type SearchResult,
} from "#protocol/messages.ts";
import { nextTurn, type StoreContext } from "./context.ts";
import {
  type Group,
  hasTrigram,
  literalTerms,
  parseSearch,
  type SearchQuery,
  toLike,
  toMatch,
} from "./search-query.ts";
import { IS_LISTED } from "./sessions.ts";
import { startOf, snippetAround } from "./snippet.ts";
import type { Sql } from "./sqlite.ts";
import { indexedFrom } from "./text-index.ts";
import { expandPrefix } from "./vocabulary.ts";

/** Never `ORDER BY rank`: ranking a common word over a million rows takes a second. */
const PAGE_ROWS = 200;
const ROW_LIMIT = 2000;
/** Under three characters no index helps: the newest rows are read, in slices. */
const SCAN_ROWS = 100_000;
const SCAN_SLICE = 2000;
const NO_END = Number.MAX_SAFE_INTEGER;

interface Options {
  readonly limit: number;
  readonly source?: string;
  readonly all?: boolean;
}

interface Candidate {
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

const CANDIDATE = `m.id, m.role, m.session_id, coalesce(s.root_id, s.id) AS root_id, s.title, s.source, s.model,
  s.started_at, s.hidden`;

/** One page, newest first; `next` is where the page after it begins, null at the end. */
interface Page {
  readonly rows: readonly Candidate[];
  readonly next: number | null;
}

/** The next page: at most `rows` rows with an id below `before`. */
interface Cursor {
  readonly before: number;
  readonly rows: number;
}

/** A way to find messages: asked for pages, then for the snippets of the hits that were chosen. */
interface Finder {
  page(sql: Sql, cursor: Cursor): Page;
  snippet(sql: Sql, id: number): string;
  /** Rows looked at when enough is enough. */
  readonly rowLimit: number;
  readonly pageRows: number;
}

interface Found {
  readonly hits: readonly SearchHit[];
  readonly complete: boolean;
}

async function collect(context: StoreContext, finder: Finder, options: Options): Promise<Found> {
  const byRoot = new Map<string, Candidate>();
  let before: number | null = NO_END;
  // A small first page: where hits are rare and each in a conversation of its own, it is all that is needed.
  let rows = Math.min(finder.pageRows, options.limit * 2);
  for (let seen = 0; seen < finder.rowLimit && before !== null; seen += rows) {
    if (seen > 0) rows = finder.pageRows;
    const cursor: Cursor = { before, rows };
    const page = await context.read((sql) => finder.page(sql, cursor));
    for (const row of page.rows) {
      if (byRoot.size === options.limit) break;
      if (isWanted(row, options) && !byRoot.has(row.root_id)) byRoot.set(row.root_id, row);
    }
    if (byRoot.size === options.limit) break;
    before = page.next;
    if (before !== null) await nextTurn();
  }
  const chosen = [...byRoot.values()];
  const hits = await context.read((sql) =>
    chosen.map((row) => toHit(row, finder.snippet(sql, row.id))),
  );
  return { hits, complete: before === null || byRoot.size === options.limit };
}

function isWanted(row: Candidate, options: Options): boolean {
  if (options.source !== undefined) return row.source === options.source;
  return options.all === true || (row.hidden !== 1 && !HIDDEN_SOURCES.includes(row.source));
}

function toHit(row: Candidate, snippet: string): SearchHit {
  return {
    sessionId: row.session_id,
    rootId: row.root_id,
    title: row.title,
    source: row.source,
    model: row.model,
    startedAt: row.started_at,
    role: row.role,
    messageId: row.id,
    snippet,
  };
}

/**
 * A page of an index. FTS5 sees a bound JavaScript number as REAL and then ignores it as a limit: rowids go as bigint.
 * `ids` selects rowids newest first and must end with a WHERE clause.
 */
function pageOf(sql: Sql, ids: string, values: readonly string[], cursor: Cursor): Page {
  const rows = sql.all<Candidate>(
    `SELECT ${CANDIDATE} FROM (${ids} AND rowid < ? ORDER BY rowid DESC LIMIT ?) f
      CROSS JOIN messages m ON m.id = f.rowid CROSS JOIN sessions s ON s.id = m.session_id ORDER BY m.id DESC`,
    ...values,
    BigInt(cursor.before),
    cursor.rows,
  );
  const last = rows.at(-1);
  return { rows, next: rows.length < cursor.rows || !last ? null : last.id };
}

function contentOf(sql: Sql, id: number): string {
  const row = sql.get<{ content: string | null; tool_name: string | null }>(
    "SELECT content, tool_name FROM messages WHERE id = ?",
    id,
  );
  return [row?.content, row?.tool_name].filter(Boolean).join(" ");
}

function wordFinder(sql: Sql, groups: readonly Group[]): Finder {
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
function substringFinder({ all, none }: Group): Finder {
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
  return pageOf(sql, `SELECT rowid FROM messages_fts_trigram WHERE ${where}`, likes, cursor);
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
    `SELECT ${CANDIDATE} FROM messages m JOIN sessions s ON s.id = m.session_id
      WHERE m.id >= ? AND m.id < ? AND m.role IN ('user', 'assistant')
        AND ${likes.map(() => "m.content LIKE ?").join(" AND ")} ORDER BY m.id DESC`,
    start.start,
    cursor.before,
    ...likes,
  );
  return { rows, next: start.count < cursor.rows ? null : start.start };
}

async function findersOf(context: StoreContext, query: SearchQuery): Promise<readonly Finder[]> {
  switch (query.kind) {
    case "empty":
      return [];
    case "words":
      return [await context.read((sql) => wordFinder(sql, query.groups))];
    case "substrings":
      return query.groups.map(substringFinder);
    default:
      return query satisfies never;
  }
}

async function search(
  context: StoreContext,
  text: string,
  options: Options,
): Promise<SearchResult> {
  const query = parseSearch(text);
  if (query.kind === "empty") {
    return { hits: await context.read((sql) => recent(sql, options)), partial: false };
  }
  const found: Found[] = [];
  for (const finder of await findersOf(context, query)) {
    found.push(await collect(context, finder, options));
  }
  const isIndexed = (await context.read(indexedFrom)) === 0;
  return {
    hits: merge(found, options.limit),
    partial: !isIndexed || found.some((one) => !one.complete),
  };
}

/** Alternatives were looked for one by one: the newest of each lineage wins. */
function merge(found: readonly Found[], limit: number): readonly SearchHit[] {
  const [first] = found;
  if (found.length === 1 && first) return first.hits;
  const byRoot = new Map<string, SearchHit>();
  const sorted = found.flatMap((one) => one.hits).sort((a, b) => b.messageId - a.messageId);
  for (const hit of sorted) if (!byRoot.has(hit.rootId)) byRoot.set(hit.rootId, hit);
  return [...byRoot.values()].slice(0, limit);
}

/** The newest sessions with the last thing that was said in them, one per lineage. */
function recent(sql: Sql, options: Options): readonly SearchHit[] {
  const byRoot = new Map<string, SearchHit>();
  for (let offset = 0; offset < ROW_LIMIT && byRoot.size < options.limit; offset += PAGE_ROWS) {
    for (const row of recentPage(sql, options, offset)) {
      if (byRoot.size === options.limit) break;
      if (!byRoot.has(row.root_id)) byRoot.set(row.root_id, toHit(row, startOf(row.content)));
    }
  }
  return [...byRoot.values()];
}

function recentPage(
  sql: Sql,
  options: Options,
  offset: number,
): readonly (Candidate & { content: string })[] {
  const filter =
    options.source !== undefined ? "source = ?" : options.all === true ? "1" : IS_LISTED;
  return sql.all(
    `SELECT ${CANDIDATE}, m.content FROM (
        SELECT * FROM sessions WHERE ${filter} ORDER BY last_active_at DESC LIMIT ${PAGE_ROWS} OFFSET ?) s
      CROSS JOIN messages m ON m.id = (SELECT max(id) FROM messages WHERE session_id = s.id
        AND role IN ('user', 'assistant') AND content <> '') ORDER BY s.last_active_at DESC, m.id DESC`,
    ...(options.source === undefined ? [] : [options.source]),
    offset,
  );
}

type SearchMethods = Pick<SessionStore, "search" | "recentHits">;

export function searchMethods(context: StoreContext): SearchMethods {
  return {
    search: (query, options) => search(context, query, options),
    recentHits: (limit) => context.read((sql) => recent(sql, { limit })),
  };
}
