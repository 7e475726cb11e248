// Conversations of one home: find or make a session, take its lease, run its turns, tell every viewer.
import type { SessionDeps } from "./deps.ts";
import type { SessionService } from "./types.ts";

/** Opens the service. Turns that dead processes left open are marked lost first. Call `close` before the store closes. */
export async function openSessionService(_deps: SessionDeps): Promise<SessionService> {
  throw new Error("being built");
}
