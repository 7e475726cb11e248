// What the browser carries between the start of a login and its callback (dashboard.md §6.2). The server remembers nothing
// before a login succeeds, so nobody can fill its memory.
import { createHash, timingSafeEqual } from "node:crypto";
import * as z from "zod/mini";
import type { Attempt } from "./providers/provider.ts";
import { parseNext, type SafeRedirect } from "./next.ts";

/** A native app's request that rides along (dashboard.md §8.2). */
export interface NativeRequest {
  readonly redirectUri: string;
  /** PKCE of the app, S256. */
  readonly challenge: string;
  readonly state: string;
}

export interface LoginAttempt extends Attempt {
  readonly provider: string;
  readonly next: SafeRedirect | null;
  /** Unix seconds. */
  readonly startedAt: number;
  readonly native: NativeRequest | null;
}

export const ATTEMPT_TTL_SECONDS = 600;
const MOST_ATTEMPTS = 5;
const LONGEST_VALUE = 3500;
const VALUE = /^[A-Za-z0-9_-]+$/;

const token = z.string().check(z.regex(/^[A-Za-z0-9._~-]{1,128}$/));
const wire = z.object({
  v: z.literal(1),
  a: z
    .array(
      z.object({
        s: token,
        p: z.string().check(z.maxLength(32)),
        k: token,
        o: z.nullable(token),
        n: z.nullable(z.string()),
        t: z.number(),
        x: z.nullable(
          z.object({
            r: z.string().check(z.maxLength(256)),
            c: z.string().check(z.maxLength(128)),
            s: z.string().check(z.maxLength(256)),
          }),
        ),
      }),
    )
    .check(z.maxLength(64)),
});

export interface ReadAttempts {
  /** Newest first, none older than 600 s, of all cookies that came. */
  readonly attempts: readonly LoginAttempt[];
  /** A cookie was there, but none of them could be read. */
  readonly unreadable: boolean;
}

/** Merges what several cookies of the name hold: duplicates, other variants, other tabs. */
export function readAttempts(values: readonly string[], nowSeconds: number): ReadAttempts {
  const read = values.map(parseValue);
  const all = read.flatMap((attempts) => attempts ?? []);
  const fresh = all.filter(({ startedAt }) => isFresh(startedAt, nowSeconds));
  const byState = new Map(fresh.map((attempt) => [attempt.state, attempt]));
  const attempts = [...byState.values()].sort((a, b) => b.startedAt - a.startedAt);
  return { attempts, unreadable: values.length > 0 && read.every((found) => found === null) };
}

/** A clock that went back by a minute must not lose a login that just began. */
function isFresh(startedAt: number, nowSeconds: number): boolean {
  return startedAt > nowSeconds - ATTEMPT_TTL_SECONDS && startedAt <= nowSeconds + 60;
}

/** Cookie value of at most 5 attempts, newest first; the oldest go first where space is short. null: nothing to keep. */
export function writeAttempts(attempts: readonly LoginAttempt[], prefix: string): string | null {
  // Each of an answer's cookies repeats the path, and together they must stay under 4 KB.
  const limit = LONGEST_VALUE - 3 * prefix.length;
  for (let count = Math.min(attempts.length, MOST_ATTEMPTS); count > 0; count--) {
    const value = encode(attempts.slice(0, count));
    if (value.length <= limit) return value;
  }
  return null;
}

function encode(attempts: readonly LoginAttempt[]): string {
  const a = attempts.map(({ state, provider, verifier, nonce, next, startedAt, native }) => ({
    s: state,
    p: provider,
    k: verifier,
    o: nonce,
    n: next,
    t: startedAt,
    x: native && { r: native.redirectUri, c: native.challenge, s: native.state },
  }));
  return Buffer.from(JSON.stringify({ v: 1, a })).toString("base64url");
}

function parseValue(value: string): readonly LoginAttempt[] | null {
  if (value.length > LONGEST_VALUE || !VALUE.test(value)) return null;
  const parsed = wire.safeParse(parseJson(Buffer.from(value, "base64url").toString("utf8")));
  if (!parsed.success) return null;
  return parsed.data.a.map(({ s, p, k, o, n, t, x }) => ({
    state: s,
    provider: p,
    verifier: k,
    nonce: o,
    // What was checked before it went into the cookie is checked again: the browser could have changed it.
    next: parseNext(n),
    startedAt: t,
    native: x && { redirectUri: x.r, challenge: x.c, state: x.s },
  }));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The attempt of this `state`, compared in constant time. */
export function findAttempt(attempts: readonly LoginAttempt[], state: string): LoginAttempt | null {
  if (state === "") return null;
  const wanted = digestOf(state);
  let found: LoginAttempt | null = null;
  for (const attempt of attempts) {
    if (timingSafeEqual(digestOf(attempt.state), wanted)) found = attempt;
  }
  return found;
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
