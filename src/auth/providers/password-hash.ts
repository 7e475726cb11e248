// Password hashes of the form `scrypt$N$r$p$<salt b64>$<key b64>` (dashboard.md §5.5, RFC 7914).
import { scrypt, scryptSync, timingSafeEqual } from "node:crypto";
import { systemRandom, type RandomBytes } from "#base/ids.ts";

export interface PasswordHash {
  readonly cost: number;
  readonly blockSize: number;
  readonly parallel: number;
  readonly salt: Buffer;
  readonly key: Buffer;
}

export type HashReading =
  | { readonly ok: true; readonly hash: PasswordHash }
  /** What is wrong, without the hash. */
  | { readonly ok: false; readonly reason: string };

const MADE_WITH = { cost: 16_384, blockSize: 8, parallel: 1 } as const;
const SALT_BYTES = 16;
const KEY_BYTES = 32;
/** Most that is computed for a login: a hash from elsewhere must not cost gigabytes. */
const MOST = { cost: 131_072, blockSize: 16, parallel: 4 } as const;
const SALT_RANGE = [8, 128] as const;
const KEY_RANGE = [16, 128] as const;

export function parseHash(text: string): HashReading {
  const parts = text.trim().split("$");
  const [scheme, n = "", r = "", p = "", salt = "", key = ""] = parts;
  if (scheme !== "scrypt" || parts.length !== 6) {
    return bad("is not of the form scrypt$N$r$p$<salt>$<key>");
  }
  const [cost, blockSize, parallel] = [wholeNumber(n), wholeNumber(r), wholeNumber(p)];
  if (cost === null || blockSize === null || parallel === null)
    return bad("has no whole numbers N, r, p");
  if (cost < 2 || !Number.isInteger(Math.log2(cost)))
    return bad("has an N that is no power of two");
  if (cost > MOST.cost || blockSize > MOST.blockSize || parallel > MOST.parallel) {
    return bad(`costs too much: N ≤ ${MOST.cost}, r ≤ ${MOST.blockSize}, p ≤ ${MOST.parallel}`);
  }
  const saltBytes = fromBase64(salt, SALT_RANGE);
  const keyBytes = fromBase64(key, KEY_RANGE);
  if (saltBytes === null || keyBytes === null) return bad("has a malformed salt or key");
  return { ok: true, hash: { cost, blockSize, parallel, salt: saltBytes, key: keyBytes } };
}

function bad(reason: string): HashReading {
  return { ok: false, reason };
}

function wholeNumber(text: string): number | null {
  return /^[1-9]\d{0,9}$/u.test(text) ? Number(text) : null;
}

function fromBase64(text: string, [least, most]: readonly [number, number]): Buffer | null {
  if (!/^[A-Za-z0-9+/]+={0,2}$/u.test(text)) return null;
  const bytes = Buffer.from(text, "base64");
  return bytes.length >= least && bytes.length <= most ? bytes : null;
}

export function formatHash({ cost, blockSize, parallel, salt, key }: PasswordHash): string {
  const ends = [salt.toString("base64"), key.toString("base64")];
  return ["scrypt", cost, blockSize, parallel, ...ends].join("$");
}

/** What `hermes dashboard set-password` stores. */
export async function hashPassword(
  password: string,
  random: RandomBytes = systemRandom,
): Promise<string> {
  const salt = Buffer.from(random(SALT_BYTES));
  const unfilled = { ...MADE_WITH, salt, key: Buffer.alloc(KEY_BYTES) };
  return formatHash({ ...unfilled, key: await derive(password, unfilled) });
}

/** Blocks for some 40 ms: once per process, for a password that is configured in the clear. */
export function hashPasswordSync(password: string, salt: Buffer): PasswordHash {
  const { cost: N, blockSize: r, parallel: p } = MADE_WITH;
  return { ...MADE_WITH, salt, key: scryptSync(password, salt, KEY_BYTES, { N, r, p }) };
}

/** In constant time as far as the key is concerned. */
export async function isPassword(password: string, hash: PasswordHash): Promise<boolean> {
  return timingSafeEqual(await derive(password, hash), hash.key);
}

function derive(password: string, hash: PasswordHash): Promise<Buffer> {
  const { cost: N, blockSize: r, parallel: p, salt, key } = hash;
  // Node's own limit of 32 MiB is just too small for N=32768, r=8.
  const maxmem = 128 * r * (N + p + 2) + 1024 * 1024;
  return new Promise((resolve, reject) => {
    scrypt(password, salt, key.length, { N, r, p, maxmem }, (error, bytes) => {
      if (error) reject(error);
      else resolve(bytes);
    });
  });
}
