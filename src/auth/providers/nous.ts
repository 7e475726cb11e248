// `nous`: sign in at a portal, OAuth 2 code + PKCE, access token as JWT (dashboard.md §5.3).
import type { JWTPayload } from "jose";
import type * as Oidc from "openid-client";
import { AuthError } from "./auth-error.ts";
import { textClaim } from "./claims.ts";
import type { OidcDeps } from "./collect.ts";
import { epochOf } from "./digest.ts";
import { createJwks } from "./jwks.ts";
import { createAttempt, openClient, orAuthError, pkceParameters } from "./oidc-client.ts";
import {
  parseProviderName,
  type Identity,
  type ProviderName,
  type RedirectProvider,
  type Tokens,
} from "./provider.ts";
import type { Offer } from "./registry.ts";
import { Secret } from "./secret.ts";
import type { NousSettings } from "./settings.ts";
import { loggingRefusals, refuseNoCode, refuseTokenType } from "./token-checks.ts";

const NAME = parseProviderName("nous") as ProviderName;
const CLIENT_ID = "HERMES_DASHBOARD_OAUTH_CLIENT_ID (dashboard.oauth.client_id)";
const PORTAL_URL = "HERMES_DASHBOARD_PORTAL_URL (dashboard.oauth.portal_url)";
const AGENT = "agent:";
const LEEWAY_SECONDS = 60;
const CONTRACT_VERSION = 1;

export function offerNous(settings: NousSettings, deps: OidcDeps): Offer {
  const { clientId } = settings;
  if (clientId === "") {
    return { status: "skipped", name: NAME, reason: `${CLIENT_ID} is not set` };
  }
  const portal = URL.parse(settings.portalUrl);
  const reason = faultOf(clientId, portal);
  if (reason !== null || portal === null) {
    return { status: "invalid", name: NAME, reason: reason ?? "" };
  }
  const provider = createNous(clientId, portal.href.replace(/\/+$/u, ""), deps);
  return { status: "ready", name: NAME, provider, warnings: [] };
}

/** Also for `hermes dashboard register`. null: good. */
export function clientIdFault(clientId: string): string | null {
  const isAgent = clientId.startsWith(AGENT) && clientId.length > AGENT.length;
  return isAgent ? null : `${CLIENT_ID} must start with "${AGENT}" and go on with the agent's id`;
}

function faultOf(clientId: string, portal: URL | null): string | null {
  const fault = clientIdFault(clientId);
  if (fault !== null) return fault;
  if (portal === null || !/^https?:$/u.test(portal.protocol)) {
    return `${PORTAL_URL} is not an http(s) URL`;
  }
  const hasMore = portal.search + portal.hash + portal.username + portal.password !== "";
  return hasMore ? `${PORTAL_URL} has a user name, a query or a fragment` : null;
}

interface Portal {
  readonly metadata: Oidc.ServerMetadata;
  readonly allowHttp: boolean;
}

/** Fixed places: the portal has no discovery. */
function portalOf(portal: string): Portal {
  const metadata = {
    issuer: portal,
    authorization_endpoint: `${portal}/oauth/authorize`,
    token_endpoint: `${portal}/api/oauth/token`,
    jwks_uri: `${portal}/.well-known/jwks.json`,
  };
  return { metadata, allowHttp: portal.startsWith("http:") };
}

function createNous(clientId: string, portal: string, deps: OidcDeps): RedirectProvider {
  const { metadata, allowHttp } = portalOf(portal);
  const { http, clock, log, random } = deps;
  const jwks = createJwks({ url: new URL(`${portal}/.well-known/jwks.json`), http, clock, log });
  const open = (signal: AbortSignal, headers: Readonly<Record<string, string>> = {}) =>
    openClient({
      metadata,
      clientId,
      clientSecret: null,
      leewaySeconds: LEEWAY_SECONDS,
      allowHttp,
      http,
      clock,
      signal,
      headers,
    });
  let hasWarned = false;

  const verify = async (token: string, signal: AbortSignal): Promise<JWTPayload> => {
    const claims = await jwks.verify(token, {
      issuer: portal,
      audience: clientId,
      algorithms: ["RS256"],
      requiredClaims: ["exp", "iat", "aud", "iss", "sub"],
      leewaySeconds: LEEWAY_SECONDS,
      needsKid: true,
      signal,
    });
    refuseForeign(claims, clientId);
    if (claims["oauth_contract_version"] === undefined && !hasWarned) {
      hasWarned = true;
      log.warn("the portal's access token names no oauth_contract_version; version 1 is assumed");
    }
    return claims;
  };

  const accept = async (answer: Oidc.TokenEndpointResponse, signal: AbortSignal) => {
    refuseTokenType(answer);
    const claims = await verify(answer.access_token, signal);
    return { claims, tokens: tokensOf(answer, claims) };
  };

  return {
    kind: "redirect",
    name: NAME,
    displayName: "Nous Research",
    epoch: epochOf(NAME, portal, clientId),

    async startLogin({ redirectUri, fresh, signal }) {
      const attempt = createAttempt(random, false);
      const { lib, configuration } = await open(signal);
      const url = lib.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri.href,
        scope: "agent_dashboard:access",
        ...(await pkceParameters(lib, attempt)),
        ...(fresh ? { prompt: "login" } : {}),
      });
      return { url, attempt };
    },

    completeLogin: ({ callback, attempt, signal }) =>
      loggingRefusals(NAME, log, async () => {
        refuseNoCode(callback);
        const { lib, configuration } = await open(signal);
        const checks = { pkceCodeVerifier: attempt.verifier, expectedState: attempt.state };
        const answer = await orAuthError(lib, "invalid_code", () =>
          lib.authorizationCodeGrant(configuration, callback, checks),
        );
        const { claims, tokens } = await accept(answer, signal);
        return { identity: identityOf(claims), tokens };
      }),

    refresh: ({ tokens, identity, signal }) =>
      loggingRefusals(NAME, log, async () => {
        const { refresh } = tokens;
        if (refresh === null) throw new AuthError("refresh_rejected", "there is no refresh token");
        await jwks.demandKeys(signal);
        const header = { "x-nous-refresh-token": refresh.reveal() };
        const { lib, configuration } = await open(signal, header);
        const answer = await orAuthError(lib, "refresh_rejected", () =>
          lib.refreshTokenGrant(configuration, refresh.reveal()),
        );
        const { claims, tokens: renewed } = await accept(answer, signal);
        if (claims.sub !== identity.userId) {
          throw new AuthError("not_ours", "the refreshed token is somebody else's");
        }
        return { ...renewed, refresh: renewed.refresh ?? refresh };
      }),

    // The portal has no revocation; its refresh tokens end by themselves.
    revoke: () => Promise.resolve(),
  };
}

function refuseForeign(claims: JWTPayload, clientId: string): void {
  const { agent_instance_id: instance, oauth_contract_version: version, sub } = claims;
  if (typeof sub !== "string" || sub === "")
    throw new AuthError("not_ours", "the token has no sub");
  if (instance !== undefined && instance !== clientId.slice(AGENT.length)) {
    throw new AuthError("not_ours", "the token is of another agent (agent_instance_id)");
  }
  if (version !== undefined && version !== CONTRACT_VERSION) {
    throw new AuthError("not_ours", "the token is of another oauth_contract_version");
  }
}

function identityOf(claims: JWTPayload): Identity {
  return {
    userId: claims.sub ?? "",
    email: textClaim(claims, "email"),
    displayName: textClaim(claims, "name"),
    orgId: textClaim(claims, "org_id"),
  };
}

function tokensOf(answer: Oidc.TokenEndpointResponse, claims: JWTPayload): Tokens {
  const { access_token: access, refresh_token: refresh } = answer;
  return {
    access: new Secret(access),
    refresh: refresh === undefined ? null : new Secret(refresh),
    idToken: null,
    accessExpiresAt: claims.exp ?? 0,
  };
}
