// The gate of local mode: public, bootstrap and page routes are open, the rest wants the local token. Cookies mean nothing.
import { type AccessRule, bearerOf, type Caller, type Gate, type Refusal } from "./access.ts";
import type { LocalToken } from "./local-token.ts";

/** No `error` and no `login_url`: the page sees by that to reload once instead of going to a login. */
const UNAUTHORIZED: Refusal = { status: 401, headers: {}, body: { detail: "Unauthorized" } };
const FORBIDDEN: Refusal = {
  status: 403,
  headers: {},
  body: { error: "forbidden", detail: "Forbidden", code: "forbidden" },
};

export function createLocalGate(token: LocalToken): Gate {
  return {
    mode: "local",
    identify({ headers, queryToken }) {
      const header = headers["x-hermes-session-token"];
      const presented = [header, bearerOf(headers), queryToken].filter(
        (value): value is string => typeof value === "string",
      );
      if (presented.some((value) => token.matches(value))) return { kind: "local" };
      return { kind: "stranger", presented: presented.length > 0 };
    },
    refuse,
  };
}

function refuse(rule: AccessRule, caller: Caller): Refusal | null {
  switch (rule.class) {
    case "P":
    case "B":
    case "N":
      return null;
    case "S":
    case "R":
      return caller.kind === "local" ? null : UNAUTHORIZED;
    case "T":
      return refuseScoped(rule, caller);
    default:
      return rule.class satisfies never;
  }
}

function refuseScoped(rule: AccessRule, caller: Caller): Refusal | null {
  if (caller.kind === "local") return null;
  if (caller.kind === "stranger") return UNAUTHORIZED;
  return rule.scope !== undefined && caller.scopes.includes(rule.scope) ? null : FORBIDDEN;
}
