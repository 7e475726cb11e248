// An OpenID Connect issuer as people host one: discovery, ES256, offline_access, revocation, end of session, many groups.
import { startIssuer, type Account, type Issuer } from "./oidc-issuer.ts";
import { ttl } from "./oidc-ttl.ts";

export const GENERIC_CLIENT = "hermes";
export const GENERIC_CONFIDENTIAL = { id: "hermes-confidential", secret: "s3cret+with/odd chars%" };

export const GENERIC_ACCOUNT: Account = {
  sub: "user-1",
  email: "user-1@example.test",
  email_verified: true,
  name: "User One",
  preferred_username: "user1",
  groups: ["staff", "admins"],
};

/** 200 groups make an ID token of some 9 KB. */
export const MANY_GROUPS: readonly string[] = Array.from(
  { length: 200 },
  (_, index) => `department-of-testing-and-${String(index).padStart(3, "0")}`,
);

export interface GenericOptions {
  /** Profile claims only at the userinfo endpoint, as OIDC Core §5.4 has it. */
  readonly claimsAtUserinfoOnly?: boolean;
}

export function startGeneric(options: GenericOptions = {}): Promise<Issuer> {
  const client = {
    application_type: "web" as const,
    id_token_signed_response_alg: "ES256" as const,
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code" as const],
    redirect_uris: ["http://127.0.0.1/auth/callback"],
  };
  return startIssuer({
    algorithm: "ES256",
    resigns: "id_token",
    routes: {
      "/.well-known/openid-configuration": "discovery",
      "/auth": "authorize",
      "/token": "token",
      "/jwks": "jwks",
      "/me": "userinfo",
      "/token/revocation": "revocation",
    },
    account: GENERIC_ACCOUNT,
    configuration: () => ({
      ttl,
      clients: [
        { ...client, client_id: GENERIC_CLIENT, token_endpoint_auth_method: "none" },
        {
          ...client,
          client_id: GENERIC_CONFIDENTIAL.id,
          client_secret: GENERIC_CONFIDENTIAL.secret,
          token_endpoint_auth_method: "client_secret_basic",
        },
      ],
      claims: {
        openid: ["sub"],
        email: ["email", "email_verified"],
        profile: ["name", "preferred_username", "nickname", "groups", "org_id", "organization"],
      },
      conformIdTokenClaims: options.claimsAtUserinfoOnly ?? false,
      rotateRefreshToken: () => true,
      expiresWithSession: () => Promise.resolve(false),
      features: {
        devInteractions: { enabled: false },
        revocation: { enabled: true, allowedPolicy: () => Promise.resolve(true) },
        rpInitiatedLogout: {
          enabled: true,
          logoutSource: (ctx, form) => {
            ctx.type = "html";
            ctx.body = `<!doctype html>${form}<script>document.forms[0].submit()</script>`;
          },
        },
      },
    }),
  });
}
