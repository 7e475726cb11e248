// Text that was shown and has no row yet: kept delta by delta, so that kill -9 loses nothing that was seen (I5).
import type { SessionStore } from "#agent/ports/session-store.ts";
import type { StoreContext } from "./context.ts";
import type { Sql } from "./sqlite.ts";
import { TRANSCRIPT_LIMIT_MS } from "./transaction.ts";

/** In the caller's transaction. */
export function dropDraft(sql: Sql, turnId: string): void {
  sql.run("DELETE FROM turn_drafts WHERE turn_id = ?", turnId);
}

/** What the turn had shown, "" when nothing is left of it. */
export function draftOf(sql: Sql, turnId: string): string {
  return sql
    .all<{ text: string }>("SELECT text FROM turn_drafts WHERE turn_id = ? ORDER BY id", turnId)
    .map((row) => row.text)
    .join("");
}

type DraftMethods = Pick<SessionStore, "appendDraft" | "clearDraft">;

export function draftMethods({ write }: StoreContext): DraftMethods {
  return {
    appendDraft: ({ turnId, sessionId, text }) =>
      write((sql) => {
        sql.run(
          "INSERT INTO turn_drafts(turn_id, session_id, text) VALUES (?, ?, ?)",
          turnId,
          sessionId,
          text,
        );
      }, TRANSCRIPT_LIMIT_MS),
    clearDraft: (turnId) => write((sql) => dropDraft(sql, turnId), TRANSCRIPT_LIMIT_MS),
  };
}
