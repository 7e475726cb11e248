// Every registered route × who asks × method × spelling of the path, with the answer that the decision table gives
// (dashboard.md §3.4, §4.1; rows 2, 24, 25). The routes come from the table of the server, not from a copy.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PUBLIC_API_PATHS } from "#auth/public-paths.ts";
import type { RegisteredRoute } from "#dashboard/routing.ts";
import { LOCAL_TOKEN } from "../kit/dashboard.ts";
import { type Answer, ask, askRaw } from "../kit/http.ts";
import {
  expectNoSecret,
  expectRefusal,
  fill,
  matches,
  misspellings,
  openPlanted,
  PLANTED,
  routesOf,
  SECRET,
  spellings,
  type Visitor,
  visitors,
} from "../kit/walk.ts";

/** What the table says for somebody who is not signed in. */
function expect(
  route: RegisteredRoute,
  method: string,
  visitor: Visitor,
  answer: Answer,
  home: string,
) {
  const what = `${visitor.name}: ${method} ${route.path} (${route.rule.class}) -> ${answer.status} ${answer.body.slice(0, 90)}`;
  const dead = visitor.name === "garbage" || visitor.name === "expired";
  const own = method === route.method || (method === "HEAD" && route.method === "GET");
  if (answer.status < 300) expectNoSecret(answer, home, what);
  switch (route.rule.class) {
    case "P":
      if (own) assert.equal(answer.status, 200, what);
      else expectRefusal(answer, method, dead, what);
      return;
    case "B":
      if (own) assert.ok(answer.status !== 401 && answer.status < 500, what);
      else assert.ok(answer.status === 405 || answer.status === 404, what);
      return;
    case "N":
      if (!own) return expectRefusal(answer, method, dead, what);
      assert.equal(answer.status, 302, what);
      assert.match(
        answer.headers["location"] ?? "",
        /^\/(?:login|auth\/login\?provider=stub)/,
        what,
      );
      return;
    case "S":
    case "R":
    case "T":
      return expectRefusal(answer, method, dead, what);
    default:
      route.rule.class satisfies never;
  }
}

test("nobody who is not signed in gets past the table, whatever the method and the spelling", async (t) => {
  const routes = await routesOf(t);
  const gated = await openPlanted(t);
  const everybody = await visitors(gated);
  const others = (route: RegisteredRoute) =>
    new Set(routes.filter(({ path }) => path === route.path).map(({ method }) => method));
  for (const route of routes) {
    for (const method of new Set([route.method, "GET", "HEAD", "POST"])) {
      // Another route of the same path answers this method: it has its own turn.
      if (method !== route.method && others(route).has(method)) continue;
      if (method === "HEAD" && route.method !== "GET" && others(route).has("GET")) continue;
      const path = fill(route.path);
      const asked = everybody.flatMap((visitor) =>
        spellings(path).map(async (target) => {
          const headers = { ...visitor.headers, "x-forwarded-uri": "/api/status" };
          const answer = await ask(`${gated.url}${target}`, { method, headers });
          expect(route, method, visitor, answer, gated.home);
        }),
      );
      await Promise.all(asked);
    }
  }
});

test("signed in: each route answers exactly as walk-signed-in.txt says, in every spelling; other methods get 405; no secret", async (t) => {
  const routes = await routesOf(t);
  const gated = await openPlanted(t);
  const browser = gated.browser();
  await browser.login();
  const told = new Map<string, number>();
  for (const route of routes) {
    if (route.path.endsWith("/events") || route.path.startsWith("/auth/")) continue;
    const methods = new Set(
      routes.filter(({ path }) => path === route.path).map(({ method }) => method),
    );
    for (const target of spellings(fill(route.path))) {
      const answer = await browser.get(target, { method: route.method });
      const what = `${route.method} ${target}: ${answer.status} ${answer.body.slice(0, 90)}`;
      const key = `${route.method} ${route.path}`;
      // Limits count all spellings together.
      if (answer.status !== 429) {
        assert.equal(told.get(key) ?? answer.status, answer.status, what);
        told.set(key, answer.status);
      }
      assert.ok(!answer.body.includes(PLANTED) && !answer.body.includes(SECRET), what);
      assert.ok(!answer.body.includes(LOCAL_TOKEN), what);
    }
    if (route.path.includes("*") || route.rule.class === "B") continue;
    for (const method of ["GET", "HEAD", "POST", "PUT"]) {
      if (methods.has(method)) continue;
      // `{id}` also takes the word of a neighbour: then that route answers, as the table says.
      const answering = method === "HEAD" ? "GET" : method;
      const path = fill(route.path);
      const neighbours = routes.filter((other) => matches(other.path, path) && other.path !== "/*");
      const takers = neighbours.filter((other) => other.method === answering);
      const expected = takers.find((other) => other.path === path) ?? takers[0];
      if (expected && method !== "HEAD") continue;
      for (const target of spellings(path)) {
        const answer = await browser.get(target, { method });
        const what = `${method} ${target}: ${answer.status}`;
        const same = told.get(`GET ${expected?.path}`);
        if (!expected) assert.equal(answer.status, 405, what);
        else if (same !== undefined && answer.status !== 429)
          assert.equal(answer.status, same, what);
        if (method === "HEAD") assert.equal(answer.body, "", what);
      }
    }
  }
  const lines = readFileSync(new URL("../fixtures/walk-signed-in.txt", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  assert.deepEqual([...told].map(([key, status]) => `${status} ${key}`).sort(), lines.sort());
});

test("no other spelling is the route: exact answers for everybody, with GET, HEAD and POST", async (t) => {
  const routes = await routesOf(t);
  const gated = await openPlanted(t);
  const everybody = await visitors(gated);
  const browser = gated.browser();
  await browser.login();
  const cookie = browser.jar.header("/") ?? "";
  const signedIn = { name: "signed in", headers: { cookie } } as const;
  const paths = new Set(routes.map(({ path }) => fill(path)));
  for (const path of paths) {
    for (const { target, is } of misspellings(path)) {
      // Below `/assets/*` and its like everything is a file's name, which is bad or not there.
      const below = routes.some((other) => other.path !== "/*" && matches(other.path, target));
      if (is !== "bad" && below) continue;
      const asked = ["GET", "HEAD", "POST"].flatMap((method) =>
        [...everybody, signedIn].map(async ({ name, headers }) => {
          const answer = await ask(`${gated.url}${target}`, { method, headers });
          expectMisspelt(is, method, name, answer, target);
        }),
      );
      await Promise.all(asked);
    }
  }
});

function expectMisspelt(
  is: "api" | "bad" | "page",
  method: string,
  visitor: Visitor["name"] | "signed in",
  answer: Answer,
  target: string,
): void {
  const what = `${visitor}: ${method} ${target} (${is}) -> ${answer.status} ${answer.body.slice(0, 90)}`;
  const dead = visitor === "garbage" || visitor === "expired";
  if (is === "bad") return assert.equal(answer.status, 400, what);
  if (visitor === "signed in") {
    const page = method === "POST" ? 405 : 200;
    return assert.equal(answer.status, is === "api" ? 404 : page, what);
  }
  if (is === "api" || method === "POST") return expectRefusal(answer, method, dead, what);
  assert.equal(answer.status, 302, what);
  const to = dead ? /^\/login(?:\?next=|$)/u : /^\/(?:auth\/login\?provider=stub|login)/u;
  assert.match(answer.headers["location"] ?? "", to, what);
}

test("unknown paths: a stranger learns nothing, others get 404", async (t) => {
  const gated = await openPlanted(t);
  const browser = gated.browser();
  await browser.login();
  for (const path of [
    "/api",
    "/api/",
    "/api/nothing",
    "/api/sessions/x/y",
    "/API/status",
    "/api//status",
  ]) {
    assert.equal((await gated.stranger(path)).status, 401, path);
    const known = await browser.get(path);
    assert.deepEqual([known.status, known.json()["code"]], [404, "not_found"], path);
  }
  assert.equal((await gated.stranger("/nothing", { method: "PUT", body: {} })).status, 401);
  assert.equal((await browser.get("/nothing", { method: "PUT", body: {} })).status, 405);
});

test("every public path answers GET and HEAD to a stranger, and no other method", async (t) => {
  const gated = await openPlanted(t);
  for (const path of Object.keys(PUBLIC_API_PATHS)) {
    assert.equal((await gated.stranger(path)).status, 200, path);
    assert.equal((await gated.stranger(path, { method: "HEAD" })).status, 200, path);
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      assert.equal((await gated.stranger(path, { method })).status, 401, `${method} ${path}`);
    }
  }
});

test("path-tricks.txt: the same answers with the gate on", async (t) => {
  const gated = await openPlanted(t);
  const lines = readFileSync(new URL("../fixtures/path-tricks.txt", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of lines) {
    const [expected = "", target = ""] = line.split(" ");
    const answer = await askRaw(gated.running.port, [
      `GET ${target} HTTP/1.1`,
      `Host: 127.0.0.1:${gated.running.port}`,
      "Connection: close",
      "",
      "",
    ]);
    assert.equal(String(answer.status), expected, `${line}: ${answer.body.slice(0, 100)}`);
    if (answer.status === 401) assert.equal(answer.json()["error"], "unauthenticated", line);
  }
});
