// The bearer of the API server (agent.md §7.9, field-rules K06).
import { createHash, timingSafeEqual } from "node:crypto";

export const MIN_KEY_LENGTH = 16;

export type KeyJudgement =
  | { readonly ok: true; readonly key: string }
  | { readonly ok: false; readonly code: string; readonly message: string };

export function judgeKey(key: string | undefined): KeyJudgement {
  if (key === undefined) {
    const message = "key missing: set API_SERVER_KEY, at least 16 characters";
    return { ok: false, code: "KEY_MISSING", message };
  }
  if (key.length < MIN_KEY_LENGTH) {
    const message = `key too short: API_SERVER_KEY needs at least ${MIN_KEY_LENGTH} characters`;
    return { ok: false, code: "KEY_TOO_SHORT", message };
  }
  return { ok: true, key };
}

/** In a time that tells nothing of the key (digests have one length). */
export function isBearer(header: string | undefined, key: string): boolean {
  const given = /^Bearer +(.+)$/i.exec(header ?? "")?.[1] ?? "";
  return timingSafeEqual(digest(given), digest(key));
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
