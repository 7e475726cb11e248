// Titles are unique, at most 100 characters, and free of what cannot be seen (agent.md §6.6).
import { cutStart } from "#base/text.ts";
import type { Sql } from "./sqlite.ts";

const TITLE_LIMIT = 100;
/** Control, zero-width and bidirectional characters (Unicode Cc, Cf) and line separators. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The title as stored; null when nothing visible is left. */
export function cleanTitle(title: string | null): string | null {
  if (title === null) return null;
  const clean = title.replace(/\s+/g, " ").replace(INVISIBLE, "").trim();
  return clean === "" ? null : cutStart(clean, TITLE_LIMIT).trimEnd();
}

/** `title` when free, else with a free ` #n`, n ≥ 2, in place of one that it ends with. */
export function freeTitle(sql: Sql, title: string): string {
  if (!isTaken(sql, title)) return title;
  const stem = title.replace(/ #\d+$/, "");
  for (let n = firstTry(sql, stem); ; n++) {
    const suffix = ` #${n}`;
    const candidate = cutStart(stem, TITLE_LIMIT - suffix.length).trimEnd() + suffix;
    if (!isTaken(sql, candidate)) return candidate;
  }
}

/** After as many as there are already, so that a thousand equal titles are not tried one by one. */
function firstTry(sql: Sql, stem: string): number {
  const row = sql.get<{ count: number }>(
    "SELECT count(*) AS count FROM sessions WHERE title >= ?1 || ' #' AND title < ?1 || ' $'",
    stem,
  );
  return Math.max(2, (row?.count ?? 0) + 2);
}

function isTaken(sql: Sql, title: string): boolean {
  return sql.get("SELECT 1 FROM sessions WHERE title = ?", title) !== undefined;
}
