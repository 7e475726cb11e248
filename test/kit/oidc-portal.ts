// The portal as dashboard.md §5.3 describes it: fixed routes, client `agent:inst-1`, JWT access tokens with its extra
// claims, rotating refresh tokens where a reused one kills the chain, and a header that must repeat the refresh token.
import type { IncomingMessage, ServerResponse } from "node:http";
import { startIssuer, type Issuer } from "./oidc-issuer.ts";
import { ttl } from "./oidc-ttl.ts";

export const PORTAL_CLIENT = "agent:inst-1";
const SCOPE = "agent_dashboard:access";

export function startPortal(): Promise<Issuer> {
  return startIssuer({
    algorithm: "RS256",
    resigns: "access_token",
    routes: {
      "/oauth/authorize": "authorize",
      "/api/oauth/token": "token",
      "/.well-known/jwks.json": "jwks",
      "/.well-known/openid-configuration": "discovery",
    },
    account: { sub: "portal-user-1", org_id: "org-1" },
    screen: refuseMissingHeader,
    configuration: (state) => ({
      ttl,
      clients: [
        {
          client_id: PORTAL_CLIENT,
          application_type: "web",
          token_endpoint_auth_method: "none",
          grant_types: ["authorization_code", "refresh_token"],
          response_types: ["code"],
          redirect_uris: ["http://127.0.0.1/auth/callback"],
        },
      ],
      routes: {
        authorization: "/oauth/authorize",
        token: "/api/oauth/token",
        jwks: "/.well-known/jwks.json",
      },
      rotateRefreshToken: () => true,
      issueRefreshToken: () => Promise.resolve(true),
      expiresWithSession: () => Promise.resolve(false),
      extraTokenClaims: () => ({
        agent_instance_id: "inst-1",
        oauth_contract_version: 1,
        org_id: state.account["org_id"],
      }),
      features: {
        devInteractions: { enabled: false },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => PORTAL_CLIENT,
          useGrantedResource: () => true,
          getResourceServerInfo: (_ctx, _resource, client) => ({
            scope: SCOPE,
            audience: client.clientId,
            accessTokenFormat: "jwt" as const,
            jwt: { sign: { alg: "RS256" as const } },
          }),
        },
      },
    }),
  });
}

/** A code request has no refresh token and so no header; that the two agree is checked by who reads `tokenRequests`. */
function refuseMissingHeader(request: IncomingMessage, response: ServerResponse): boolean {
  const length = Number(request.headers["content-length"] ?? 0);
  if (length > 0) return false;
  response.writeHead(400, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: "invalid_request" }));
  return true;
}
