// From the table of routes to Hono's, and the check at start that both and the two path lists say the same (dashboard.md §3.2).
import { BOOTSTRAP_PATHS, PUBLIC_API_PATHS } from "#auth/public-paths.ts";
import type { RegisteredRoute } from "./routing.ts";

/** `/a/{id}/*` in Hono's spelling. */
export function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

/** Hono takes the first match: literal segments come before parameters, parameters before the rest of a path. */
export function sortedRoutes(routes: readonly RegisteredRoute[]): RegisteredRoute[] {
  return [...routes].sort((a, b) => compareText(sortKey(a.path), sortKey(b.path)));
}

function sortKey(path: string): string {
  return path
    .split("/")
    .map((segment) => (segment === "*" ? "~" : segment.startsWith("{") ? "}" : `!${segment}`))
    .join("/");
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Throws, naming the route, when a route got past the registrars or a listed path has no route. */
export function assertRouteTable(
  routes: readonly RegisteredRoute[],
  registered: readonly { readonly method: string; readonly path: string }[],
): void {
  const table = new Set(routes.map(({ method, path }) => `${method} ${honoPath(path)}`));
  if (table.size !== routes.length) throw new Error("a route is registered twice");
  const app = new Set(registered.map(({ method, path }) => `${method} ${path}`));
  for (const key of app) if (!table.has(key)) throw new Error(`route ${key} has no access class`);
  for (const key of table) if (!app.has(key)) throw new Error(`route ${key} is not in the app`);
  for (const [list, letter] of [
    [PUBLIC_API_PATHS, "P"],
    [BOOTSTRAP_PATHS, "B"],
  ] as const) {
    const paths = new Set(routes.filter(({ rule }) => rule.class === letter).map((r) => r.path));
    for (const path of Object.keys(list)) {
      if (!paths.has(path)) throw new Error(`listed path ${path} has no route`);
    }
    for (const path of paths) {
      if (!Object.hasOwn(list, path)) throw new Error(`route ${path} is in no list of open paths`);
    }
  }
}

/** Routes whose path matches, whatever their method: for 405 and `Allow`. */
export function routesAt(routes: readonly RegisteredRoute[], path: string): RegisteredRoute[] {
  return routes.filter((route) => patternOf(route.path).test(path));
}

const patterns = new Map<string, RegExp>();

function patternOf(path: string): RegExp {
  const known = patterns.get(path);
  if (known) return known;
  const source = path
    .replaceAll(/[.+]/g, String.raw`\$&`)
    .replaceAll(/\{\w+\}/g, "[^/]+")
    .replace(/\/\*$/, "(?:/.*)?");
  const pattern = new RegExp(`^${source}$`);
  patterns.set(path, pattern);
  return pattern;
}

/** Value of `Allow`. */
export function allowOf(routes: readonly RegisteredRoute[]): string {
  const methods = new Set(routes.map(({ method }) => method));
  if (methods.has("GET")) methods.add("HEAD");
  return [...methods].sort().join(", ");
}
