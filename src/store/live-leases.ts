// Which lease of a session counts now: not run out, and its owner not known to be dead (agent.md §4.1).
import type { LeaseOwner } from "#agent/ports/session-store.ts";
import { ownIdentity } from "#base/process-identity.ts";
import type { StoreContext } from "./context.ts";
import { isRecord, parseJson } from "./rows.ts";
import type { Sql } from "./sqlite.ts";

interface LeaseRecord {
  readonly turn_id: string;
  readonly owner: string;
  readonly surface: string;
  readonly expires_at: number;
}

export interface LiveLease {
  readonly turnId: string;
  readonly owner: LeaseOwner;
}

type Judge = Pick<StoreContext, "isAlive">;

/** The lease that counts at `now` (seconds): not run out, and its owner not known to be dead. */
export function liveLease(
  sql: Sql,
  judge: Judge,
  sessionId: string,
  now: number,
): LiveLease | null {
  const row = sql.get<LeaseRecord>(
    "SELECT turn_id, owner, surface, expires_at FROM turn_leases WHERE session_id = ?",
    sessionId,
  );
  if (!row || row.expires_at <= now) return null;
  const owner = toOwner(row);
  return judge.isAlive(owner) ? { turnId: row.turn_id, owner } : null;
}

function toOwner(row: LeaseRecord): LeaseOwner {
  const value = parseJson(row.owner);
  const { pid, startTime, host } = isRecord(value) ? value : {};
  return {
    pid: typeof pid === "number" ? pid : 0,
    startTime: typeof startTime === "string" ? startTime : "",
    host: typeof host === "string" ? host : "",
    surface: row.surface,
  };
}

/** Leases of other processes that count at `now`. */
export function foreignLeases(sql: Sql, judge: Judge, now: number): readonly LiveLease[] {
  const own = ownIdentity();
  return sql
    .all<{ session_id: string }>("SELECT session_id FROM turn_leases WHERE expires_at > ?", now)
    .map((row) => liveLease(sql, judge, row.session_id, now))
    .filter((lease) => lease !== null)
    .filter(({ owner }) => owner.pid !== own.pid || owner.host !== own.host);
}
