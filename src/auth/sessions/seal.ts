// A provider's tokens, sealed under a key that needs the session's id (dashboard.md §6.5): AES-256-GCM, bound to the record.
import { createCipheriv, createDecipheriv } from "node:crypto";
import * as z from "zod/mini";
import type { RandomBytes } from "#base/ids.ts";
import type { Tokens } from "../providers/provider.ts";
import { Secret } from "../providers/secret.ts";

const IV_BYTES = 12;
const TAG_BYTES = 16;

const wire = z.object({
  a: z.string(),
  r: z.nullable(z.string()),
  i: z.nullable(z.string()),
  e: z.number(),
});

/** base64url of IV, tag and ciphertext. `boundTo`: the record's name, so that no other record can carry these tokens. */
export function sealTokens(
  tokens: Tokens,
  key: Buffer,
  boundTo: string,
  random: RandomBytes,
): string {
  const iv = Buffer.from(random(IV_BYTES));
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(boundTo));
  const { access, refresh, idToken, accessExpiresAt } = tokens;
  const text = JSON.stringify({
    a: access.reveal(),
    r: refresh?.reveal() ?? null,
    i: idToken?.reveal() ?? null,
    e: accessExpiresAt,
  });
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64url");
}

/** null: another key, another record, or damaged. */
export function openTokens(sealed: string, key: Buffer, boundTo: string): Tokens | null {
  try {
    const bytes = Buffer.from(sealed, "base64url");
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES));
    decipher.setAAD(Buffer.from(boundTo));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    const text = Buffer.concat([
      decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)),
      decipher.final(),
    ]).toString("utf8");
    const { a, r, i, e } = wire.parse(JSON.parse(text));
    return {
      access: new Secret(a),
      refresh: secretOf(r),
      idToken: secretOf(i),
      accessExpiresAt: e,
    };
  } catch {
    return null;
  }
}

function secretOf(text: string | null): Secret | null {
  return text === null ? null : new Secret(text);
}
