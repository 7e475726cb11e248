// Frames of WS /api/ws and the server events (dashboard.md §9). JSON text frames only.
import type { AgentEvent } from "./events.ts";

export const TOPICS = ["services", "sessions", "cron", "config"] as const;
export type Topic = (typeof TOPICS)[number];

/** `id` is `<run>.<seq>`; the session and the topic of another profile are named with `profile`. */
export type ClientFrame =
  | {
      readonly type: "subscribe";
      readonly session: string;
      /** Id of the last event that was shown: only later ones come. Without it `snapshot` comes first. */
      readonly after?: string;
      readonly profile?: string;
    }
  | { readonly type: "unsubscribe"; readonly session: string; readonly profile?: string }
  | { readonly type: "subscribe" | "unsubscribe"; readonly topic: Topic };

export type ServerFrame =
  /** First frame. A changed `server` tells a tab to fetch everything again. */
  | { readonly type: "ready"; readonly server: string; readonly version: string }
  | {
      readonly type: "event";
      readonly session: string;
      readonly id: string;
      readonly event: AgentEvent;
    }
  | ServerEvent
  /** A frame that was not understood, or a subscription that cannot be. */
  | {
      readonly type: "error";
      readonly code: "invalid" | "not_found" | "store_busy" | "store_failed" | "internal";
      readonly detail: string;
      readonly session?: string;
    };

/** Something of this topic changed: fetch it again. Also the `data` of GET /api/events, with `event: <topic>`. */
export interface ServerEvent {
  readonly type: "change";
  readonly topic: Topic;
  readonly profile: string;
  /** ISO 8601 UTC */
  readonly at: string;
}

/** Close codes of a socket (dashboard.md §4.4) and what the app does. */
export const CLOSE = {
  normal: 1000,
  /** Server stops: reconnect with back-off. */
  goingAway: 1001,
  tooLarge: 1009,
  internal: 1011,
  /** Slow reader or stalled provider: reconnect with back-off. */
  tryAgainLater: 1013,
  /** Malformed frames or parameters: stop and report. */
  badParameter: 4400,
  /** No, used, expired or unknown credential: new ticket once, then sign in. */
  unauthorized: 4401,
  /** Switched off (terminal). */
  off: 4403,
  /** No such session or profile. */
  notFound: 4404,
  /** Another viewer took over (terminal). */
  takenOver: 4409,
  /** The terminal's child ended. */
  childEnded: 4410,
  /** Too many sockets. */
  tooMany: 4429,
} as const;
