// What the gate and the sign-in routes answer, as values: the HTTP server turns them into responses.
import { cspForPage, makeNonce } from "./security-headers.ts";
import type { GateSettings } from "./settings.ts";

export interface GateAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** One `Set-Cookie` line each. */
  readonly cookies: readonly string[];
  /** An object is JSON, a string is HTML, null is nothing. */
  readonly body: Readonly<Record<string, unknown>> | string | null;
}

export function jsonAnswer(
  status: number,
  body: Readonly<Record<string, unknown>>,
  more: Partial<Pick<GateAnswer, "headers" | "cookies">> = {},
): GateAnswer {
  return { status, headers: {}, cookies: [], ...more, body };
}

/** `location`: always a path, or an issuer's address. 303 makes a GET of a form post. */
export function redirectAnswer(
  location: string,
  cookies: readonly string[] = [],
  status: 302 | 303 = 302,
): GateAnswer {
  return { status, headers: { Location: location }, cookies, body: null };
}

/** A page without a script. */
export function pageAnswer(
  status: number,
  html: string,
  csp: GateSettings["csp"],
  more: Partial<Pick<GateAnswer, "headers" | "cookies">> = {},
): GateAnswer {
  const headers = {
    "Content-Security-Policy": cspForPage(makeNonce(), csp),
    "Content-Language": languageIn(html),
    ...more.headers,
  };
  return { status, cookies: more.cookies ?? [], body: html, headers };
}

function languageIn(html: string): string {
  return /<html lang="([\w-]+)"/.exec(html)?.[1] ?? "en";
}
