// Our cookies: names, attributes, and deletions that browsers obey (dashboard.md §7.1; RFC 6265bis §4.1.3 for the prefixes).

export const SESSION_COOKIE = "hermes_session_at";
export const ATTEMPT_COOKIE = "hermes_session_pkce";
export const SSO_COOKIE = "hermes_sso_attempt";
/** Never set by us; other versions of the program left them in browsers. */
const OLD_COOKIES = ["hermes_session_rt", "hermes_session_provider"] as const;

type CookieName = typeof SESSION_COOKIE | typeof ATTEMPT_COOKIE | typeof SSO_COOKIE;

/** What decides the variant: by evidence https, and the path under which we are published ("" or `/x`). */
export interface CookiePlace {
  readonly https: boolean;
  readonly prefix: string;
}

export interface CookieValue {
  /** With its `__Host-` or `__Secure-`. */
  readonly name: string;
  readonly value: string;
}

const VARIANTS = ["__Host-", "__Secure-", ""] as const;
type Variant = (typeof VARIANTS)[number];

const MOST_VALUES = 8;

export function cookieName(base: string, { https, prefix }: CookiePlace): string {
  return `${variantOf(https, prefix)}${base}`;
}

function variantOf(https: boolean, prefix: string): Variant {
  if (!https) return "";
  return prefix === "" ? "__Host-" : "__Secure-";
}

/** Value of a `Set-Cookie` line. */
export function setCookie(
  base: CookieName,
  value: string,
  maxAgeSeconds: number,
  place: CookiePlace,
): string {
  return line(variantOf(place.https, place.prefix), base, value, maxAgeSeconds, place);
}

/**
 * Three deletions of one cookie, one per variant: a browser ignores a deletion without Secure for a cookie that has it,
 * and keeps one whose path differs.
 */
export function clearCookie(base: string, place: CookiePlace): readonly string[] {
  return VARIANTS.map((variant) => line(variant, base, "", 0, place));
}

/** Deletions of everything that we, or a version before us, ever set. */
export function clearAllCookies(place: CookiePlace): readonly string[] {
  return [SESSION_COOKIE, ATTEMPT_COOKIE, SSO_COOKIE, ...OLD_COOKIES].flatMap((base) =>
    clearCookie(base, place),
  );
}

function line(
  variant: Variant,
  base: string,
  value: string,
  maxAgeSeconds: number,
  { prefix }: CookiePlace,
): string {
  const secure = variant !== "";
  const path = variant === "__Host-" || prefix === "" ? "/" : prefix;
  // The callback may arrive by a form post or through frames of an issuer: Lax would hold the cookie back there.
  const sameSite = base === ATTEMPT_COOKIE && secure ? "None" : "Lax";
  const attributes = [`Max-Age=${maxAgeSeconds}`, `Path=${path}`, "HttpOnly"];
  if (secure) attributes.push("Secure");
  return [`${variant}${base}=${value}`, ...attributes, `SameSite=${sameSite}`].join("; ");
}

/** Every value of every variant, `__Host-` first, at most 8: a planted duplicate must not hide the real one. */
export function readCookies(header: string | undefined, base: string): readonly CookieValue[] {
  if (header === undefined || !header.includes(base)) return [];
  const pairs = header.split(";").map(parsePair);
  return VARIANTS.flatMap((variant) =>
    pairs.filter(({ name }) => name === `${variant}${base}`),
  ).slice(0, MOST_VALUES);
}

function parsePair(text: string): CookieValue {
  const equals = text.indexOf("=");
  const value = text.slice(equals + 1).trim();
  const isQuoted = value.length >= 2 && value.startsWith('"') && value.endsWith('"');
  return { name: text.slice(0, equals).trim(), value: isQuoted ? value.slice(1, -1) : value };
}
