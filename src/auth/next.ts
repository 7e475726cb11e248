// Where a login goes on: only to a page of ours (dashboard.md §7.2). `parseNext` is the only maker of the type.
import { href } from "./prefix.ts";

declare const safeRedirect: unique symbol;
/** Path and query of a page of ours, without the prefix; first character `/`, second not. */
export type SafeRedirect = string & { readonly [safeRedirect]: true };

const LONGEST = 512;
/** Exactly one slash in front, then printable ASCII without a backslash. */
const SHAPE = /^\/(?![/\\])[!-[\]-~]*$/;
const FORBIDDEN_ESCAPE = /%(?:[01][0-9a-f]|7f|2f|5c)/i;
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const FORBIDDEN_DECODED = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\\]|\/\//;
const ORIGIN = "http://own.invalid";

/** First segments that are no pages: an API answer, or the way into another login. */
const NOT_PAGES: ReadonlySet<string> = new Set([
  "api",
  "auth",
  "login",
  "assets",
  "fonts",
  "icons",
  "dashboard-plugins",
  "healthz",
  "readyz",
  "metrics",
  "favicon.ico",
  "sw.js",
]);

/** `raw` is the once-decoded query value. null: no target of ours; the landing is then the start page. */
export function parseNext(raw: unknown, prefix = ""): SafeRedirect | null {
  if (typeof raw !== "string" || raw.length > LONGEST || !SHAPE.test(raw)) return null;
  if (!staysHere(raw)) return null;
  const whole = raw.split("#", 1)[0] ?? "";
  const question = whole.indexOf("?");
  const path = question === -1 ? whole : whole.slice(0, question);
  const query = question === -1 ? "" : whole.slice(question);
  if (!isPlainPath(path)) return null;
  const own = ownPath(path, prefix);
  return own === null ? null : (`${own}${query}` as SafeRedirect);
}

/** `{p}` + target, else the start page. */
export function landing(prefix: string, next: SafeRedirect | null): string {
  return href(prefix, next ?? "/");
}

/** `?next=…` or `&next=…`, "" without one. */
export function nextQuery(next: SafeRedirect | null, mark: "?" | "&"): string {
  return next === null ? "" : `${mark}next=${encodeURIComponent(next)}`;
}

function staysHere(raw: string): boolean {
  const url = URL.parse(raw, ORIGIN);
  return url !== null && url.origin === ORIGIN && url.username === "" && url.password === "";
}

function isPlainPath(path: string): boolean {
  if (FORBIDDEN_ESCAPE.test(path)) return false;
  const decoded = decode(path);
  if (decoded === null || FORBIDDEN_DECODED.test(decoded)) return false;
  return decoded.split("/").every((segment) => segment !== "." && segment !== "..");
}

/** Without the prefix, if what is left is a page. */
function ownPath(path: string, prefix: string): string | null {
  const cut =
    path === prefix ? "/" : path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
  const first = decode(cut.split("/")[1] ?? "")?.toLowerCase();
  return first === undefined || NOT_PAGES.has(first) ? null : cut;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
