// Who asks, what a route demands, and the one interface that both gates implement: the local token and the login gate.
import type { IncomingHttpHeaders } from "node:http";
import type { AccessClass } from "#protocol/http-routes.ts";
import type { GateAnswer } from "./answer.ts";
import type { Session } from "./sessions/session.ts";

export interface AccessRule {
  readonly class: AccessClass;
  /** T only. */
  readonly scope?: string;
  /** T only: a live session will do as well. */
  readonly orSession?: boolean;
  /** R only: signed in at most 15 minutes ago. */
  readonly freshLogin?: boolean;
}

export type Caller =
  /** `presented`: something was there, and it was wrong or is over. */
  | { readonly kind: "stranger"; readonly presented: "nothing" | "cookie" | "token" }
  /** Holder of the local token. */
  | { readonly kind: "local" }
  | {
      readonly kind: "session";
      readonly session: Session;
      /** null: known by a ticket; the id, and with it the tokens, are not at hand. */
      readonly id: string | null;
    }
  /** Signed in, but the provider that must confirm it again has been away for too long. */
  | { readonly kind: "stalled"; readonly provider: string }
  | { readonly kind: "token"; readonly name: string; readonly scopes: readonly string[] };

/** What is known about a request; nothing else takes part in a decision. */
export interface GateRequest {
  readonly method: string;
  /** Dispatched path. */
  readonly path: string;
  /** Without "?". */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** Address of the client, behind believed proxies. */
  readonly client: string;
  /** By evidence https. */
  readonly https: boolean;
  /** Effective Host, as it came. */
  readonly host: string;
  /** "" or `/hermes`. */
  readonly prefix: string;
}

export interface Gate {
  readonly mode: "local" | "gated";
  /**
   * P and B: no network. Others may wait for a refresh that is due or for a token provider; the answer is only a promise
   * then, so that the usual request costs none. `queryToken`: `?token=` where the route takes it, else null.
   */
  identify(
    rule: AccessRule,
    request: GateRequest,
    queryToken: string | null,
  ): Caller | Promise<Caller>;
  /** null: go on. */
  refuse(rule: AccessRule, caller: Caller, request: GateRequest): GateAnswer | null;
}

/** `Authorization: Bearer <t>`, else null. */
export function bearerOf(headers: IncomingHttpHeaders): string | null {
  const { authorization } = headers;
  if (authorization === undefined) return null;
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
}
