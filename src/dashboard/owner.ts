// Whose sockets, streams and tickets these are: they end with the session.
import type { Caller } from "#auth/access.ts";

/** Digest of the session; null for callers that have none. */
export function ownerOf(caller: Caller): string | null {
  return caller.kind === "session" ? caller.session.digest : null;
}
