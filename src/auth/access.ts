// Who asks, what a route demands, and the one interface that both gates implement: the local token now, the login gate later.
import type { IncomingHttpHeaders } from "node:http";
import type { AccessClass } from "#protocol/http-routes.ts";

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
  /** `presented`: something was there, and it was wrong. */
  | { readonly kind: "stranger"; readonly presented: boolean }
  /** Holder of the local token. */
  | { readonly kind: "local" }
  | { readonly kind: "token"; readonly name: string; readonly scopes: readonly string[] };

export interface Presented {
  readonly headers: IncomingHttpHeaders;
  /** `?token=` where the route takes it (upgrades, downloads), else null. */
  readonly queryToken: string | null;
}

export interface Refusal {
  readonly status: 401 | 403 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Gate {
  readonly mode: "local" | "gated";
  /** Decides from headers alone; no network. */
  identify(presented: Presented): Caller;
  /** null: go on. */
  refuse(rule: AccessRule, caller: Caller): Refusal | null;
}

/** `Authorization: Bearer <t>`, else null. */
export function bearerOf(headers: IncomingHttpHeaders): string | null {
  const match = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "");
  return match?.[1] ?? null;
}
