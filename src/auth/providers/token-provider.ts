// A bearer secret from the environment with one scope: what `drain` and `metrics` are made of (dashboard.md §5.6).
import { epochOf, isSameText } from "./digest.ts";
import { parseProviderName, type Scope, type TokenProvider } from "./provider.ts";
import type { Secret } from "./secret.ts";

/** Beside the reason of one that is not ready: it stands in a list with those that people sign in with. */
export const FOR_PROGRAMS = "for programs only: nobody signs in with it";

export interface TokenProviderOptions {
  readonly name: "drain" | "metrics";
  readonly displayName: string;
  readonly scope: Scope;
  readonly secret: Secret;
}

export function createTokenProvider(options: TokenProviderOptions): TokenProvider {
  const { displayName, scope, secret } = options;
  const name = parseProviderName(options.name);
  if (name === null) throw new TypeError("a bundled provider's name is well-formed");
  const principal = { name, scopes: new Set([scope]) };
  return {
    kind: "token",
    name,
    displayName,
    // It has no sessions, so nothing of the secret is needed in it.
    epoch: epochOf(name),
    verifyToken: async (token) => (isSameText(token, secret.reveal()) ? principal : null),
  };
}
