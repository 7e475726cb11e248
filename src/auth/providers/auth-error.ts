// Why a login or a refresh did not happen, as a value (dashboard.md §5.1). The gate maps the code to status and audit reason.
import { HermesError, isHermesError } from "#base/errors.ts";

/**
 * - `invalid_code`: the issuer refused the authorization code.
 * - `not_ours`: signature, aud, iss, kid, claims, time, nonce or state of what came back is not what we asked for.
 * - `identity_rejected`: proved who they are, but no allow-list has them.
 * - `invalid_credentials`: user name or password wrong; never says which.
 * - `refresh_rejected`: the issuer ended the chain.
 * - `unreachable`: transport, timeout, 5xx, 429, or an answer that is not the protocol's.
 * - `busy`: the provider's own queue is full; the caller answers 429 (dashboard.md §5.5).
 */
export type AuthErrorCode =
  | "invalid_code"
  | "not_ours"
  | "identity_rejected"
  | "invalid_credentials"
  | "refresh_rejected"
  | "unreachable"
  | "busy";

export interface AuthErrorOptions {
  readonly cause?: unknown;
  /** Facts for the log, such as `{ skewSeconds }` or `{ provider }`; never secrets. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** `message` is for the log: one sentence without tokens, codes or passwords. Visitors see a sentence of the gate's. */
export class AuthError extends HermesError {
  declare readonly code: AuthErrorCode;

  constructor(code: AuthErrorCode, message: string, options: AuthErrorOptions = {}) {
    super(code, message, options);
    this.name = "AuthError";
  }
}

export function isAuthError(error: unknown, code?: AuthErrorCode): error is AuthError {
  return error instanceof AuthError && isHermesError(error, code);
}
