// The way back from a provider, row by row (dashboard.md §6.2; rows 36, 37, 40, 41).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FakeClock } from "../kit/fake-clock.ts";
import { type GatedDashboard, openGated, type TestBrowser } from "../kit/gated.ts";
import type { Answer } from "../kit/http.ts";
import { createStubProvider, offerStub } from "../kit/stub-provider.ts";

const PREFIXED = { "x-forwarded-prefix": "/hermes", "x-forwarded-proto": "https" };

/** Begins a login and gives the way back. */
async function start(browser: TestBrowser, query = "provider=stub"): Promise<string> {
  const answer = await browser.get(`/auth/login?${query}`);
  assert.equal(answer.status, 302, answer.body);
  const url = new URL(answer.headers["location"] ?? "");
  return `${url.pathname}${url.search}`;
}

function audited(gated: GatedDashboard): Record<string, unknown>[] {
  return readFileSync(join(gated.home, "logs", "dashboard-auth.log"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function expectPage(answer: Answer, status: number, detail: RegExp): void {
  assert.equal(answer.status, status, answer.body);
  assert.match(answer.headers["content-type"] ?? "", /^text\/html/);
  assert.match(answer.body, detail);
  assert.ok(!answer.body.includes("<script"));
  assert.equal(answer.headers["location"], undefined);
}

test("each row of the table, with its audit line and what happens to the attempt", async (t) => {
  const gated = await openGated(t);
  const browser = gated.browser();
  expectPage(await browser.get("/auth/callback?code=x&state=y"), 400, /Missing PKCE state cookie/);
  const way = await start(browser, "provider=stub&next=%2Fchat");
  expectPage(await browser.get("/auth/callback?code=stub_code"), 400, /OAuth state mismatch/);
  expectPage(
    await browser.get(`/auth/callback?code=stub_code&state=${"x".repeat(43)}`),
    400,
    /OAuth state mismatch/,
  );
  const wrong = await browser.get(way.replace("stub_code", "stolen"));
  expectPage(wrong, 400, /did not accept the code/);
  assert.ok(wrong.body.includes('href="/login?next=%2Fchat"'), "Try again keeps the target");
  assert.match(wrong.setCookies.join("\n"), /^hermes_session_pkce=;/m);
  expectPage(await browser.get(way), 400, /Missing PKCE state cookie/);

  const denied = await start(browser);
  const state = new URLSearchParams(denied.split("?")[1]).get("state") ?? "";
  const refusal = await browser.get(
    `/auth/callback?state=${state}&error=access_denied&error_description=${encodeURIComponent(`<b>${"no".repeat(200)}`)}`,
  );
  expectPage(refusal, 400, /access_denied: &lt;b&gt;nono/);
  assert.ok(refusal.body.length < 6000);
  assert.match(refusal.body, /not allowed to use this agent/);

  const reasons = audited(gated)
    .filter(({ event }) => event === "login_failure")
    .map(({ reason }) => reason);
  assert.deepEqual(reasons, [
    "missing_pkce_cookie",
    "state_mismatch",
    "state_mismatch",
    "invalid_code",
    "missing_pkce_cookie",
    "idp_error",
  ]);
});

test("an issuer that is away: 503 with Retry-After, the attempt is kept and works later", async (t) => {
  const gated = await openGated(t);
  const browser = gated.browser();
  const way = await start(browser);
  gated.stub.state.reachable = false;
  const away = await browser.get(way);
  expectPage(away, 503, /Auth provider &#39;stub&#39; unreachable/);
  assert.equal(away.headers["retry-after"], "10");
  assert.deepEqual(away.setCookies, []);
  expectPage(await browser.get("/auth/login?provider=stub"), 503, /unreachable/);
  assert.equal((await browser.get("/login")).status, 200);
  gated.stub.state.reachable = true;
  assert.equal((await browser.get(way)).status, 302);
});

test("JSON callers get the error shape; an unknown provider is 404, one that is gone 400", async (t) => {
  const gated = await openGated(t);
  const json = { headers: { accept: "application/json" } };
  const mismatch = await gated.stranger("/auth/callback?state=x", json);
  assert.deepEqual(mismatch.json(), { detail: "Missing PKCE state cookie", code: "invalid" });
  for (const name of ["", "nobody", "STUB", "drain"]) {
    const answer = await gated.stranger(`/auth/login?provider=${name}`, json);
    assert.deepEqual(
      [answer.status, answer.json()],
      [404, { detail: "Unknown provider", code: "not_found" }],
    );
  }
  const clock = new FakeClock();
  const other = createStubProvider({ clock, name: "other" });
  const two = await openGated(t, { more: [offerStub(other)] });
  const browser = two.browser();
  const way = await start(browser, "provider=other");
  await two.running.stop();
  const one = await openGated(t, { home: two.home });
  const cookie = browser.jar.header("/") ?? "";
  expectPage(await one.stranger(way, { headers: { cookie } }), 400, /Unknown provider/);
});

test("two tabs finish in reverse order; a tab that comes too late is led home; 20 aborted starts hurt nobody", async (t) => {
  const gated = await openGated(t);
  const browser = gated.browser();
  const first = await start(browser, "provider=stub&next=%2Fa");
  const second = await start(browser, "provider=stub&next=%2Fb");
  assert.equal((await browser.get(second)).headers["location"], "/b");
  assert.equal((await browser.get(first)).headers["location"], "/a");
  assert.equal((await browser.get(second)).headers["location"], "/");
  assert.equal((await browser.get("/api/auth/me")).status, 200);
  const busy = gated.browser();
  for (let n = 0; n < 20; n++) await start(busy, `provider=stub&next=${"%2Fx".repeat(90)}`);
  const value = busy.jar.cookies.find(({ name }) => name === "hermes_session_pkce")?.value ?? "";
  assert.ok(value.length <= 3500);
  assert.equal((await busy.get(await start(busy))).status, 302);
});

test("duplicate cookies of the state's name: the good one is found", async (t) => {
  const gated = await openGated(t);
  const browser = gated.browser();
  const way = await start(browser);
  const good = browser.jar.header("/") ?? "";
  const cookie = `hermes_session_pkce=garbage; ${good}; __Secure-hermes_session_pkce=e30`;
  assert.equal((await gated.stranger(way, { headers: { cookie } })).status, 302);
});

test("a new login ends the session that the browser had, and the id is new", async (t) => {
  const gated = await openGated(t);
  const browser = gated.browser();
  await browser.login();
  const old = browser.jar.header("/") ?? "";
  await browser.login();
  assert.notEqual(browser.jar.header("/"), old);
  assert.equal((await gated.stranger("/api/auth/me", { headers: { cookie: old } })).status, 401);
  assert.equal((await browser.get("/api/auth/me")).status, 200);
});

test("targets of open-redirects.txt at every door, with and without a prefix", async (t) => {
  const lines = readFileSync(new URL("../fixtures/open-redirects.txt", import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => ({ kept: line.startsWith("keep"), raw: JSON.parse(line.slice(5)) as string }));
  const clock = new FakeClock();
  const gated = await openGated(t, { clock });
  for (const [prefix, headers] of [
    ["", {}],
    ["/hermes", PREFIXED],
  ] as const) {
    const browser = gated.browser({ headers, prefix, https: prefix !== "" });
    for (const { kept, raw } of lines) {
      await clock.advance(61_000);
      const landed = await browser.login(raw);
      assert.equal(landed.headers["location"], `${prefix}${kept ? raw : "/"}`, `callback ${raw}`);
      const login = await browser.get(`/login?next=${encodeURIComponent(raw)}`);
      assert.equal(login.headers["location"], `${prefix}${kept ? raw : "/"}`, `login ${raw}`);
    }
  }
});

test("next in the callback's query is ignored; a 401 of the API never becomes one", async (t) => {
  const gated = await openGated(t);
  const browser = gated.browser();
  const way = await start(browser);
  assert.equal((await browser.get(`${way}&next=%2Fevil`)).headers["location"], "/");
  const answer = await gated.stranger("/api/x?page=2");
  assert.equal(answer.json()["login_url"], "/login");
  const page = await gated.stranger("//evil.com", { headers: { accept: "application/json" } });
  assert.equal(page.status, 401);
});

test("behind https and a prefix: names, paths, Secure; the way back and every Location carry the prefix", async (t) => {
  const gated = await openGated(t);
  const browser = gated.browser({ headers: PREFIXED, prefix: "/hermes", https: true });
  const start = await browser.get("/auth/login?provider=stub");
  assert.match(
    start.headers["location"] ?? "",
    /^https:\/\/127\.0\.0\.1:\d+\/hermes\/auth\/callback\?/,
  );
  assert.match(
    start.setCookies[0] ?? "",
    /^__Secure-hermes_session_pkce=.*; Path=\/hermes; HttpOnly; Secure; SameSite=None$/,
  );
  const back = new URL(start.headers["location"] ?? "");
  const done = await browser.get(`${back.pathname.slice("/hermes".length)}${back.search}`);
  assert.equal(done.headers["location"], "/hermes/");
  assert.match(
    done.setCookies.join("\n"),
    /^__Secure-hermes_session_at=.*; Path=\/hermes; HttpOnly; Secure; SameSite=Lax$/m,
  );
  assert.equal((await browser.get("/api/auth/me")).status, 200);
  const id = browser.jar.cookies.find(({ name }) => name === "__Secure-hermes_session_at")?.value;
  for (const name of ["hermes_session_at", "__Host-hermes_session_at"]) {
    const headers = { ...PREFIXED, cookie: `${name}=${id}` };
    assert.equal((await gated.stranger("/api/auth/me", { headers })).status, 401, name);
  }
  const page = await gated.stranger("/login", { headers: PREFIXED });
  assert.ok(page.body.includes('href="/hermes/auth/login?provider=stub"'));
  const out = await browser.post("/auth/logout", undefined, { headers: { origin: back.origin } });
  assert.equal(out.headers["location"], "/hermes/login?logged_out=1");
  assert.deepEqual(browser.jar.cookies, []);
});

test("no code and no state in any log", async (t) => {
  const gated = await openGated(t);
  const browser = gated.browser();
  const way = await start(browser);
  await browser.get(way);
  await browser.get(way.replace("stub_code", "planted-code"));
  const state = new URLSearchParams(way.split("?")[1]).get("state") ?? "none";
  const text = `${JSON.stringify(audited(gated))}${gated.logLines.join("\n")}`;
  for (const secret of [state, "stub_code", "planted-code"])
    assert.ok(!text.includes(secret), secret);
});
