// Tokens of our own for native apps (dashboard.md §8.2): `hat_<id>.<random>`, so that the session is found by its id and the
// record holds digests only.
import type { Clock } from "#base/clock.ts";
import { randomToken, type RandomBytes } from "#base/ids.ts";
import { digestOfId, type SessionRecords } from "./sessions/records.ts";
import type { NativeTokens, Session } from "./sessions/session.ts";

export const ACCESS_TTL_SECONDS = 3600;
const TOKEN = /^(hat|hrt)_([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})$/;

export interface NativeSession {
  readonly id: string;
  readonly session: Session;
}

export interface NativeTokenReader {
  /** Of an access token that is valid now; null: not one of ours. `again`: the record is read from disk. */
  read(accessToken: string, again: boolean): NativeSession | null;
}

export interface MintedTokens {
  readonly access: string;
  readonly refresh: string;
  readonly digests: NativeTokens;
}

export function createNativeTokenReader(records: SessionRecords, clock: Clock): NativeTokenReader {
  return {
    read(accessToken, again) {
      const id = idOf(accessToken, "hat");
      if (id === null) return null;
      const session = again ? records.recheck(id) : records.find(id);
      if (!session?.native || session.native.accessDigest !== digestOfId(accessToken)) return null;
      return clock.now() / 1000 < session.native.accessEnd ? { id, session } : null;
    },
  };
}

/** New tokens of the session with this id. */
export function mintNativeTokens(id: string, clock: Clock, random: RandomBytes): MintedTokens {
  const access = `hat_${id}.${randomToken(random)}`;
  const refresh = `hrt_${id}.${randomToken(random)}`;
  const accessEnd = Math.floor(clock.now() / 1000) + ACCESS_TTL_SECONDS;
  const digests = {
    accessDigest: digestOfId(access),
    accessEnd,
    refreshDigest: digestOfId(refresh),
  };
  return { access, refresh, digests };
}

/** The session's id inside a token of this kind. null: no such token. */
export function idOf(token: string, kind: "hat" | "hrt"): string | null {
  const match = TOKEN.exec(token);
  return match?.[1] === kind ? (match[2] ?? null) : null;
}
