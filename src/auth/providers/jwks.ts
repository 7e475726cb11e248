// Signatures of one issuer's tokens (dashboard.md §6.6): its keys, kept; jose does the rest.
import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from "jose";
import type { Clock } from "#base/clock.ts";
import { messageOf } from "#base/errors.ts";
import type { Log } from "#base/log.ts";
import { AuthError, isAuthError } from "./auth-error.ts";
import { createKept } from "./kept.ts";
import { unreachable, type OidcHttp } from "./oidc-http.ts";

export interface VerifyOptions {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly string[];
  readonly requiredClaims: readonly string[];
  readonly leewaySeconds: number;
  /** A token without `kid` is refused. */
  readonly needsKid: boolean;
  readonly signal: AbortSignal;
}

export interface Jwks {
  /**
   * Resolves when there are keys, else rejects with `unreachable`: asked before a refresh token is spent, which could not be
   * taken back when its answer cannot be verified.
   */
  demandKeys(signal: AbortSignal): Promise<void>;
  /**
   * The claims of a token whose signature, issuer, audience and times hold; else rejects with `not_ours`, or with
   * `unreachable` when there are no keys to check with.
   */
  verify(token: string, options: VerifyOptions): Promise<JWTPayload>;
}

export interface JwksOptions {
  readonly url: URL;
  readonly http: OidcHttp;
  readonly clock: Clock;
  readonly log: Log;
}

const FRESH_MS = 300_000;
const STALE_MS = 24 * 3_600_000;
const COOLDOWN_MS = 30_000;
const FAILURE_MS = 10_000;

export function createJwks({ url, http, clock, log }: JwksOptions): Jwks {
  const kept = createKept<JWTVerifyGetKey>({
    what: `the key set of ${url.origin}`,
    freshMs: FRESH_MS,
    staleMs: STALE_MS,
    failureMs: FAILURE_MS,
    fetch: async (limitMs) => parseKeys(url, await http.fetchJson(url, { limitMs })),
    clock,
    log,
  });
  return {
    async demandKeys(signal) {
      await kept.get(signal);
    },

    async verify(token, options) {
      const { value: keys, isNew } = await kept.get(options.signal);
      const first = await attempt(token, keys, options, clock);
      if (first.claims !== null) return first.claims;
      // No key for it: perhaps the issuer has a new one.
      const mayRenew = first.noKey && !isNew;
      const newer = mayRenew ? await kept.renew(COOLDOWN_MS, options.signal) : null;
      const hasNewer = newer !== null && newer !== keys;
      const last = hasNewer ? await attempt(token, newer, options, clock) : first;
      if (last.claims !== null) return last.claims;
      throw new AuthError("not_ours", last.reason);
    },
  };
}

async function parseKeys(
  url: URL,
  document: Readonly<Record<string, unknown>>,
): Promise<JWTVerifyGetKey> {
  const { createLocalJWKSet } = await import("jose");
  try {
    return createLocalJWKSet(document as unknown as JSONWebKeySet);
  } catch {
    throw unreachable(url, "its answer is no key set");
  }
}

type Outcome =
  | { readonly claims: JWTPayload; readonly noKey: false }
  | { readonly claims: null; readonly noKey: boolean; readonly reason: string };

async function attempt(
  token: string,
  keys: JWTVerifyGetKey,
  options: VerifyOptions,
  clock: Clock,
): Promise<Outcome> {
  const { decodeProtectedHeader, errors, jwtVerify } = await import("jose");
  try {
    if (options.needsKid && decodeProtectedHeader(token).kid === undefined) {
      return { claims: null, noKey: false, reason: "the token names no key (kid)" };
    }
    const { payload } = await jwtVerify(token, keys, {
      issuer: options.issuer,
      audience: options.audience,
      algorithms: [...options.algorithms],
      requiredClaims: [...options.requiredClaims],
      clockTolerance: options.leewaySeconds,
      currentDate: new Date(clock.now()),
    });
    refuseFutureIssue(payload, options.leewaySeconds, clock);
    return { claims: payload, noKey: false };
  } catch (error) {
    if (isAuthError(error)) throw error;
    // A key that cannot be imported comes as a DOMException or a TypeError: the token is not provably the issuer's.
    const noKey = error instanceof errors.JWKSNoMatchingKey;
    return { claims: null, noKey, reason: `the token is refused: ${messageOf(error)}` };
  }
}

/** jose looks at `iat` only for a maximum age, so a clock that is far ahead would go unnoticed. */
function refuseFutureIssue({ iat }: JWTPayload, leewaySeconds: number, clock: Clock): void {
  const skewSeconds = Math.round((iat ?? 0) - clock.now() / 1000);
  if (skewSeconds <= leewaySeconds) return;
  throw new AuthError(
    "not_ours",
    `the token was issued ${skewSeconds} s in the future: compare the clocks of the issuer and of this machine`,
    { data: { skewSeconds } },
  );
}
