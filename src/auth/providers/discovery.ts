// An issuer's metadata (OIDC Discovery 1.0 §4), kept 1 h, then used up to 24 h while it cannot be fetched (dashboard.md §5.4).
import type * as Oidc from "openid-client";
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import { AuthError } from "./auth-error.ts";
import { createKept, type Kept } from "./kept.ts";
import { unreachable, type OidcHttp } from "./oidc-http.ts";

export interface Issuer {
  readonly metadata: Oidc.ServerMetadata;
  readonly jwksUri: URL;
}

export interface DiscoveryOptions {
  /** As configured; a trailing slash makes no difference. */
  readonly issuer: string;
  /** Only for an issuer on loopback. */
  readonly allowHttp: boolean;
  readonly http: OidcHttp;
  readonly clock: Clock;
  readonly log: Log;
}

const FRESH_MS = 3_600_000;
const STALE_MS = 24 * 3_600_000;
const FAILURE_MS = 10_000;

export function createDiscovery(options: DiscoveryOptions): Kept<Issuer> {
  const { issuer, http, clock, log } = options;
  const url = new URL(`${withoutSlash(issuer)}/.well-known/openid-configuration`);
  return createKept({
    what: `the metadata of ${issuer}`,
    freshMs: FRESH_MS,
    staleMs: STALE_MS,
    failureMs: FAILURE_MS,
    fetch: async (limitMs) => parseIssuer(url, await http.fetchJson(url, { limitMs }), options),
    clock,
    log,
  });
}

const withoutSlash = (text: string): string => text.replace(/\/+$/u, "");

function parseIssuer(
  url: URL,
  document: Readonly<Record<string, unknown>>,
  { issuer, allowHttp }: DiscoveryOptions,
): Issuer {
  const claimed = document["issuer"];
  if (typeof claimed !== "string" || withoutSlash(claimed) !== withoutSlash(issuer)) {
    throw new AuthError("not_ours", `the metadata at ${url.href} is of another issuer`);
  }
  const endpoint = (name: string): URL => {
    const given = document[name];
    const address = typeof given === "string" ? URL.parse(given) : null;
    if (address === null) throw unreachable(url, `the metadata has no ${name}`);
    refusePlain(name, address, allowHttp);
    return address;
  };
  endpoint("authorization_endpoint");
  endpoint("token_endpoint");
  for (const name of ["revocation_endpoint", "end_session_endpoint", "userinfo_endpoint"]) {
    if (document[name] !== undefined) endpoint(name);
  }
  const jwksUri = endpoint("jwks_uri");
  return { metadata: { ...document, issuer: claimed }, jwksUri };
}

function refusePlain(name: string, address: URL, allowHttp: boolean): void {
  if (address.protocol === "https:" || (allowHttp && address.protocol === "http:")) return;
  throw new AuthError("not_ours", `the issuer's ${name} is not https`);
}
