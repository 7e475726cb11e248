// What a door may ask of the stored conversations directly; everything that runs a turn goes through SessionService.
import type { SessionStore } from "#agent/ports/session-store.ts";

/** Errors are those of SessionStore. Times are seconds since 1970. */
export type SessionArchive = Pick<
  SessionStore,
  | "ping"
  | "changeToken"
  | "createSession"
  | "getSession"
  | "resolveSession"
  | "listSessions"
  | "updateSession"
  | "deleteSession"
  | "newestDescendant"
  | "countActive"
  | "appendMessages"
  | "readMessages"
  | "search"
  | "recentHits"
  | "usageByDay"
  | "usageByModel"
  | "stats"
  | "prune"
  | "deleteEmpty"
  | "exportLines"
  | "importLines"
>;

export type { DailyUsage, ModelUsage, SessionFilter } from "#agent/ports/session-store.ts";
export type { Redactor } from "#agent/ports/redactor.ts";
