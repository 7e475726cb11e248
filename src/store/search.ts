// Text search (agent.md §6.5): newest first, one hit per lineage, in pages, so that a common word costs milliseconds.
import type { SessionStore } from "#agent/ports/session-store.ts";
import { HIDDEN_SOURCES, type SearchHit, type SearchResult } from "#protocol/messages.ts";
import { nextTurn, type StoreContext } from "./context.ts";
import {
  type Candidate,
  CANDIDATE,
  type Cursor,
  type Finder,
  PAGE_ROWS,
  ROW_LIMIT,
  substringFinder,
  wordFinder,
} from "./search-pages.ts";
import { parseSearch, type SearchQuery } from "./search-query.ts";
import { IS_LISTED } from "./sessions.ts";
import { lineOfResult, startOf } from "./snippet.ts";
import type { Sql } from "./sqlite.ts";
import { indexedFrom } from "./text-index.ts";

const NO_END = Number.MAX_SAFE_INTEGER;

interface Options {
  readonly limit: number;
  readonly source?: string;
  readonly all?: boolean;
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
    snippet: row.role === "tool" ? lineOfResult(snippet) : snippet,
  };
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
    `SELECT m.id, ${CANDIDATE}, m.content FROM (
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
