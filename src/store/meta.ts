// Keys of `state_meta`.
import type { Sql } from "./sqlite.ts";

export function getMeta(sql: Sql, key: string): string | null {
  return (
    sql.get<{ value: string | null }>("SELECT value FROM state_meta WHERE key = ?", key)?.value ??
    null
  );
}

export function setMeta(sql: Sql, key: string, value: string): void {
  sql.run(
    "INSERT INTO state_meta(key, value) VALUES (?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
    key,
    value,
  );
}
