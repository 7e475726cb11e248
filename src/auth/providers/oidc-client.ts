// The OAuth client of one issuer for one call: openid-client does the protocol, this hands it our HTTP, clock and limits.
import type * as Oidc from "openid-client";
import type { Clock } from "#base/clock.ts";
import { messageOf } from "#base/errors.ts";
import { randomToken, type RandomBytes } from "#base/ids.ts";
import { AuthError, isAuthError, type AuthErrorCode } from "./auth-error.ts";
import type { OidcHttp } from "./oidc-http.ts";
import type { Attempt } from "./provider.ts";
import type { Secret } from "./secret.ts";

export interface ClientOptions {
  readonly metadata: Oidc.ServerMetadata;
  readonly clientId: string;
  /** null: a public client, which authenticates with nothing but PKCE. */
  readonly clientSecret: Secret | null;
  readonly leewaySeconds: number;
  /** http towards the issuer, as its configured address says; never inferred from metadata. */
  readonly allowHttp: boolean;
  readonly http: OidcHttp;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Added to every request to the token endpoint. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OidcClient {
  readonly lib: typeof Oidc;
  readonly configuration: Oidc.Configuration;
}

export async function openClient(options: ClientOptions): Promise<OidcClient> {
  const { clientId, clientSecret, clock, headers, http, metadata, signal } = options;
  const lib = await import("openid-client");
  const client: Partial<Oidc.ClientMetadata> = {
    [lib.clockSkew]: Math.round((clock.now() - Date.now()) / 1000),
    [lib.clockTolerance]: options.leewaySeconds,
  };
  const authentication =
    clientSecret === null ? lib.None() : secretMethod(lib, metadata, clientSecret);
  const configuration = new lib.Configuration(metadata, clientId, client, authentication);
  if (options.allowHttp) lib.allowInsecureRequests(configuration);
  // Our own limits hold; the library's would run on the machine's clock.
  configuration.timeout = 0;
  configuration[lib.customFetch] = (url, request) =>
    http.fetch(url, {
      method: request.method,
      headers: { ...request.headers, ...headers },
      body: request.body as string | URLSearchParams | null | undefined,
      signal,
    });
  return { lib, configuration };
}

/** RFC 6749 §2.3.1; metadata without a list means `client_secret_basic` (OIDC Discovery §3). */
function secretMethod(
  lib: typeof Oidc,
  metadata: Oidc.ServerMetadata,
  secret: Secret,
): Oidc.ClientAuth {
  const offered = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  if (offered.includes("client_secret_basic")) return lib.ClientSecretBasic(secret.reveal());
  if (offered.includes("client_secret_post")) return lib.ClientSecretPost(secret.reveal());
  if (offered.includes("client_secret_jwt")) return lib.ClientSecretJwt(secret.reveal());
  return lib.ClientSecretBasic(secret.reveal());
}

export function createAttempt(random: RandomBytes, withNonce: boolean): Attempt {
  return {
    state: randomToken(random),
    verifier: randomToken(random),
    nonce: withNonce ? randomToken(random) : null,
  };
}

/** PKCE is not negotiable, whatever the issuer's metadata says (RFC 9700 §2.1.1). */
export async function pkceParameters(lib: typeof Oidc, { verifier, state, nonce }: Attempt) {
  return {
    state,
    code_challenge: await lib.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...(nonce === null ? {} : { nonce }),
  };
}

/**
 * Runs a grant and turns what the library throws into an `AuthError`: the issuer's refusal into `refused`, everything
 * else about its answer into `not_ours`. A fault of ours (TypeError) goes on as it is. The library's `cause` holds whole
 * answers with tokens in them: it is not kept.
 */
export async function orAuthError<T>(
  lib: typeof Oidc,
  refused: Extract<AuthErrorCode, "invalid_code" | "refresh_rejected">,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const own = causesOf(error).find((cause) => isAuthError(cause));
    if (own !== undefined) throw own;
    if (isRefusal(lib, error)) {
      throw new AuthError(refused, `the issuer refused: ${refusalWord(error)}`);
    }
    if (error instanceof TypeError && !isLibraryError(error)) throw error;
    throw new AuthError("not_ours", `the issuer's answer is refused: ${sentenceOf(error)}`);
  }
}

function* walkCauses(error: unknown): Generator {
  let at = error;
  for (let depth = 0; depth < 5 && at !== undefined; depth++) {
    yield at;
    at = at instanceof Error ? at.cause : undefined;
  }
}

const causesOf = (error: unknown): unknown[] => [...walkCauses(error)];

/** A 4xx: oidc-http lets no other status but 2xx through. */
function isRefusal(lib: typeof Oidc, error: unknown): boolean {
  if (error instanceof lib.ResponseBodyError) return true;
  if (error instanceof lib.AuthorizationResponseError) return true;
  if (error instanceof lib.WWWAuthenticateChallengeError) return true;
  return codeOf(error) === "OAUTH_RESPONSE_IS_NOT_CONFORM";
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** oauth4webapi reports missing members of an answer as TypeErrors with its own code. */
function isLibraryError(error: TypeError): boolean {
  return codeOf(error).startsWith("OAUTH_");
}

/** `error` of RFC 6749 §5.2 if it looks like one: it comes from outside and goes to a log. */
function refusalWord(error: unknown): string {
  const word = error instanceof Error && "error" in error ? String(error.error) : "";
  return /^[\x21\x23-\x5b\x5d-\x7e]{1,64}$/u.test(word) ? word : "no reason given";
}

/** The library's fixed sentences; they hold no values. */
function sentenceOf(error: unknown): string {
  return causesOf(error)
    .filter((cause) => cause instanceof Error)
    .map(messageOf)
    .join(": ");
}
