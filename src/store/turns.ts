// Turn rows: opened, closed, and found lost when their process died (agent.md §4.1, §7.8).
import { ownIdentity, type ProcessIdentity } from "#base/process-identity.ts";
import type { SessionStore, TurnRow } from "#agent/ports/session-store.ts";
import type { StoreContext } from "./context.ts";
import { draftOf, dropDraft } from "./drafts.ts";
import { liveLease } from "./live-leases.ts";
import { insertMessages } from "./messages.ts";
import { findSession, needSession } from "./sessions.ts";
import type { Sql } from "./sqlite.ts";
import { TRANSCRIPT_LIMIT_MS } from "./transaction.ts";

interface TurnRecord {
  readonly turn_id: string;
  readonly session_id: string;
  readonly surface: string;
  readonly provider: string | null;
  readonly model: string | null;
  readonly started_at: number;
  readonly owner_pid: number;
  readonly owner_start: string;
  readonly owner_host: string;
}

type TurnMethods = Pick<SessionStore, "openTurn" | "closeTurn" | "recoverLostTurns">;

export function turnMethods(context: StoreContext): TurnMethods {
  const { write } = context;
  return {
    openTurn: (turn) => write((sql) => openTurn(sql, turn), TRANSCRIPT_LIMIT_MS),
    closeTurn: (end) =>
      write((sql) => {
        needSession(sql, end.sessionId);
        const ids = insertMessages(sql, end.sessionId, end.messages);
        dropDraft(sql, end.turnId);
        sql.run(
          "UPDATE turns SET session_id = ?, ended_at = ?, outcome = ?, error_kind = ? WHERE turn_id = ?",
          end.sessionId,
          end.endedAt,
          end.outcome,
          end.errorKind,
          end.turnId,
        );
        sql.run("UPDATE sessions SET state = ? WHERE id = ?", end.state, end.sessionId);
        return ids;
      }, TRANSCRIPT_LIMIT_MS),
    recoverLostTurns: (now) => write((sql) => recover(sql, context, now)),
  };
}

/** A turn in a session that had ended opens it again. */
function openTurn(sql: Sql, turn: Parameters<SessionStore["openTurn"]>[0]): void {
  needSession(sql, turn.sessionId);
  sql.run(
    `INSERT INTO turns(turn_id, session_id, surface, provider, model, started_at, owner_pid, owner_start, owner_host)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    turn.turnId,
    turn.sessionId,
    turn.surface,
    turn.provider,
    turn.model,
    turn.startedAt,
    turn.owner.pid,
    turn.owner.startTime,
    turn.owner.host,
  );
  sql.run(
    "UPDATE sessions SET state = 'running', ended_at = NULL, end_reason = NULL WHERE id = ?",
    turn.sessionId,
  );
}

function recover(sql: Sql, context: StoreContext, now: number): readonly TurnRow[] {
  const open = sql.all<TurnRecord>(
    `SELECT turn_id, session_id, surface, provider, model, started_at, owner_pid, owner_start, owner_host
      FROM turns WHERE ended_at IS NULL ORDER BY started_at, turn_id`,
  );
  const lost = open.filter((turn) => isLost(sql, context, turn, now));
  for (const turn of lost) {
    saveDraft(sql, turn, now);
    sql.run("UPDATE turns SET ended_at = ?, outcome = 'lost' WHERE turn_id = ?", now, turn.turn_id);
    sql.run("DELETE FROM turn_leases WHERE turn_id = ?", turn.turn_id);
    sql.run("UPDATE sessions SET state = 'interrupted' WHERE id = ?", turn.session_id);
  }
  return lost.map((turn) => toTurn(turn, now));
}

/** What was shown of an answer becomes its row: nothing that somebody read is lost. */
function saveDraft(sql: Sql, turn: TurnRecord, now: number): void {
  const content = draftOf(sql, turn.turn_id);
  dropDraft(sql, turn.turn_id);
  if (content === "" || !findSession(sql, turn.session_id)) return;
  const row = { role: "assistant", content, timestamp: now, finishReason: "interrupted" } as const;
  insertMessages(sql, turn.session_id, [{ ...row, turnId: turn.turn_id }]);
}

/** A process of another host cannot be asked: without a lease that still runs its turn counts as lost. */
function isLost(sql: Sql, context: StoreContext, turn: TurnRecord, now: number): boolean {
  const owner = ownerOf(turn);
  if (!context.isAlive(owner)) return true;
  if (owner.host === ownIdentity().host) return false;
  return liveLease(sql, context, turn.session_id, now)?.turnId !== turn.turn_id;
}

function ownerOf(turn: TurnRecord): ProcessIdentity {
  return { pid: turn.owner_pid, startTime: turn.owner_start, host: turn.owner_host };
}

function toTurn(turn: TurnRecord, endedAt: number): TurnRow {
  return {
    turnId: turn.turn_id,
    sessionId: turn.session_id,
    surface: turn.surface,
    provider: turn.provider,
    model: turn.model,
    startedAt: turn.started_at,
    endedAt,
    outcome: "lost",
    owner: ownerOf(turn),
  };
}
