// Native apps: authorize, code, tokens of our own (dashboard.md §8.2; row 45).
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { collectProviders } from "#auth/providers/collect.ts";
import type { Offer } from "#auth/providers/registry.ts";
import { readProviderSettings } from "#auth/providers/settings.ts";
import { systemRandom } from "#base/ids.ts";
import { silentLog } from "#base/log.ts";
import { loadConfig } from "#config/load.ts";
import { FakeClock } from "../kit/fake-clock.ts";
import { type GatedDashboard, openGated } from "../kit/gated.ts";
import { createStubProvider, offerStub } from "../kit/stub-provider.ts";
import { tempDir } from "../kit/temp-dir.ts";

const VERIFIER = "v".repeat(43);
const CHALLENGE = createHash("sha256").update(VERIFIER).digest("base64url");
const GOOD = {
  redirect_uri: "http://127.0.0.1:51234/done",
  code_challenge: CHALLENGE,
  code_challenge_method: "S256",
  state: "app-state",
};

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_at: number;
}

function authorizeUrl(changes: Record<string, string> = {}): string {
  return `/auth/native/authorize?${new URLSearchParams({ ...GOOD, ...changes }).toString()}`;
}

async function codeOf(gated: GatedDashboard): Promise<string> {
  const browser = gated.browser();
  const start = await browser.get(authorizeUrl());
  const back = new URL(start.headers["location"] ?? "");
  const done = await browser.get(`${back.pathname}${back.search}`);
  const target = new URL(done.headers["location"] ?? "");
  assert.equal(`${target.origin}${target.pathname}`, GOOD.redirect_uri);
  assert.equal(target.searchParams.get("state"), "app-state");
  assert.ok(!done.setCookies.some((line) => /hermes_session_at=[^;]/.test(line)));
  return target.searchParams.get("code") ?? "";
}

function exchange(gated: GatedDashboard, code: string, verifier = VERIFIER) {
  return gated.stranger("/auth/native/token", {
    method: "POST",
    body: { code, code_verifier: verifier },
  });
}

const refresh = (gated: GatedDashboard, token: string) =>
  gated.stranger("/auth/native/refresh", { method: "POST", body: { refresh_token: token } });

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

test("authorize, exchange, use, refresh, revoke", async (t) => {
  const clock = new FakeClock();
  const gated = await openGated(t, { clock });
  gated.stub.state.accessSeconds = 7200;
  const answer = await exchange(gated, await codeOf(gated));
  const body = answer.json();
  assert.deepEqual(
    Object.keys(body).sort(),
    "access_token expires_at provider refresh_token token_type user_id".split(" "),
  );
  assert.deepEqual(
    [body["token_type"], body["provider"], body["user_id"]],
    ["Bearer", "stub", "stub-user-1"],
  );
  const first = answer.json<Tokens>();
  assert.equal(first.expires_at, clock.now() / 1000 + 3600);
  assert.equal((await gated.stranger("/api/auth/me", bearer(first.access_token))).status, 200);
  const listed = (await gated.stranger("/api/auth/sessions", bearer(first.access_token))).json<{
    sessions: { kind: string; current: boolean }[];
  }>();
  assert.deepEqual(
    listed.sessions.map(({ kind, current }) => [kind, current]),
    [["native", true]],
  );
  await clock.advance(3600_000);
  assert.equal((await gated.stranger("/api/auth/me", bearer(first.access_token))).status, 401);
  const second = (await refresh(gated, first.refresh_token)).json<Tokens>();
  assert.equal((await gated.stranger("/api/auth/me", bearer(second.access_token))).status, 200);
  const reused = await refresh(gated, first.refresh_token);
  assert.deepEqual(
    [reused.status, reused.json()],
    [401, { error: "session_expired", detail: "Unauthorized" }],
  );
  assert.equal((await gated.stranger("/api/auth/me", bearer(second.access_token))).status, 401);
  assert.equal((await refresh(gated, second.refresh_token)).status, 401);
  const log = readFileSync(join(gated.home, "logs", "dashboard-auth.log"), "utf8");
  for (const secret of [first.access_token, second.refresh_token, VERIFIER])
    assert.ok(!log.includes(secret));
  for (const event of ["native_code_issued", "native_token_success", "native_token_failure"]) {
    assert.ok(log.includes(`"event":"${event}"`), event);
  }
});

test("a code works once, with its verifier, for 120 s; a wrong verifier burns it", async (t) => {
  const clock = new FakeClock();
  const gated = await openGated(t, { clock });
  const once = await codeOf(gated);
  assert.equal((await exchange(gated, once)).status, 200);
  assert.equal((await exchange(gated, once)).status, 400);
  const burnt = await codeOf(gated);
  assert.equal((await exchange(gated, burnt, "w".repeat(43))).status, 400);
  assert.equal((await exchange(gated, burnt)).status, 400);
  const late = await codeOf(gated);
  await clock.advance(120_001);
  assert.equal((await exchange(gated, late)).status, 400);
});

test("only loopback literals and S256; no more than 8 codes per address", async (t) => {
  const gated = await openGated(t);
  const cases: Record<string, string>[] = [
    { redirect_uri: "http://localhost:5000/x" },
    { redirect_uri: "https://127.0.0.1:5000/x" },
    { redirect_uri: "http://127.0.0.1/x" },
    { redirect_uri: "http://127.0.0.1.evil.test:5000/x" },
    { redirect_uri: "http://evil.test:5000/" },
    { redirect_uri: "http://u@127.0.0.1:5000/" },
    { code_challenge_method: "plain" },
    { code_challenge: "short" },
  ];
  for (const changes of cases) {
    assert.equal(
      (await gated.stranger(authorizeUrl(changes))).status,
      400,
      JSON.stringify(changes),
    );
  }
  assert.equal(
    (await gated.stranger(authorizeUrl({ redirect_uri: "http://[::1]:5000/x" }))).status,
    302,
  );
  for (let n = 0; n < 8; n++) await codeOf(gated);
  const browser = gated.browser();
  const back = new URL((await browser.get(authorizeUrl())).headers["location"] ?? "");
  assert.equal((await browser.get(`${back.pathname}${back.search}`)).status, 503);
});

test("several providers: a page to choose; an access token is no cookie and a cookie id no token", async (t) => {
  const clock = new FakeClock();
  const other = createStubProvider({ clock, name: "other" });
  const gated = await openGated(t, { clock, more: [offerStub(other)] });
  const page = await gated.stranger(authorizeUrl());
  assert.equal(page.status, 200);
  assert.ok(page.body.includes("provider=other") && page.body.includes("provider=stub"));
  const browser = gated.browser();
  await browser.login();
  const id = browser.jar.cookies.find(({ name }) => name === "hermes_session_at")?.value ?? "";
  for (const token of [id, `hat_${id}.${"x".repeat(43)}`]) {
    assert.equal((await gated.stranger("/api/auth/me", bearer(token))).status, 401);
  }
});

const PASSWORD_ENV = {
  HERMES_DASHBOARD_BASIC_AUTH_USERNAME: "ann",
  HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: "right-password-0123",
};
const RIGHT = { provider: "basic", username: "ann", password: "right-password-0123" };

async function openByPassword(t: TestContext, more: readonly Offer[] = []) {
  const clock = new FakeClock();
  const fixed = { clock, random: systemRandom, log: silentLog };
  const loaded = loadConfig({ processEnv: PASSWORD_ENV, home: tempDir(t, "hermes-settings") });
  const bundled = collectProviders(readProviderSettings(loaded), fixed);
  const gated = await openGated(t, { clock, withoutStub: true, more: [...bundled, ...more] });
  const browser = gated.browser({ headers: { origin: gated.url } });
  /** To the form of the app's login; its `state`. */
  const start = async (changes: Record<string, string> = {}): Promise<string> => {
    const begun = await browser.get(authorizeUrl(changes));
    const location = begun.headers["location"] ?? "";
    assert.match(location, /^\/login\?native=[\w-]{43}$/u);
    return location.slice("/login?native=".length);
  };
  const post = (fields: Record<string, string>) =>
    browser.get("/auth/password-login", {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(fields).toString(),
    });
  return { clock, gated, browser, start, post };
}

test("by password: the app's form, wrong and right, then the app's code; the browser gets no cookie", async (t) => {
  const { gated, browser, start, post } = await openByPassword(t);
  const native = await start();
  const page = await browser.get(`/login?native=${native}`);
  assert.ok(page.body.includes(`<input type="hidden" name="native" value="${native}">`));
  const wrong = await post({ ...RIGHT, password: "wrong", native });
  assert.deepEqual(
    [wrong.status, wrong.headers["location"]],
    [303, `/login?error=invalid&native=${native}`],
  );
  const done = await post({ ...RIGHT, native });
  assert.equal(done.status, 200);
  const url = /^0;url=(\S+)$/u.exec(done.headers["refresh"] ?? "")?.[1] ?? "";
  const target = new URL(url);
  assert.equal(`${target.origin}${target.pathname}`, GOOD.redirect_uri);
  assert.equal(target.searchParams.get("state"), "app-state");
  assert.ok(done.body.includes(`href="${url.replaceAll("&", "&amp;")}"`));
  assert.deepEqual(browser.jar.cookies, []);
  const answer = await exchange(gated, target.searchParams.get("code") ?? "");
  assert.equal(answer.json()["provider"], "basic");
  const { access_token: access, refresh_token: renew } = answer.json<Tokens>();
  const me = (await gated.stranger("/api/auth/me", bearer(access))).json();
  assert.deepEqual([me["user_id"], me["provider"]], ["ann", "basic"]);
  assert.equal((await refresh(gated, renew)).status, 200);
  // Used: the form of before opens nothing any more.
  const again = await post({ ...RIGHT, native });
  assert.deepEqual([again.status, again.headers["location"]], [303, "/login?error=expired"]);
  const asJson = await start();
  const body = { ...RIGHT, native: asJson };
  const told = await browser.get("/auth/password-login", { method: "POST", body });
  assert.match(told.json<{ next: string }>().next, /^http:\/\/127\.0\.0\.1:51234\/done\?code=/u);
});

test("by password: another browser, a state of another provider, and one that is too old open nothing", async (t) => {
  const clock = new FakeClock();
  const stub = createStubProvider({ clock });
  const { clock: time, gated, browser, start, post } = await openByPassword(t, [offerStub(stub)]);
  const native = await start({ provider: "basic" });
  const stranger = await gated.stranger("/auth/password-login", {
    method: "POST",
    body: { ...RIGHT, native },
  });
  assert.deepEqual([stranger.status, stranger.setCookies], [400, []]);
  const viaStub = await browser.get(authorizeUrl({ provider: "stub" }));
  const state = new URL(viaStub.headers["location"] ?? "").searchParams.get("state") ?? "";
  const mixed = await post({ ...RIGHT, native: state });
  assert.deepEqual([mixed.status, mixed.headers["location"]], [303, "/login?error=expired"]);
  // An issuer's answer cannot take the place of the password.
  assert.equal((await browser.get(`/auth/callback?code=stub_code&state=${native}`)).status, 400);
  const late = await start({ provider: "basic" });
  await time.advance(601_000);
  const old = await post({ ...RIGHT, native: late });
  assert.deepEqual([old.status, old.headers["location"]], [303, "/login?error=expired"]);
  assert.deepEqual(
    browser.jar.cookies.filter(({ name }) => name === "hermes_session_at"),
    [],
  );
});
