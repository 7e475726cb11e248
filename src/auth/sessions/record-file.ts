// A session record as a file: JSON with a MAC over everything, its name included (dashboard.md §6.5).
import { timingSafeEqual } from "node:crypto";
import * as z from "zod/mini";
import type { Session } from "./session.ts";
import type { SessionKey } from "./session-key.ts";

export interface StoredSession {
  readonly session: Session;
  /** Sealed tokens; null without any. */
  readonly sealed: string | null;
}

const time = z.number().check(z.gte(0));
const text = z.string().check(z.maxLength(2048));

/** In this order the MAC covers them. */
const fields = z.object({
  v: z.literal(1),
  kind: z.enum(["browser", "native"]),
  provider: text,
  epoch: text,
  user_id: text.check(z.minLength(1)),
  email: text,
  display_name: text,
  org_id: text,
  cookie_name: text,
  created: time,
  auth_time: time,
  last_seen: time,
  absolute_end: time,
  idle_end: time,
  access_expires: z.nullable(time),
  user_agent: text,
  ip: text,
  tokens: z.nullable(z.string()),
  native: z.nullable(z.object({ access: text, access_end: time, refresh: text })),
});
type Fields = z.infer<typeof fields>;
const file = z.object({ ...fields.shape, mac: text });

export function serialiseRecord(stored: StoredSession, key: SessionKey): string {
  const record = fieldsOf(stored);
  return `${JSON.stringify({ ...record, mac: macOf(record, stored.session.digest, key) })}\n`;
}

/** null: not a record, another file's, edited, or made with another key. */
export function parseRecord(
  content: string,
  digest: string,
  key: SessionKey,
): StoredSession | null {
  const parsed = file.safeParse(parseJson(content));
  if (!parsed.success) return null;
  const { mac, ...record } = parsed.data;
  const wanted = Buffer.from(macOf(record, digest, key));
  const given = Buffer.from(mac);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return null;
  return { session: sessionOf(record, digest), sealed: record.tokens };
}

function macOf(record: Fields, digest: string, key: SessionKey): string {
  const ordered = Object.keys(fields.shape).map((name) => record[name as keyof Fields]);
  return key.mac(`${digest}\n${JSON.stringify(ordered)}`);
}

function fieldsOf({ session, sealed }: StoredSession): Fields {
  const { identity, native } = session;
  return {
    v: 1,
    kind: session.kind,
    provider: session.provider,
    epoch: session.epoch,
    user_id: identity.userId,
    email: identity.email,
    display_name: identity.displayName,
    org_id: identity.orgId,
    cookie_name: session.cookieName,
    created: session.createdAt,
    auth_time: session.authTime,
    last_seen: session.lastSeenAt,
    absolute_end: session.absoluteEnd,
    idle_end: session.idleEnd,
    access_expires: session.accessExpiresAt,
    user_agent: session.userAgent,
    ip: session.ip,
    tokens: sealed,
    native: native && {
      access: native.accessDigest,
      access_end: native.accessEnd,
      refresh: native.refreshDigest,
    },
  };
}

function sessionOf(record: Fields, digest: string): Session {
  return {
    digest,
    kind: record.kind,
    provider: record.provider,
    epoch: record.epoch,
    identity: {
      userId: record.user_id,
      email: record.email,
      displayName: record.display_name,
      orgId: record.org_id,
    },
    cookieName: record.cookie_name,
    createdAt: record.created,
    authTime: record.auth_time,
    lastSeenAt: record.last_seen,
    absoluteEnd: record.absolute_end,
    idleEnd: record.idle_end,
    accessExpiresAt: record.access_expires,
    userAgent: record.user_agent,
    ip: record.ip,
    native: record.native && {
      accessDigest: record.native.access,
      accessEnd: record.native.access_end,
      refreshDigest: record.native.refresh,
    },
  };
}

function parseJson(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return null;
  }
}
