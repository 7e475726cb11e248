// Login, refresh and logout at an OpenID Connect issuer: code + PKCE + nonce, signatures always checked (dashboard.md §5.4).
import type * as Oidc from "openid-client";
import { isAllowed, type AllowList } from "./allow-list.ts";
import { AuthError, isAuthError } from "./auth-error.ts";
import { listClaim, textClaim, type Claims } from "./claims.ts";
import type { OidcDeps } from "./collect.ts";
import { epochOf } from "./digest.ts";
import { createDiscovery, type Issuer } from "./discovery.ts";
import { createJwks, type Jwks } from "./jwks.ts";
import {
  createAttempt,
  openClient,
  orAuthError,
  pkceParameters,
  type OidcClient,
} from "./oidc-client.ts";
import {
  parseProviderName,
  type Identity,
  type ProviderName,
  type RedirectProvider,
  type Tokens,
} from "./provider.ts";
import { Secret } from "./secret.ts";
import type { SelfHostedSettings } from "./settings.ts";
import { loggingRefusals, refuseNoCode, refuseTokenType } from "./token-checks.ts";

export const SELF_HOSTED = parseProviderName("self-hosted") as ProviderName;

const ALGORITHMS = ["RS256", "RS384", "RS512", "ES256", "ES384", "ES512"] as const;
const REVOKE_LIMIT_MS = 3000;
const MOST_GROUPS = 10;

interface Session {
  readonly issuer: Issuer;
  readonly client: OidcClient;
}

export function createSelfHosted(
  settings: SelfHostedSettings,
  allowed: AllowList,
  deps: OidcDeps,
): RedirectProvider {
  const { clientId, clientSecret, leewaySeconds } = settings;
  const { http, clock, log, random } = deps;
  const allowHttp = settings.issuer.toLowerCase().startsWith("http:");
  const discovery = createDiscovery({ issuer: settings.issuer, allowHttp, http, clock, log });
  const scopes = settings.scopes.split(/\s+/u).filter((scope) => scope !== "");
  const scope = scopes.join(" ");
  const keysOf = createKeyRing(deps);

  const open = async (signal: AbortSignal): Promise<Session> => {
    const { value: issuer } = await discovery.get(signal);
    const metadata = withOurAlgorithms(issuer.metadata);
    const fixed = { clientId, clientSecret, leewaySeconds, allowHttp, http, clock };
    return { issuer, client: await openClient({ ...fixed, metadata, signal }) };
  };

  /** The library has checked the claims of the ID token by now; the signature it would leave unchecked. */
  const verify = (token: string, { issuer }: Session, signal: AbortSignal): Promise<Claims> =>
    keysOf(issuer.jwksUri).verify(token, {
      issuer: issuer.metadata.issuer,
      audience: clientId,
      algorithms: ALGORITHMS,
      requiredClaims: ["exp", "iat", "aud", "iss", "sub"],
      leewaySeconds,
      needsKid: false,
      signal,
    });

  const admit = (claims: Claims): void => {
    if (isAllowed(allowed, claims)) return;
    throw new AuthError("identity_rejected", "no allow-list of the settings has this account");
  };

  return {
    kind: "redirect",
    name: SELF_HOSTED,
    displayName: "Self-Hosted OIDC",
    epoch: epochOf(SELF_HOSTED, settings.issuer.replace(/\/+$/u, ""), clientId),

    async startLogin({ redirectUri, fresh, signal }) {
      const attempt = createAttempt(random, true);
      const { client } = await open(signal);
      const prompt = [fresh ? "login" : "", scopes.includes("offline_access") ? "consent" : ""];
      const url = client.lib.buildAuthorizationUrl(client.configuration, {
        redirect_uri: redirectUri.href,
        scope,
        ...(await pkceParameters(client.lib, attempt)),
        ...(prompt.join("") === "" ? {} : { prompt: prompt.filter((word) => word).join(" ") }),
      });
      return { url, attempt };
    },

    completeLogin: ({ callback, attempt, signal }) =>
      loggingRefusals(SELF_HOSTED, log, async () => {
        refuseNoCode(callback);
        const session = await open(signal);
        const answer = await exchange(session.client, callback, attempt);
        const idToken = answer.id_token ?? "";
        const claims = await completed(await verify(idToken, session, signal), answer, session);
        admit(claims);
        const tokens = tokensOf(answer, claims, deps);
        return { identity: identityOf(claims), tokens };
      }),

    refresh: ({ tokens, identity, signal }) =>
      loggingRefusals(SELF_HOSTED, log, async () => {
        const { refresh } = tokens;
        if (refresh === null) throw new AuthError("refresh_rejected", "there is no refresh token");
        const session = await open(signal);
        await keysOf(session.issuer.jwksUri).demandKeys(signal);
        const answer = await renew(session.client, refresh, scope);
        const before = await claimsOf(tokens.idToken);
        const fresh =
          answer.id_token === undefined ? {} : await verify(answer.id_token, session, signal);
        if ("sub" in fresh && fresh["sub"] !== identity.userId) {
          throw new AuthError("not_ours", "the refreshed token is somebody else's (sub)");
        }
        const known = { ...before, ...fresh, sub: identity.userId };
        const claims = await orUnknown(completed(known, answer, session));
        if (claims !== null) admit(claims);
        const renewed = tokensOf(answer, claims ?? known, deps);
        return {
          ...renewed,
          refresh: renewed.refresh ?? refresh,
          idToken: renewed.idToken ?? tokens.idToken,
        };
      }),

    async revoke(tokens, signal) {
      const limit = new AbortController();
      const timer = clock.after(REVOKE_LIMIT_MS, () => limit.abort());
      try {
        const limited = AbortSignal.any([signal, limit.signal]);
        const { client, issuer } = await open(limited);
        if (issuer.metadata.revocation_endpoint === undefined) return;
        await revokeAll(client, tokens);
      } catch (error) {
        const reason = isAuthError(error) ? error.message : "unexpected";
        log.info("tokens were not revoked at the issuer", { provider: SELF_HOSTED, reason });
      } finally {
        timer.cancel();
      }
    },

    endSessionUrl(tokens, back) {
      const endpoint = discovery.peek()?.metadata.end_session_endpoint;
      if (!settings.idpLogout || endpoint === undefined) return null;
      const url = new URL(endpoint);
      url.searchParams.set("client_id", clientId);
      url.searchParams.set("post_logout_redirect_uri", back.href);
      if (tokens.idToken) url.searchParams.set("id_token_hint", tokens.idToken.reveal());
      return url;
    },
  };
}

/** One set of keys per address, so that a key set that moved is asked at its new place. */
function createKeyRing({ http, clock, log }: OidcDeps): (url: URL) => Jwks {
  let current: { readonly href: string; readonly jwks: Jwks } | null = null;
  return (url) => {
    if (current?.href !== url.href) {
      current = { href: url.href, jwks: createJwks({ url, http, clock, log }) };
    }
    return current.jwks;
  };
}

/** Without a list the library takes RS256 only; with one, whatever stands in it. Ours holds in both cases. */
function withOurAlgorithms(metadata: Oidc.ServerMetadata): Oidc.ServerMetadata {
  return { ...metadata, id_token_signing_alg_values_supported: [...ALGORITHMS] };
}

async function exchange(
  { lib, configuration }: OidcClient,
  callback: URL,
  attempt: { readonly state: string; readonly verifier: string; readonly nonce: string | null },
): Promise<Oidc.TokenEndpointResponse> {
  const { state, verifier, nonce } = attempt;
  if (nonce === null) throw new AuthError("not_ours", "the attempt has no nonce");
  const checks = {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  };
  const answer = await orAuthError(lib, "invalid_code", () =>
    lib.authorizationCodeGrant(configuration, callback, checks),
  );
  refuseTokenType(answer);
  return answer;
}

async function renew(
  { lib, configuration }: OidcClient,
  refresh: Secret,
  scope: string,
): Promise<Oidc.TokenEndpointResponse> {
  const answer = await orAuthError(lib, "refresh_rejected", () =>
    lib.refreshTokenGrant(configuration, refresh.reveal(), { scope }),
  );
  refuseTokenType(answer);
  return answer;
}

/**
 * Issuers that follow OIDC Core §5.4 to the letter give `email`, `name` and groups only at the userinfo endpoint: asked
 * when the ID token has none of them.
 */
async function completed(
  claims: Claims,
  answer: Oidc.TokenEndpointResponse,
  { issuer, client: { lib, configuration } }: Session,
): Promise<Claims> {
  const hasOwn = ["email", "name", "preferred_username", "groups"].some((name) => name in claims);
  if (hasOwn || issuer.metadata.userinfo_endpoint === undefined) return claims;
  const subject = textClaim(claims, "sub");
  try {
    const more = await orAuthError(lib, "invalid_code", () =>
      lib.fetchUserInfo(configuration, answer.access_token, subject),
    );
    return { ...more, ...claims };
  } catch (error) {
    // Refused there: the proof of who it is was the ID token, so only the extras are missing.
    if (isAuthError(error, "invalid_code")) return claims;
    throw error;
  }
}

/** The refresh token is spent by now: an outage here must not lose the new one. The next refresh looks again. */
async function orUnknown(claims: Promise<Claims>): Promise<Claims | null> {
  try {
    return await claims;
  } catch (error) {
    if (isAuthError(error, "unreachable")) return null;
    throw error;
  }
}

async function claimsOf(idToken: Secret | null): Promise<Claims> {
  if (idToken === null) return {};
  const { decodeJwt } = await import("jose");
  // It was verified when it came in, and lay sealed since.
  return decodeJwt(idToken.reveal());
}

function identityOf(claims: Claims): Identity {
  const groups = listClaim(claims, "groups").slice(0, MOST_GROUPS).join(", ");
  return {
    userId: textClaim(claims, "sub"),
    email: textClaim(claims, "email"),
    displayName: textClaim(claims, "name", "preferred_username", "nickname", "email"),
    orgId: textClaim(claims, "org_id", "organization") || groups,
  };
}

/** `expires_in` is only recommended (RFC 6749 §5.1): without it the ID token's end is the best that is known. */
function tokensOf(answer: Oidc.TokenEndpointResponse, claims: Claims, { clock }: OidcDeps): Tokens {
  const now = Math.floor(clock.now() / 1000);
  const { expires_in: lifetime, refresh_token: refresh, id_token: idToken } = answer;
  const end = lifetime === undefined ? claims["exp"] : now + Math.floor(lifetime);
  return {
    access: new Secret(answer.access_token),
    refresh: refresh === undefined ? null : new Secret(refresh),
    idToken: idToken === undefined ? null : new Secret(idToken),
    accessExpiresAt: typeof end === "number" ? end : now,
  };
}

/** RFC 7009 §2.1: revoking the refresh token ends what was made from it, which not every issuer does. */
async function revokeAll({ lib, configuration }: OidcClient, tokens: Tokens): Promise<void> {
  const kinds = [
    ["refresh_token", tokens.refresh],
    ["access_token", tokens.access],
  ] as const;
  for (const [hint, token] of kinds) {
    if (token === null) continue;
    await orAuthError(lib, "refresh_rejected", () =>
      lib.tokenRevocation(configuration, token.reveal(), { token_type_hint: hint }),
    );
  }
}
