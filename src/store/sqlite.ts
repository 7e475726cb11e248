// The one door to node:sqlite: loaded at first use, so that commands that never open the store do not pay for it.
import type * as Sqlite from "node:sqlite";
import type { DatabaseSync, DatabaseSyncOptions, SQLInputValue, StatementSync } from "node:sqlite";

export function loadSqlite(): typeof Sqlite {
  return process.getBuiltinModule("node:sqlite");
}

export type Value = SQLInputValue;

/** Statements by text: each is prepared once per connection. */
export interface Sql {
  // The caller names the row shape that its own SQL makes: node:sqlite cannot know it.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  get<T>(text: string, ...values: Value[]): T | undefined;
  all<T>(text: string, ...values: Value[]): T[];
  run(text: string, ...values: Value[]): { readonly changes: number; readonly lastId: number };
  /** Statements without values, not cached: DDL and transaction words. */
  exec(text: string): void;
}

export interface Connection extends Sql {
  readonly database: DatabaseSync;
  close(): void;
}

export function openConnection(path: string, options: DatabaseSyncOptions): Connection {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(path, options);
  const statements = new Map<string, StatementSync>();
  const prepare = (text: string): StatementSync => {
    const known = statements.get(text);
    if (known) return known;
    const made = database.prepare(text);
    statements.set(text, made);
    return made;
  };
  return {
    database,
    // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
    get: <T>(text: string, ...values: Value[]) => prepare(text).get(...values) as T | undefined,
    all: <T>(text: string, ...values: Value[]) => prepare(text).all(...values) as T[],
    run(text, ...values) {
      const result = prepare(text).run(...values);
      return { changes: Number(result.changes), lastId: Number(result.lastInsertRowid) };
    },
    exec: (text) => database.exec(text),
    close() {
      statements.clear();
      if (database.isOpen) database.close();
    },
  };
}
