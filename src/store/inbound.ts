// Events of chat platforms and webhooks, each noted once (agent.md §7.6, §7.9).
import type { InboundEvent, SessionStore } from "#agent/ports/session-store.ts";
import type { StoreContext } from "./context.ts";
import type { Sql } from "./sqlite.ts";

type InboundMethods = Pick<SessionStore, "recordInbound" | "forgetInbound">;

export function inboundMethods({ write }: StoreContext): InboundMethods {
  return {
    recordInbound: (event) => write((sql) => record(sql, event)),
    forgetInbound: (platform, eventId) =>
      write((sql) => {
        sql.run(
          "DELETE FROM inbound_events WHERE platform = ? AND event_id = ?",
          platform,
          eventId,
        );
      }),
  };
}

function record(sql: Sql, event: InboundEvent): boolean {
  const { platform, eventId, state, now, forgetBefore } = event;
  sql.run(
    "DELETE FROM inbound_events WHERE platform = ? AND received_at < ? AND state IN ('done', 'skipped')",
    platform,
    forgetBefore,
  );
  const { changes } = sql.run(
    "INSERT OR IGNORE INTO inbound_events(platform, event_id, event, received_at, state) VALUES (?, ?, ?, ?, ?)",
    platform,
    eventId,
    event.event,
    now,
    state,
  );
  return changes === 1;
}
