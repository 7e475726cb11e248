import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRouteTable, honoPath, routesAt, sortedRoutes } from "./route-check.ts";
import { createRouteTable, json, type RegisteredRoute } from "./routing.ts";
import { prefixTerms } from "./search-terms.ts";

const route = (key: string, letter = "S"): RegisteredRoute => {
  const [method = "", path = ""] = key.split(" ");
  return { method, path, rule: { class: letter } } as unknown as RegisteredRoute;
};

test("a route without an access class, of the wrong class or of the wrong shape does not compile", () => {
  const { registrars, routes } = createRouteTable();
  registrars.session("GET /api/profiles", { handler: () => json({ profiles: [] }) });
  // @ts-expect-error: not in the REST table
  registrars.session("GET /api/secrets", { handler: () => json({}) });
  // @ts-expect-error: a session route is not public
  assert.throws(() => registrars.public("GET /api/profiles", { handler: () => json({}) }));
  // @ts-expect-error: the answer has another shape
  registrars.session("GET /api/setup", { handler: () => json({ wrong: 1 }) });
  // @ts-expect-error: a route that takes JSON says how it is checked
  registrars.session("POST /api/profiles", { handler: () => json({}, 201) });
  // @ts-expect-error: a made-up route has no brand
  routes.push({ method: "GET", path: "/x" });
  assert.ok(routes.length > 0);
});

test("the registrars of open routes take listed paths only", () => {
  const { registrars } = createRouteTable();
  const open = { handler: () => json({}) } as never;
  assert.throws(() => registrars.public("GET /api/sessions" as never, open), /PUBLIC_API_PATHS/);
  assert.throws(() => registrars.bootstrap("GET /loginx" as never, open), /BOOTSTRAP_PATHS/);
});

test("literal segments win over parameters, parameters over the rest", () => {
  const keys = [
    "GET /*",
    "GET /api/sessions/{id}",
    "GET /api/sessions/search",
    "GET /assets/*",
    "GET /api/sessions/{id}/messages",
  ];
  assert.deepEqual(
    sortedRoutes(keys.map((key) => route(key))).map(({ path }) => path),
    [
      "/api/sessions/search",
      "/api/sessions/{id}",
      "/api/sessions/{id}/messages",
      "/assets/*",
      "/*",
    ],
  );
});

test("a route in one list and not in the other stops the start", () => {
  const routes = [route("GET /api/x")];
  const app = (...paths: string[]) => paths.map((path) => ({ method: "GET", path }));
  assert.throws(
    () => assertRouteTable(routes, app("/api/x", "/api/y")),
    /GET \/api\/y has no access class/,
  );
  assert.throws(() => assertRouteTable(routes, app()), /GET \/api\/x is not in the app/);
  assert.throws(() => assertRouteTable([...routes, ...routes], app("/api/x")), /twice/);
  assert.throws(
    () => assertRouteTable(routes, app("/api/x")),
    /listed path \/api\/status has no route/,
  );
});

test("patterns match whole segments", () => {
  const routes = [route("GET /api/sessions/{id}"), route("GET /assets/*"), route("GET /sw.js")];
  const at = (path: string): string[] => routesAt(routes, path).map((found) => found.path);
  assert.deepEqual(at("/api/sessions/x"), ["/api/sessions/{id}"]);
  assert.deepEqual(at("/api/sessions/x/y"), []);
  assert.deepEqual(at("/assets/a/b.js"), ["/assets/*"]);
  assert.deepEqual(at("/assetsx"), []);
  assert.deepEqual(at("/swxjs"), []);
  assert.equal(honoPath("/a/{id}/b/{requestId}"), "/a/:id/b/:requestId");
});

test("search words become prefixes unless quoted, starred, an operator or of a script without spaces", () => {
  const cases: Record<string, string> = {
    "hello wor": "hello* wor*",
    '"exact phrase" x': '"exact phrase" x*',
    "a OR b NOT c": "a* OR b* NOT c*",
    "star* foo-bar a.b": "star* foo-bar a.b",
    日本語: "日本語",
    "größe été": "größe* été*",
    '"open': '"open',
  };
  for (const [given, expected] of Object.entries(cases)) assert.equal(prefixTerms(given), expected);
});
