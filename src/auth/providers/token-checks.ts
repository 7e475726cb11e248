// What every redirect provider checks around the library's own checks.
import type * as Oidc from "openid-client";
import type { Log } from "#base/log.ts";
import { AuthError, isAuthError } from "./auth-error.ts";
import type { ProviderName } from "./provider.ts";

/** A callback without `code` never reaches the token endpoint. */
export function refuseNoCode(callback: URL): void {
  if (callback.searchParams.get("code")) return;
  throw new AuthError("invalid_code", "the callback carries no authorization code");
}

/** The library lets DPoP through; we hold no key for it. */
export function refuseTokenType({ token_type }: Oidc.TokenEndpointResponse): void {
  if (token_type.toLowerCase() === "bearer") return;
  throw new AuthError("not_ours", "the token's type is not bearer");
}

/** A clock that is off, or a wrong audience, locks everyone out: the operator must find the figure in the log. */
export async function loggingRefusals<T>(
  provider: ProviderName,
  log: Log,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isAuthError(error, "not_ours")) {
      log.warn(`a token is refused: ${error.message}`, { provider, ...error.data });
    }
    throw error;
  }
}
