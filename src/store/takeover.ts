// A state.db of the Python version, taken over in place and in one transaction (agent.md §6.7).
import type { Sql } from "./sqlite.ts";
import { affinityOf, type Table, TABLES, typeOf } from "./tables.ts";
import { freeTitle } from "./titles.ts";

/** Without these a table is not the one that we know; others may be missing in older versions and are added. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  sessions: ["id", "source", "started_at"],
  messages: ["id", "session_id", "role", "content", "timestamp"],
};
/** Tables that the Python version may have too. */
const SHARED: ReadonlySet<string> = new Set(["sessions", "messages", "state_meta"]);

interface LiveColumn {
  readonly name: string;
  readonly type: string;
}

/** Refuses (throws, naming the table) unless every table of a name of ours is one that we can use. */
export function prepareTakeover(sql: Sql): void {
  for (const table of TABLES) {
    const live = sql.all<LiveColumn>("SELECT name, type FROM pragma_table_info(?)", table.name);
    if (live.length > 0 || table.name in REQUIRED) checkTable(table, live);
  }
}

function checkTable(table: Table, live: readonly LiveColumn[]): void {
  const required = SHARED.has(table.name)
    ? (REQUIRED[table.name] ?? ["key", "value"])
    : Object.keys(table.columns);
  for (const [name, declaration] of Object.entries(table.columns)) {
    const found = live.find((column) => column.name === name);
    if (found === undefined && required.includes(name)) {
      throw new Error(`table ${table.name} has no column ${name}`);
    }
    if (found !== undefined && !sameAffinity(found.type, typeOf(declaration))) {
      throw new Error(`table ${table.name}: column ${name} is ${found.type || "untyped"}`);
    }
  }
}

/** Numbers of either kind compare equal: what matters is that text stays text and numbers stay numbers. */
function sameAffinity(a: string, b: string): boolean {
  const kind = (type: string): string => {
    const affinity = affinityOf(type);
    return affinity === "INTEGER" || affinity === "REAL" || affinity === "NUMERIC"
      ? "number"
      : affinity;
  };
  return affinityOf(a) === "BLOB" || kind(a) === kind(b);
}

/** Fills our columns once the tables are complete and before unique indexes are made. */
export function completeTakeover(sql: Sql): void {
  addPlaceholderSessions(sql);
  fillRoots(sql);
  fillActivity(sql);
  separateTitles(sql);
}

/** Messages whose session is gone keep a home, so that nothing is lost and foreign keys hold. */
function addPlaceholderSessions(sql: Sql): void {
  sql.run(
    `INSERT INTO sessions(id, source, started_at, message_count)
      SELECT session_id, 'cli', min(timestamp), count(*) FROM messages
      WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id`,
  );
}

/** Each session's oldest known ancestor; in a circle of parents everyone is its own. */
function fillRoots(sql: Sql): void {
  sql.exec("CREATE INDEX IF NOT EXISTS ts_sessions_parent ON sessions(parent_session_id)");
  sql.run(
    `WITH RECURSIVE tree(id, root) AS (
       SELECT id, id FROM sessions
         WHERE parent_session_id IS NULL OR parent_session_id NOT IN (SELECT id FROM sessions)
       UNION SELECT s.id, tree.root FROM sessions s JOIN tree ON s.parent_session_id = tree.id)
     UPDATE sessions SET root_id = tree.root FROM tree WHERE tree.id = sessions.id`,
  );
  sql.run("UPDATE sessions SET root_id = id WHERE root_id IS NULL");
}

function fillActivity(sql: Sql): void {
  sql.run(
    `UPDATE sessions SET last_active_at = newest.at
      FROM (SELECT session_id, max(timestamp) AS at FROM messages GROUP BY session_id) AS newest
      WHERE newest.session_id = sessions.id`,
  );
  sql.run(
    "UPDATE sessions SET last_active_at = coalesce(ended_at, started_at) WHERE last_active_at IS NULL",
  );
}

/** Titles are unique with us: the oldest keeps its own, later ones get ` #2`, ` #3`, … */
function separateTitles(sql: Sql): void {
  const doubles = sql.all<{ id: string; title: string }>(
    `SELECT id, title FROM (SELECT id, title, started_at,
        row_number() OVER (PARTITION BY title ORDER BY started_at, id) AS nth
        FROM sessions WHERE title IS NOT NULL) WHERE nth > 1 ORDER BY started_at, id`,
  );
  for (const { id, title } of doubles) {
    sql.run("UPDATE sessions SET title = ? WHERE id = ?", freeTitle(sql, title), id);
  }
  sql.run(
    "UPDATE sessions SET title_source = 'user' WHERE title IS NOT NULL AND title_source IS NULL",
  );
}
