// A login as the server knows it (dashboard.md §6.5, product.md D15). The browser holds a random id and nothing else.
import type { Identity } from "../providers/provider.ts";

/** Tokens of our own that a native app holds (dashboard.md §8.2): digests only. */
export interface NativeTokens {
  readonly accessDigest: string;
  /** Unix seconds. */
  readonly accessEnd: number;
  readonly refreshDigest: string;
}

/** Times are unix seconds. Immutable: a change makes a new object. */
export interface Session {
  /** SHA-256 of the id, hex: name of the file, and the only trace of the id on the server. */
  readonly digest: string;
  readonly kind: "browser" | "native";
  readonly provider: string;
  readonly epoch: string;
  readonly identity: Identity;
  /** The cookie that it was issued under; a session is dead under any other name. "" for a native app. */
  readonly cookieName: string;
  readonly createdAt: number;
  /** When somebody last proved who they are. */
  readonly authTime: number;
  readonly lastSeenAt: number;
  readonly absoluteEnd: number;
  readonly idleEnd: number;
  /** null: there is nothing that could be refreshed; the session lives its own time. */
  readonly accessExpiresAt: number | null;
  /** At most 200 characters. */
  readonly userAgent: string;
  readonly ip: string;
  readonly native: NativeTokens | null;
}

/** Why a session ended: for the audit, and for whoever holds sockets of it. */
export type SessionEnd =
  | "logout"
  | "revoked"
  | "expired"
  | "replaced"
  | "evicted"
  | "rejected"
  | "stale";

/** What lists and addresses show instead of the digest. */
export function sessionName(session: Pick<Session, "digest">): string {
  return session.digest.slice(0, 16);
}

export function isLiveAt(session: Session, nowSeconds: number): boolean {
  return nowSeconds < session.absoluteEnd && nowSeconds < session.idleEnd;
}

export function isSameUser(a: Session, b: Session): boolean {
  return a.provider === b.provider && a.identity.userId === b.identity.userId;
}
