// The path under which a proxy publishes us (dashboard.md §2.4). Everything that leaves us is prefixed by `href`.

const GRAMMAR = /^(?:\/[A-Za-z0-9._~-]+)+$/;

/** "" or `/x/y`; null when it breaks the grammar. A trailing slash is cut, a missing leading one added. */
export function parsePrefix(text: string): string | null {
  const cut = text.endsWith("/") ? text.slice(0, -1) : text;
  if (cut === "") return "";
  const prefix = cut.startsWith("/") ? cut : `/${cut}`;
  if (prefix.length > 256 || !GRAMMAR.test(prefix)) return null;
  return prefix.split("/").some((segment) => segment === "." || segment === "..") ? null : prefix;
}

/** Takes the prefix off once, so that we work behind a proxy that strips and behind one that does not. */
export function withoutPrefix(path: string, prefix: string): string {
  if (prefix === "" || !path.startsWith(prefix)) return path;
  const rest = path.slice(prefix.length);
  if (rest === "") return "/";
  return rest.startsWith("/") ? rest : path;
}

/** `path` starts with "/". */
export function href(prefix: string, path: string): string {
  return `${prefix}${path}`;
}
