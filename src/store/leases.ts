// Leases: one turn at a time per session, also across processes (agent.md §4.1).
import type { SessionStore } from "#agent/ports/session-store.ts";
import type { StoreContext } from "./context.ts";
import { liveLease } from "./live-leases.ts";
import { needSession } from "./sessions.ts";

type LeaseMethods = Pick<SessionStore, "takeLease" | "renewLease" | "dropLease" | "leaseOf">;

// A compression moves the lease to the child: renewing and dropping go by the turn, whichever session is named.
export function leaseMethods(context: StoreContext): LeaseMethods {
  const { read, write } = context;
  return {
    takeLease: (sessionId, { turnId, owner, now, ttlSeconds }) =>
      write((sql) => {
        needSession(sql, sessionId);
        const live = liveLease(sql, context, sessionId, now);
        if (live && live.turnId !== turnId) return { taken: false, holder: live.owner };
        const { pid, startTime, host, surface } = owner;
        sql.run(
          "INSERT OR REPLACE INTO turn_leases(session_id, turn_id, owner, surface, expires_at) VALUES (?, ?, ?, ?, ?)",
          sessionId,
          turnId,
          JSON.stringify({ pid, startTime, host }),
          surface,
          now + ttlSeconds,
        );
        return { taken: true };
      }),
    renewLease: (_sessionId, turnId, expiresAt) =>
      write(
        (sql) =>
          sql.run("UPDATE turn_leases SET expires_at = ? WHERE turn_id = ?", expiresAt, turnId)
            .changes > 0,
      ),
    dropLease: (_sessionId, turnId) =>
      write((sql) => void sql.run("DELETE FROM turn_leases WHERE turn_id = ?", turnId)),
    leaseOf: (sessionId, now) =>
      read((sql) => liveLease(sql, context, sessionId, now)?.owner ?? null),
  };
}
