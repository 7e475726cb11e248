// The request target of a request line -> the dispatched path: the only thing that decisions look at (dashboard.md §2.2, §3.3).

export interface Target {
  /** Dot segments resolved, each segment decoded and encoded again in one way: two spellings of a path are one path. */
  readonly path: string;
  /** Without "?", as it came. */
  readonly query: string;
  /** Authority of an absolute-form target, null for the usual form. */
  readonly authority: string | null;
}

const FORBIDDEN_ESCAPE = /%(?:[01][0-9a-f]|7f|2f|5c)/i;
const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;
/** Needs no work: no escapes, no dots that could be segments, no empty segments. */
const PLAIN = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9_.~-]*)+$/;

/** null: `bad_path`. */
export function parseTarget(raw: string): Target | null {
  const absolute = ABSOLUTE.exec(raw);
  const rest = absolute ? raw.slice(absolute[0].length) || "/" : raw;
  if (!rest.startsWith("/") || rest.includes("#")) return null;
  const question = rest.indexOf("?");
  const path = normalisePath(question === -1 ? rest : rest.slice(0, question));
  if (path === null) return null;
  const query = question === -1 ? "" : rest.slice(question + 1);
  return { path, query, authority: absolute?.[1] ?? null };
}

function normalisePath(raw: string): string | null {
  if (PLAIN.test(raw)) return raw;
  if (raw.includes("\\") || FORBIDDEN_ESCAPE.test(raw)) return null;
  const out: string[] = [];
  const segments = raw.slice(1).split("/");
  for (const [index, segment] of segments.entries()) {
    const decoded = decodeSegment(segment);
    if (decoded === null) return null;
    const last = index === segments.length - 1;
    if (decoded === "." || decoded === "..") {
      if (decoded === "..") out.pop();
      if (last) out.push("");
    } else {
      out.push(encodeURIComponent(decoded));
    }
  }
  return `/${out.join("/")}`;
}

function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/**
 * A path that is never a route and never a page: an empty segment (`//`), or `/API` in another case. It is answered as an
 * unknown API path.
 */
export function isNeverARoute(path: string): boolean {
  if (path.includes("//")) return true;
  const first = path.slice(1, path.indexOf("/", 1) === -1 ? undefined : path.indexOf("/", 1));
  return first !== "api" && decodeURIComponent(first).toLowerCase() === "api";
}
