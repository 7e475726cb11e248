// Signing in by password: JSON and form, limits, delays, the owner's way back in (dashboard.md §5.5, §6.1, §10; row 42).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { writeControl } from "#auth/control-file.ts";
import { FakeClock } from "../kit/fake-clock.ts";
import { createBrowser, openGated } from "../kit/gated.ts";
import { openDashboard } from "../kit/dashboard.ts";
import { ask } from "../kit/http.ts";

const PASSWORD = "right-password-0123";
const ENV = {
  HERMES_DASHBOARD_BASIC_AUTH_USERNAME: "ann",
  HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: PASSWORD,
};
const TRUSTED = { HERMES_DASHBOARD_TRUSTED_PROXIES: "loopback" };

async function open(t: TestContext, env: Record<string, string> = {}) {
  const clock = new FakeClock();
  const dashboard = await openDashboard(t, {
    clock,
    env: { ...ENV, ...env },
    flags: { host: "0.0.0.0" },
  });
  const login = (body: object, headers: Record<string, string> = {}) =>
    ask(`${dashboard.url}/auth/password-login`, { method: "POST", body, headers });
  return { clock, dashboard, login };
}

const RIGHT = { provider: "basic", username: "ann", password: PASSWORD };

test("right: 200 with the landing; wrong and unknown alike: 401, equal bodies, no cookie", async (t) => {
  const { login, dashboard } = await open(t);
  const right = await login({ ...RIGHT, next: "/sessions?page=2" });
  assert.deepEqual([right.status, right.json()], [200, { ok: true, next: "/sessions?page=2" }]);
  assert.match(right.setCookies.join("\n"), /^hermes_session_at=[\w-]{43}; Max-Age=2592000;/m);
  assert.deepEqual((await login({ ...RIGHT, next: "//e.com" })).json(), { ok: true, next: "/" });
  const wrong = await login({ ...RIGHT, password: "wrong" });
  const unknown = await login({ ...RIGHT, username: "bob" });
  assert.deepEqual(wrong.json(), { detail: "Invalid credentials", code: "invalid" });
  for (const answer of [wrong, unknown]) {
    assert.deepEqual([answer.status, answer.body, answer.setCookies], [401, wrong.body, []]);
  }
  const foreign = await login({ ...RIGHT, provider: "nobody" });
  assert.deepEqual(foreign.json(), { detail: "Unknown provider", code: "not_found" });
  assert.equal((await login({ provider: "basic" })).status, 422);
  assert.equal((await login([])).status, 422);
  const log = readFileSync(join(dashboard.home, "logs", "dashboard-auth.log"), "utf8");
  assert.ok(!log.includes(PASSWORD) && !dashboard.logLines.join().includes(PASSWORD));
  assert.match(log, /"event":"login_failure","provider":"basic","reason":"invalid_credentials"/);
});

test("only a password provider: pages go to the login page with a form, never to a redirect", async (t) => {
  const { dashboard } = await open(t);
  const page = await dashboard.stranger("/", { headers: { accept: "text/html" } });
  assert.deepEqual([page.status, page.headers["location"]], [302, "/login?next=%2F"]);
  const form = await dashboard.stranger("/login?next=%2Fchat");
  assert.match(form.body, /<form method="post" action="\/auth\/password-login">/);
  assert.match(form.body, /name="next" value="\/chat"/);
  assert.match(form.body, /autocomplete="current-password"/);
  assert.match(form.body, /hermes dashboard set-password/);
  const start = await dashboard.stranger("/auth/login?provider=basic&next=%2Fchat");
  assert.deepEqual([start.status, start.headers["location"]], [302, "/login?next=%2Fchat"]);
});

test("the form: 303 to the landing or back with a reason; it needs an own Origin", async (t) => {
  const { dashboard } = await open(t);
  const post = (fields: Record<string, string>, headers: Record<string, string>) =>
    ask(`${dashboard.url}/auth/password-login`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      body: new URLSearchParams(fields).toString(),
    });
  const own = { origin: dashboard.url };
  const done = await post({ ...RIGHT, next: "/chat" }, own);
  assert.deepEqual([done.status, done.headers["location"]], [303, "/chat"]);
  const wrong = await post({ ...RIGHT, password: "x", next: "/chat" }, own);
  assert.deepEqual(
    [wrong.status, wrong.headers["location"]],
    [303, "/login?error=invalid&next=%2Fchat"],
  );
  assert.deepEqual(wrong.setCookies, []);
  assert.match(
    (await dashboard.stranger("/login?error=invalid")).body,
    /role="alert">User name or password/,
  );
  const foreign: Record<string, string>[] = [
    {},
    { origin: "https://evil.test" },
    { origin: "null" },
    { "sec-fetch-site": "same-origin" },
  ];
  for (const headers of foreign) {
    const refused = await post(RIGHT, headers);
    assert.deepEqual([refused.status, refused.json()["code"]], [403, "origin_not_allowed"]);
  }
});

test("the 11th try in a minute is 429, right or wrong, and headers of a peer that is not believed do not help", async (t) => {
  const { login, clock } = await open(t, { HERMES_DASHBOARD_TRUSTED_PROXIES: "10.0.0.1" });
  const from = (n: number, body: object) => login(body, { "x-forwarded-for": `192.0.2.${n}` });
  for (let n = 0; n < 10; n++) await from(n, { ...RIGHT, username: `u${n}`, password: "x" });
  const spoofed = await from(99, RIGHT);
  assert.equal(spoofed.status, 429);
  assert.deepEqual(spoofed.json(), { detail: "Too many login attempts", code: "rate_limited" });
  assert.ok(Number(spoofed.headers["retry-after"]) >= 59);
  await clock.advance(61_000);
  assert.equal((await login(RIGHT)).status, 200);
});

test("behind a believed proxy each client has tries of its own", async (t) => {
  const { login } = await open(t, TRUSTED);
  const from = (n: number, body: object) => login(body, { "x-forwarded-for": `192.0.2.${n}` });
  for (let n = 0; n < 10; n++) await from(1, { ...RIGHT, username: `u${n}`, password: "x" });
  assert.equal((await from(1, RIGHT)).status, 429);
  assert.equal((await from(2, RIGHT)).status, 200);
});

test("five failures lock that name at that address for growing times; another address is free", async (t) => {
  const { login, clock } = await open(t, TRUSTED);
  const from = (ip: string, password: string) =>
    login({ ...RIGHT, password }, { "x-forwarded-for": ip });
  for (let n = 0; n < 5; n++) assert.equal((await from("192.0.2.1", "x")).status, 401);
  const locked = await from("192.0.2.1", PASSWORD);
  assert.deepEqual([locked.status, locked.headers["retry-after"]], [429, "1"]);
  assert.equal((await from("192.0.2.2", PASSWORD)).status, 200);
  await clock.advance(1_000);
  assert.equal((await from("192.0.2.1", "x")).status, 401);
  assert.equal((await from("192.0.2.1", PASSWORD)).headers["retry-after"], "2");
  await clock.advance(61_000);
  assert.equal((await from("192.0.2.1", PASSWORD)).status, 200);
  assert.equal((await from("192.0.2.1", "x")).status, 401, "a right one clears the count");
});

test("the owner unlocks from the command line within a second", async (t) => {
  const { login, clock, dashboard } = await open(t);
  for (let n = 0; n < 10; n++) await login({ ...RIGHT, password: "x" });
  assert.equal((await login(RIGHT)).status, 429);
  writeControl(dashboard.home, { unlock: "ann" });
  await clock.advance(1_000);
  assert.equal((await login(RIGHT)).status, 200);
});

test("a changed password ends the sessions of the old one", async (t) => {
  const first = await open(t);
  const cookie = (await first.login(RIGHT)).setCookies[0]?.split(";")[0] ?? "";
  const me = (url: string) => ask(`${url}/api/auth/me`, { headers: { cookie } });
  assert.equal((await me(first.dashboard.url)).json()["user_id"], "ann");
  await first.dashboard.running.stop();
  const reopen = async (password: string) => {
    const env = { ...ENV, HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: password };
    const { home } = first.dashboard;
    return openDashboard(t, { home, env, clock: first.clock, flags: { host: "0.0.0.0" } });
  };
  const same = await reopen(PASSWORD);
  assert.equal((await me(same.url)).status, 200);
  await same.running.stop();
  const changed = await reopen("another-password-0123");
  assert.equal((await me(changed.url)).status, 401);
});

test("two providers: the page offers both, and nobody is sent anywhere by itself", async (t) => {
  const clock = new FakeClock();
  const settings = await openDashboard(t, { clock, env: ENV, flags: { host: "0.0.0.0" } });
  await settings.running.stop();
  const { collectProviders } = await import("#auth/providers/collect.ts");
  const { readProviderSettings } = await import("#auth/providers/settings.ts");
  const { systemRandom } = await import("#base/ids.ts");
  const { silentLog } = await import("#base/log.ts");
  const profile = settings.profiles.get("default");
  assert.ok(profile);
  const basic = collectProviders(readProviderSettings(profile.loaded()), {
    clock,
    random: systemRandom,
    log: silentLog,
  }).filter(({ name }) => name === "basic");
  const gated = await openGated(t, { more: basic });
  const page = await gated.stranger("/", { headers: { accept: "text/html" } });
  assert.equal(page.headers["location"], "/login?next=%2F");
  const { body } = await gated.stranger("/login");
  assert.ok(body.includes('class="provider-btn"') && body.includes("<form"));
  const listed = (await gated.stranger("/api/auth/providers")).json();
  assert.deepEqual(listed, {
    providers: [
      { name: "stub", display_name: "Stub IdP (test only)", supports_password: false },
      { name: "basic", display_name: "Username & Password", supports_password: true },
    ],
  });
  const browser = createBrowser(gated.url);
  assert.equal((await browser.post("/auth/password-login", RIGHT)).status, 200);
});
