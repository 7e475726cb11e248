// The gate end to end over the wire, with the stub provider and a cookie jar (dashboard.md §4, §6, §7; rows 1–5, 14, 26, 36–38).
import assert from "node:assert/strict";
import { test } from "node:test";
import { openGated } from "../kit/gated.ts";
import { openSocket } from "../kit/socket.ts";
import { until } from "../kit/until.ts";

const NAVIGATE = { accept: "text/html", "sec-fetch-dest": "document" };

// The portal's only liveness question: it asks this path without a cookie.
test("a stranger gets the public paths, and the status has exactly 11 keys", async (t) => {
  const gated = await openGated(t);
  const answer = await gated.stranger("/api/status");
  assert.equal(answer.status, 200);
  const body = answer.json();
  assert.equal(Object.keys(body).length, 11);
  assert.deepEqual([body["auth_required"], body["auth_providers"]], [true, ["stub"]]);
  assert.equal((await gated.stranger("/api/health")).json()["auth_required"], true);
});

test("a full login with the stub: before 401, after 200; the token of local mode opens nothing", async (t) => {
  const gated = await openGated(t);
  const browser = gated.browser();
  assert.equal((await browser.get("/api/sessions")).status, 401);
  assert.equal((await gated.ask("/api/sessions")).status, 401);
  const start = await browser.get("/auth/login?provider=stub&next=%2Fsessions%3Fpage%3D2");
  assert.equal(start.status, 302);
  assert.match(
    start.setCookies.join("\n"),
    /^hermes_session_pkce=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  const back = new URL(start.headers["location"] ?? "");
  assert.equal(back.pathname, "/auth/callback");
  const done = await browser.get(`${back.pathname}${back.search}`);
  assert.deepEqual([done.status, done.headers["location"]], [302, "/sessions?page=2"]);
  const session = done.setCookies.find((line) => line.startsWith("hermes_session_at="));
  assert.match(
    session ?? "",
    /^hermes_session_at=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
  );
  assert.ok(!done.setCookies.some((line) => /hermes_session_rt=[^;]/.test(line)));
  assert.equal((await browser.get("/api/sessions")).status, 200);
  const me = (await browser.get("/api/auth/me")).json();
  assert.deepEqual(
    [me["user_id"], me["email"], me["display_name"], me["org_id"], me["provider"]],
    ["stub-user-1", "stub@example.test", "Stub User", "stub-org-1", "stub"],
  );
  assert.equal(typeof me["expires_at"], "number");
  const page = await browser.get("/", { headers: NAVIGATE });
  assert.equal(page.status, 200);
  assert.ok(page.body.includes("__HERMES_AUTH_REQUIRED__=true") && !page.body.includes("TOKEN"));
});

test("401 envelopes: nothing presented, garbage, a session that is over", async (t) => {
  const gated = await openGated(t);
  const none = await gated.stranger("/api/sessions");
  assert.deepEqual(none.json(), {
    error: "unauthenticated",
    detail: "Unauthorized",
    reason: "no_cookie",
    login_url: "/login",
  });
  assert.deepEqual(none.setCookies, []);
  const browser = gated.browser();
  await browser.login();
  const cookie = browser.jar.header("/") ?? "";
  await browser.post("/auth/logout");
  for (const dead of ["hermes_session_at=garbage", cookie]) {
    for (const headers of [{ cookie: dead }, { cookie: dead, accept: "text/event-stream" }]) {
      const answer = await gated.stranger("/api/sessions", { headers });
      assert.equal(answer.status, 401);
      assert.deepEqual(answer.json(), {
        error: "session_expired",
        detail: "Unauthorized",
        reason: "invalid_or_expired_session",
        login_url: "/login",
      });
      assert.ok(answer.setCookies.some((line) => /^hermes_session_at=;.*Max-Age=0/.test(line)));
    }
  }
});

test("pages of a stranger go to the only provider once, then to the login page", async (t) => {
  const gated = await openGated(t);
  const browser = gated.browser();
  const first = await browser.get("/sessions?page=2", { headers: NAVIGATE });
  assert.equal(first.headers["location"], "/auth/login?provider=stub&next=%2Fsessions%3Fpage%3D2");
  assert.match(first.setCookies.join(), /^hermes_sso_attempt=1; Max-Age=60;/);
  const second = await browser.get("/sessions?page=2", { headers: NAVIGATE });
  assert.equal(second.headers["location"], "/login?next=%2Fsessions%3Fpage%3D2");
  const cases: [string, Record<string, string>][] = [
    ["GET", { ...NAVIGATE, "sec-purpose": "prefetch" }],
    ["GET", { ...NAVIGATE, "sec-fetch-dest": "iframe" }],
    ["GET", { accept: "application/json" }],
    ["HEAD", NAVIGATE],
  ];
  for (const [method, headers] of cases) {
    const answer = await gated.stranger("/", { method, headers });
    assert.equal(answer.headers["location"], "/login?next=%2F", JSON.stringify(headers));
  }
  const script = await gated.stranger("/x", { headers: { "sec-fetch-dest": "script" } });
  assert.equal(script.status, 401);
  assert.equal((await gated.stranger("/", { headers: { accept: "*/*" } })).status, 302);
});

test("a browser that keeps the marker but not the session is told so", async (t) => {
  const gated = await openGated(t);
  const browser = gated.browser();
  await browser.login();
  const marker = browser.jar.cookies.find(({ name }) => name === "hermes_sso_attempt");
  assert.equal(marker?.value, "2");
  browser.jar.clear();
  browser.jar.set("hermes_sso_attempt", "2");
  const answer = await browser.get("/", { headers: NAVIGATE });
  assert.equal(answer.headers["location"], "/login?error=cookie");
  assert.match((await browser.get("/login?error=cookie")).body, /did not keep the sign-in/);
});

test("the login page: links, languages, no script; a live session passes it", async (t) => {
  const gated = await openGated(t);
  const page = await gated.stranger("/login?next=%2Fa%3Fb%3D%22c");
  assert.equal(page.status, 200);
  assert.match(page.headers["content-type"] ?? "", /^text\/html/);
  assert.match(page.headers["content-security-policy"] ?? "", /form-action 'self'/);
  assert.ok(!page.body.includes("<script"));
  assert.ok((await gated.stranger("/login")).body.includes('href="/auth/login?provider=stub"'));
  assert.ok(page.body.includes('href="/auth/login?provider=stub&next=%2Fa%3Fb%3D%22c"'));
  assert.ok(page.body.includes("Sign in with Stub IdP (test only)"));
  const chinese = await gated.stranger("/login", {
    headers: { "accept-language": "zh-CN,en;q=0.5" },
  });
  assert.match(chinese.body, /<html lang="zh-Hans"[^]*使用 Stub IdP/);
  const browser = gated.browser();
  await browser.login();
  const live = await browser.get("/login?next=%2Fchat");
  assert.deepEqual([live.status, live.headers["location"]], [302, "/chat"]);
  const fresh = await browser.get("/login?fresh=1&error=reauth");
  assert.equal(fresh.status, 200);
  assert.ok(fresh.body.includes("provider=stub&fresh=1"));
});

test("logout ends the session everywhere: replayed cookie, sockets, streams", async (t) => {
  const gated = await openGated(t);
  const browser = gated.browser();
  await browser.login();
  const cookie = browser.jar.header("/") ?? "";
  const { ticket } = (await browser.post("/api/auth/ws-ticket")).json<{ ticket: string }>();
  const byTicket = await openSocket(gated.url, { query: `?ticket=${ticket}` });
  const byCookie = await openSocket(gated.url, { headers: { cookie, origin: gated.url } });
  const unsure = await openSocket(gated.url, { headers: { cookie } });
  const used = await openSocket(gated.url, { query: `?ticket=${ticket}` });
  await until(
    "a socket without Origin and one with a used ticket are closed",
    () => unsure.closed && used.closed,
  );
  assert.deepEqual([unsure.closed?.code, used.closed?.code], [4401, 4401]);
  assert.deepEqual([byTicket.closed, byCookie.closed], [null, null]);
  const answer = await browser.post("/auth/logout");
  assert.deepEqual([answer.status, answer.headers["location"]], [302, "/login?logged_out=1"]);
  assert.deepEqual(browser.jar.cookies, []);
  await until("both sockets are closed", () => byTicket.closed && byCookie.closed, 2000);
  assert.deepEqual([byTicket.closed?.code, byCookie.closed?.code], [4401, 4401]);
  assert.equal((await gated.stranger("/api/sessions", { headers: { cookie } })).status, 401);
  await until("the issuer was told", () => gated.stub.state.revoked.length === 1);
  assert.equal((await browser.post("/auth/logout", {})).json()["login_url"], "/login?logged_out=1");
  assert.equal((await browser.get("/auth/logout")).status, 405);
});

test("a session survives a restart of the dashboard", async (t) => {
  const first = await openGated(t);
  const browser = first.browser();
  await browser.login();
  const cookie = browser.jar.header("/") ?? "";
  await first.running.stop();
  const second = await openGated(t, { home: first.home, stub: first.stub });
  const answer = await second.stranger("/api/auth/me", { headers: { cookie } });
  assert.equal(answer.status, 200);
});

test("20 parallel calls at expiry make one token call", async (t) => {
  const gated = await openGated(t);
  gated.stub.state.accessSeconds = 0;
  const browser = gated.browser();
  await browser.login();
  gated.stub.state.accessSeconds = 300;
  const hold = Promise.withResolvers<void>();
  gated.stub.state.hold = hold.promise;
  const calls = Array.from({ length: 20 }, () => browser.get("/api/auth/me"));
  await until("the issuer is asked", () => gated.stub.state.refreshes === 1);
  hold.resolve();
  const answers = await Promise.all(calls);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(gated.stub.state.refreshes, 1);
});
