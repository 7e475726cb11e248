// Conversations as JSON lines (agent.md §6.6): a session, then its messages, fields named as the columns are.
import { nextTurn, type StoreContext } from "./context.ts";
import { parseJson } from "./rows.ts";
import { needSession } from "./sessions.ts";

const SLICE_ROWS = 2000;
/** Columns that hold JSON: exported as what they mean, not as text in text. */
const JSON_COLUMNS: ReadonlySet<string> = new Set([
  "model_config",
  "tool_calls",
  "reasoning_details",
]);

type Row = Readonly<Record<string, unknown>>;

/** Lines without their line break. A session that is written to meanwhile is cut at what it had when its turn came. */
export async function* exportLines(
  context: StoreContext,
  ids: readonly string[],
): AsyncIterable<string> {
  for (const id of ids.length > 0 ? ids : await allIds(context)) {
    const head = await context.read((sql) => {
      needSession(sql, id);
      const session = sql.get<Row>("SELECT * FROM sessions WHERE id = ?", id);
      const last = sql.get<{ last: number | null }>(
        "SELECT max(id) AS last FROM messages WHERE session_id = ?",
        id,
      );
      return { session, last: last?.last ?? 0 };
    });
    yield line("session", head.session ?? {});
    yield* messageLines(context, id, head.last);
  }
}

async function* messageLines(
  context: StoreContext,
  sessionId: string,
  last: number,
): AsyncIterable<string> {
  for (let after = -1; ;) {
    const from = after;
    const rows = await context.read((sql) =>
      sql.all<Row & { id: number }>(
        `SELECT * FROM messages WHERE session_id = ? AND id > ? AND id <= ? ORDER BY id LIMIT ${SLICE_ROWS}`,
        sessionId,
        from,
        last,
      ),
    );
    for (const row of rows) yield line("message", row);
    if (rows.length < SLICE_ROWS) return;
    after = rows.at(-1)?.id ?? last;
    await nextTurn();
  }
}

async function allIds(context: StoreContext): Promise<readonly string[]> {
  const rows = await context.read((sql) =>
    sql.all<{ id: string }>("SELECT id FROM sessions ORDER BY started_at, id"),
  );
  return rows.map((row) => row.id);
}

function line(type: "session" | "message", row: Row): string {
  const entries = Object.entries(row)
    .filter(([, value]) => value !== null && !(value instanceof Uint8Array))
    .map(([name, value]) => [
      name,
      JSON_COLUMNS.has(name) && typeof value === "string" ? (parseJson(value) ?? value) : value,
    ]);
  return JSON.stringify({ type, ...(Object.fromEntries(entries) as Row) });
}
