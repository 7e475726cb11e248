// What a login provider is (dashboard.md §5.1). Every provider, a plugin's too, passes test/contract/auth-provider.ts.
import type { Secret } from "./secret.ts";

declare const providerName: unique symbol;
/** `^[a-z][a-z0-9-]{0,31}$`; made by `parseProviderName` only. */
export type ProviderName = string & { readonly [providerName]: true };

export const PROVIDER_NAME = /^[a-z][a-z0-9-]{0,31}$/;

/** null: not a provider's name. It says nothing about whether such a provider exists. */
export function parseProviderName(text: string): ProviderName | null {
  return PROVIDER_NAME.test(text) ? (text as ProviderName) : null;
}

export type Scope = "gateway:drain" | "metrics:read";

/** What one login attempt must remember until its callback: 43 characters each. */
export interface Attempt {
  readonly state: string;
  /** PKCE code verifier, RFC 7636 §4.1. */
  readonly verifier: string;
  /** null: the provider's protocol has none. */
  readonly nonce: string | null;
}

export interface Identity {
  /** Never empty. */
  readonly userId: string;
  /** "" where the provider does not say, as in the two below. */
  readonly email: string;
  readonly displayName: string;
  readonly orgId: string;
}

export interface Tokens {
  readonly access: Secret;
  readonly refresh: Secret | null;
  readonly idToken: Secret | null;
  /** Unix seconds. */
  readonly accessExpiresAt: number;
}

export interface Login {
  readonly identity: Identity;
  /** null: nothing that could be refreshed or revoked. */
  readonly tokens: Tokens | null;
}

export interface Principal {
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
}

export interface ProviderBase {
  readonly name: ProviderName;
  /** "Sign in with <displayName>". */
  readonly displayName: string;
  /** Digest of the settings that make old sessions meaningless when they change. */
  readonly epoch: string;
}

export interface StartLoginInput {
  /** Path ends in `/auth/callback`. */
  readonly redirectUri: URL;
  /** The visitor must prove themselves again, whatever session the issuer has. */
  readonly fresh: boolean;
  readonly signal: AbortSignal;
}

export interface CompleteLoginInput {
  /** The redirect URI with the query that came back. */
  readonly callback: URL;
  readonly attempt: Attempt;
  readonly signal: AbortSignal;
}

export interface RefreshInput {
  readonly tokens: Tokens;
  readonly identity: Identity;
  readonly signal: AbortSignal;
}

/**
 * Methods reject with `AuthError`; anything else that they throw is the provider's own fault (500). A signal that aborts
 * is `unreachable`: each call gets one of 10 s (`CALL_LIMIT_MS`).
 */
export interface RedirectProvider extends ProviderBase {
  readonly kind: "redirect";
  /** May fetch the issuer's metadata: rejects with `unreachable` or, where the metadata is not the issuer's, `not_ours`. */
  startLogin(input: StartLoginInput): Promise<{ readonly url: URL; readonly attempt: Attempt }>;
  /** `error` in the query is the caller's business (dashboard.md §6.2 row 5). */
  completeLogin(input: CompleteLoginInput): Promise<Login>;
  /** The refresh token that comes back replaces the one given: store it before answering anyone. */
  refresh(input: RefreshInput): Promise<Tokens>;
  /** Never rejects. */
  revoke(tokens: Tokens, signal: AbortSignal): Promise<void>;
  /** Where a logout goes on, so that the issuer's session ends too. No network: null when nothing is known. */
  endSessionUrl?(tokens: Tokens, back: URL): URL | null;
}

export interface VerifyPasswordInput {
  readonly username: string;
  readonly password: string;
  readonly signal: AbortSignal;
}

export interface PasswordProvider extends ProviderBase {
  readonly kind: "password";
  /** Rejects with `invalid_credentials`, equally slow and equally worded for an unknown name; `busy` when its queue is full. */
  verifyPassword(input: VerifyPasswordInput): Promise<Identity>;
}

export interface TokenProvider extends ProviderBase {
  readonly kind: "token";
  /** null: not mine. */
  verifyToken(token: string, signal: AbortSignal): Promise<Principal | null>;
}

export type LoginProvider = RedirectProvider | PasswordProvider;
export type Provider = LoginProvider | TokenProvider;

/** How long one call to a provider may take. */
export const CALL_LIMIT_MS = 10_000;
