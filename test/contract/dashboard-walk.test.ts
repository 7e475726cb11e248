// Every registered route asked as a stranger and with the token (dashboard.md §3.4, rows 24, 25, 59), from the route table.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { assemble } from "#dashboard/assemble.ts";
import { BOOTSTRAP_PATHS, PUBLIC_API_PATHS } from "#auth/public-paths.ts";
import { LOCAL_TOKEN, openDashboard, prepareDashboard } from "../kit/dashboard.ts";
import { ask, askRaw } from "../kit/http.ts";
import { fill } from "../kit/walk.ts";

const OPEN = new Set(["P", "B", "N"]);

function tricks(path: string): string[] {
  const encoded = `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`;
  return [`/.${path}`, `/x/..${path}`, encoded, `${path}?x=/api/status`, `${path}?token=wrong`];
}

test("a stranger gets open routes and 401 for all others, whatever the spelling of the path", async (t) => {
  const { deps } = await prepareDashboard(t);
  const { table } = assemble(deps);
  const { url, home } = await openDashboard(t, {
    dotEnv: "OPENAI_API_KEY=sk-planted-0123456789\n",
  });
  for (const { method, path, rule } of table.routes) {
    for (const target of [fill(path), ...tricks(fill(path))]) {
      const answer = await ask(`${url}${target}`, {
        method,
        headers: { "x-forwarded-uri": "/api/status" },
      });
      const what = `${method} ${target} (${rule.class}): ${answer.status} ${answer.body.slice(0, 80)}`;
      if (OPEN.has(rule.class)) assert.notEqual(answer.status, 401, what);
      else {
        assert.equal(answer.status, 401, what);
        assert.deepEqual(answer.json(), { detail: "Unauthorized" });
      }
      if (rule.class === "P") assert.equal(answer.status, 200, what);
      assert.equal(answer.headers["set-cookie"], undefined);
      assert.ok(!answer.body.includes("sk-planted"), what);
      const isPage = answer.headers["content-type"]?.startsWith("text/html");
      if (!isPage) assert.ok(!answer.body.includes(LOCAL_TOKEN), what);
      if (rule.class !== "P") assert.ok(!answer.body.includes(home), what);
    }
  }
});

test("with the token no route but /api/auth/me answers 401", async (t) => {
  const { deps } = await prepareDashboard(t);
  const { table } = assemble(deps);
  const dashboard = await openDashboard(t);
  for (const { method, path } of table.routes) {
    if (path.endsWith("/events")) continue;
    const answer = await dashboard.ask(fill(path), { method });
    const what = `${method} ${path}: ${answer.status} ${answer.body.slice(0, 120)}`;
    if (path === "/api/auth/me") assert.equal(answer.status, 401);
    else {
      assert.notEqual(answer.status, 401, what);
      assert.notEqual(answer.status, 500, what);
    }
  }
});

test("the route table is the REST table", async (t) => {
  const { deps } = await prepareDashboard(t);
  const { table } = assemble(deps);
  const mine = table.routes.map(({ method, path, rule }) => `${rule.class} ${method} ${path}`);
  const written = readFileSync(new URL("../fixtures/rest-table.txt", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  assert.deepEqual(mine.sort(), written.sort());
});

test("public and bootstrap routes are exactly the two lists", async (t) => {
  const { deps } = await prepareDashboard(t);
  const { table } = assemble(deps);
  const paths = (letter: string): string[] => [
    ...new Set(table.routes.filter(({ rule }) => rule.class === letter).map(({ path }) => path)),
  ];
  assert.deepEqual(paths("P").sort(), Object.keys(PUBLIC_API_PATHS).sort());
  assert.deepEqual(paths("B").sort(), Object.keys(BOOTSTRAP_PATHS).sort());
  assert.ok(Object.isFrozen(PUBLIC_API_PATHS) && Object.isFrozen(BOOTSTRAP_PATHS));
});

test("path tricks: public only what dispatches to /api/status, never HTML under /api", async (t) => {
  const { running } = await openDashboard(t);
  const lines = readFileSync(new URL("../fixtures/path-tricks.txt", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of lines) {
    const [expected = "", target = ""] = line.split(" ");
    const answer = await askRaw(running.port, [
      `GET ${target.replaceAll("<TAB>", "\t")} HTTP/1.1`,
      `Host: 127.0.0.1:${running.port}`,
      "User-Agent: kube-probe/1.30",
      "Connection: close",
      "",
      "",
    ]);
    assert.equal(String(answer.status), expected, `${line}: ${answer.body.slice(0, 100)}`);
    if (answer.status !== 200) {
      assert.match(
        answer.headers["content-type"] ?? "application/json",
        /^application\/json/,
        line,
      );
    } else assert.ok("version" in answer.json(), line);
  }
});

test("wrong method: 405 with Allow for those who may know, 401 for a stranger, 405 on bootstrap paths", async (t) => {
  const dashboard = await openDashboard(t);
  const known = await dashboard.ask("/api/sessions", { method: "PUT", body: {} });
  assert.equal(known.status, 405);
  assert.equal(known.headers["allow"], "GET, HEAD");
  assert.equal(known.json()["code"], "method_not_allowed");
  assert.equal(
    (await dashboard.stranger("/api/sessions", { method: "PUT", body: {} })).status,
    401,
  );
  assert.equal((await dashboard.stranger("/api/status", { method: "POST", body: {} })).status, 401);
  assert.equal((await dashboard.stranger("/healthz", { method: "POST", body: {} })).status, 405);
  assert.equal((await dashboard.ask("/api/nothing")).json()["code"], "not_found");
  assert.equal((await dashboard.ask("/api/env", { method: "HEAD" })).status, 200);
});
