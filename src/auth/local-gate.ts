// The gate of local mode: public, bootstrap and page routes are open, the rest wants the local token. Cookies mean nothing.
import { type AccessRule, bearerOf, type Caller, type Gate } from "./access.ts";
import { type GateAnswer, jsonAnswer } from "./answer.ts";
import type { LocalToken } from "./local-token.ts";

/** No `error` and no `login_url`: the page sees by that to reload once instead of going to a login. */
const UNAUTHORIZED = jsonAnswer(401, { detail: "Unauthorized" });
/** A known caller without the right; both gates answer it alike. */
export const FORBIDDEN = jsonAnswer(403, {
  error: "forbidden",
  detail: "Forbidden",
  code: "forbidden",
});

export function createLocalGate(token: LocalToken): Gate {
  return {
    mode: "local",
    identify(_rule, { headers }, queryToken) {
      const header = headers["x-hermes-session-token"];
      const presented = [header, bearerOf(headers), queryToken].filter(
        (value): value is string => typeof value === "string",
      );
      if (presented.some((value) => token.matches(value))) return { kind: "local" };
      return { kind: "stranger", presented: presented.length > 0 ? "token" : "nothing" };
    },
    refuse,
  };
}

function refuse(rule: AccessRule, caller: Caller): GateAnswer | null {
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

function refuseScoped(rule: AccessRule, caller: Caller): GateAnswer | null {
  if (caller.kind === "local") return null;
  if (caller.kind !== "token") return UNAUTHORIZED;
  return rule.scope !== undefined && caller.scopes.includes(rule.scope) ? null : FORBIDDEN;
}
