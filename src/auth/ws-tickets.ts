// One-time tickets for upgrades, where a browser cannot send a header (dashboard.md §9.1).
import type { Clock } from "#base/clock.ts";
import { randomToken, type RandomBytes } from "#base/ids.ts";

export const TICKET_TTL_SECONDS = 30;
const MOST_PER_OWNER = 64;

export type TicketUse =
  | { readonly ok: true; readonly owner: string }
  | { readonly ok: false; readonly reason: "unknown" | "expired" };

export interface WsTickets {
  /** 43 characters. null: too many outstanding for this owner. */
  mint(owner: string): string | null;
  /** Burns it, whatever the answer. Valid at its expiry, not after. */
  use(ticket: string): TicketUse;
}

export function createWsTickets(clock: Clock, random: RandomBytes): WsTickets {
  const open = new Map<string, { readonly owner: string; readonly expiresAt: number }>();
  const sweep = (): void => {
    for (const [ticket, entry] of open) if (clock.now() > entry.expiresAt) open.delete(ticket);
  };
  return {
    mint(owner) {
      sweep();
      const outstanding = [...open.values()].filter((entry) => entry.owner === owner).length;
      if (outstanding >= MOST_PER_OWNER) return null;
      const ticket = randomToken(random);
      open.set(ticket, { owner, expiresAt: clock.now() + TICKET_TTL_SECONDS * 1000 });
      return ticket;
    },
    use(ticket) {
      const entry = open.get(ticket);
      if (!entry) return { ok: false, reason: "unknown" };
      open.delete(ticket);
      if (clock.now() > entry.expiresAt) return { ok: false, reason: "expired" };
      return { ok: true, owner: entry.owner };
    },
  };
}
