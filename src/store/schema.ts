// From whatever lies at the path to today's schema: numbered steps, each one transaction (agent.md §6.2, §6.7).
import { HermesError, messageOf } from "#base/errors.ts";
import { failureOf, refusedError } from "./failures.ts";
import { completeTakeover, prepareTakeover } from "./takeover.ts";
import type { Sql } from "./sqlite.ts";
import { createTableText, INDEXES, type Table, TABLES } from "./tables.ts";
import { createTextIndex, dropTextIndex } from "./text-index.ts";

/** `state_meta.ts_schema` of this program. */
export const SCHEMA = 1;

export type Found =
  | { readonly kind: "empty" }
  /** Sessions and messages of the Python version, no schema number of ours. */
  | { readonly kind: "python" }
  | { readonly kind: "ours"; readonly schema: number };

/** What the file holds. Reads only. Throws STORE_NEWER (78) for a schema beyond this program's. */
export function findSchema(sql: Sql, path: string): Found {
  const schema = readSchemaNumber(sql);
  if (schema === null)
    return { kind: hasTable(sql, "messages") || hasTable(sql, "sessions") ? "python" : "empty" };
  if (schema <= SCHEMA) return { kind: "ours", schema };
  throw refusedError(
    "STORE_NEWER",
    `${path} has schema ${schema}, this program knows up to ${SCHEMA}; nothing was written`,
    "Run the newer Hermes that wrote it, or restore the copy in backups/ that it made.",
  );
}

function readSchemaNumber(sql: Sql): number | null {
  if (!hasTable(sql, "state_meta")) return null;
  const row = sql.get<{ value: string }>("SELECT value FROM state_meta WHERE key = 'ts_schema'");
  const number = Number(row?.value);
  return row !== undefined && Number.isInteger(number) ? number : null;
}

function hasTable(sql: Sql, name: string): boolean {
  return (
    sql.get("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", name) !== undefined
  );
}

interface Step {
  readonly schema: number;
  readonly apply: (sql: Sql, found: Found) => void;
}

/** In order; step n takes a file from schema n-1 to n. */
const STEPS: readonly Step[] = [{ schema: 1, apply: createFirst }];

function createFirst(sql: Sql, found: Found): void {
  if (found.kind === "python") prepareTakeover(sql);
  dropTextIndex(sql);
  addMissing(sql);
  if (found.kind === "python") completeTakeover(sql);
  for (const index of INDEXES) sql.exec(`CREATE ${index}`);
  createTextIndex(sql);
}

/** The numbers of the steps that are still to be taken. */
export function pendingSteps(found: Found): readonly number[] {
  const from = found.kind === "ours" ? found.schema : 0;
  return STEPS.map((step) => step.schema).filter((schema) => schema > from);
}

/**
 * Takes step `schema` inside the caller's transaction. Another process may have been first: then nothing happens.
 * A step that fails is STORE_FOREIGN (78), naming what was in the way; the caller's rollback leaves the file as it was.
 */
export function takeStep(sql: Sql, schema: number, path: string): void {
  const found = findSchema(sql, path);
  if (found.kind === "ours" && found.schema >= schema) return;
  const step = STEPS.find((candidate) => candidate.schema === schema);
  try {
    step?.apply(sql, found);
    sql.run(
      "INSERT OR REPLACE INTO state_meta(key, value) VALUES ('ts_schema', ?)",
      String(schema),
    );
  } catch (error) {
    if (!isForeign(error)) throw error;
    throw refusedError(
      "STORE_FOREIGN",
      `${path} cannot be taken over: ${messageOf(error)}; nothing was written`,
      "Move the file away, start again, and bring the conversations in with hermes sessions import FILE.",
      error,
    );
  }
}

/** Busy, full and damaged are no verdict on the file's contents. */
function isForeign(error: unknown): boolean {
  if (error instanceof HermesError) return false;
  const failure = failureOf(error);
  return failure === "other" || failure === "constraint";
}

interface LiveColumn {
  readonly table: string;
  readonly column: string;
}

/** Declared columns that the live tables lack, by table; a missing table has them all. */
export function missingColumns(sql: Sql): ReadonlyMap<Table, readonly string[]> {
  const live = new Map<string, Set<string>>();
  const rows = sql.all<LiveColumn>(
    `SELECT s.name AS "table", c.name AS "column" FROM sqlite_schema s JOIN pragma_table_info(s.name) c
      WHERE s.type = 'table' AND s.name IN (SELECT value FROM json_each(?))`,
    JSON.stringify(TABLES.map((table) => table.name)),
  );
  for (const { table, column } of rows) {
    live.set(table, (live.get(table) ?? new Set()).add(column));
  }
  const missing = new Map<Table, readonly string[]>();
  for (const table of TABLES) {
    const known = live.get(table.name);
    const names = Object.keys(table.columns).filter((name) => known?.has(name) !== true);
    if (names.length > 0) missing.set(table, names);
  }
  return missing;
}

/** Adds what is missing and touches nothing else. */
export function addMissing(sql: Sql): void {
  for (const [table, names] of missingColumns(sql)) {
    if (names.length === Object.keys(table.columns).length && !hasTable(sql, table.name)) {
      sql.exec(createTableText(table));
      continue;
    }
    for (const name of names) addColumn(sql, table, name);
  }
}

function addColumn(sql: Sql, table: Table, name: string): void {
  try {
    sql.exec(`ALTER TABLE ${table.name} ADD COLUMN ${name} ${table.columns[name]}`);
  } catch (error) {
    if (failureOf(error) !== "other") throw error;
    throw new Error(`table ${table.name} lacks column ${name}, which cannot be added`, {
      cause: error,
    });
  }
}
