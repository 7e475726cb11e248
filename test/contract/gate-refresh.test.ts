// A login that outlives its access token (dashboard.md §6.3, §6.4; rows 34, 35), on a clock that is moved by hand.
import assert from "node:assert/strict";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { FakeClock } from "../kit/fake-clock.ts";
import { openGated } from "../kit/gated.ts";
import { openSocket } from "../kit/socket.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const MINUTE = 60_000;

function copyOf(t: TestContext, home: string): string {
  const copy = tempDir(t, "hermes-copy");
  cpSync(join(home, "dashboard"), join(copy, "dashboard"), {
    recursive: true,
    filter: (path) => !/dashboard\.(lock|json)/.test(path),
  });
  return copy;
}

async function signedIn(t: TestContext, accessSeconds: number | null, refreshable = true) {
  const clock = new FakeClock();
  const gated = await openGated(t, { clock });
  Object.assign(gated.stub.state, { accessSeconds, refreshable });
  const browser = gated.browser();
  await browser.login();
  const status = async (): Promise<number> => (await browser.get("/api/auth/me")).status;
  return { clock, gated, browser, status };
}

test("a token that is nearly over is refreshed in the background, one that is over before the answer", async (t) => {
  const { clock, gated, status } = await signedIn(t, 300);
  const hold = Promise.withResolvers<void>();
  gated.stub.state.hold = hold.promise;
  await clock.advance(239_000);
  assert.deepEqual([await status(), gated.stub.state.refreshes], [200, 0]);
  await clock.advance(2_000);
  assert.deepEqual([await status(), gated.stub.state.refreshes], [200, 1]);
  assert.deepEqual([await status(), gated.stub.state.refreshes], [200, 1]);
  hold.resolve();
  gated.stub.state.hold = null;
  await clock.advance(1_000);
  await clock.advance(298_000);
  assert.deepEqual([await status(), gated.stub.state.refreshes], [200, 2]);
});

test("rejected: 401 with deletions, and open sockets end with 4401", async (t) => {
  const { clock, gated, browser } = await signedIn(t, 300);
  const cookie = browser.jar.header("/") ?? "";
  const socket = await openSocket(gated.url, { headers: { cookie, origin: gated.url } });
  gated.stub.state.ended = true;
  await clock.advance(301_000);
  const answer = await browser.get("/api/auth/me");
  assert.deepEqual([answer.status, answer.json()["error"]], [401, "session_expired"]);
  assert.ok(answer.setCookies.some((line) => line.startsWith("hermes_session_at=;")));
  await until("the socket is closed", () => socket.closed);
  assert.equal(socket.closed?.code, 4401);
  assert.deepEqual(browser.jar.cookies, []);
});

test("an issuer that is down: live for 15 minutes, then 503 with the cookie kept, and back when it is back", async (t) => {
  const { clock, gated, browser, status } = await signedIn(t, 300);
  const cookie = browser.jar.header("/") ?? "";
  gated.stub.state.reachable = false;
  await clock.advance(5 * MINUTE + 10 * MINUTE);
  assert.equal(await status(), 200);
  const asked = gated.stub.state.refreshes;
  assert.equal(await status(), 200);
  assert.equal(gated.stub.state.refreshes, asked, "asked at most every 5 s");
  await clock.advance(6 * MINUTE);
  const stalled = await browser.get("/api/auth/me");
  assert.deepEqual(stalled.json(), {
    detail: "Auth provider 'stub' unreachable",
    code: "provider_unreachable",
  });
  assert.deepEqual(
    [stalled.status, stalled.headers["retry-after"], stalled.setCookies],
    [503, "10", []],
  );
  const page = await browser.get("/sessions", { headers: { accept: "text/html" } });
  assert.equal(page.status, 503);
  assert.ok(page.body.includes('href="/sessions"'));
  assert.equal((await browser.get("/login?fresh=1")).status, 200);
  assert.equal(Object.keys((await browser.get("/api/status")).json()).length, 11);
  const socket = await openSocket(gated.url, { headers: { cookie, origin: gated.url } });
  await until("the socket is closed", () => socket.closed);
  assert.equal(socket.closed?.code, 1013);
  gated.stub.state.reachable = true;
  await clock.advance(6_000);
  assert.equal(await status(), 200);
  const log = readFileSync(join(gated.home, "logs", "dashboard-auth.log"), "utf8");
  assert.match(
    log,
    /"event":"refresh_failure","provider":"stub","user_id":"stub-user-1","reason":"provider_unreachable"/,
  );
  assert.match(log, /"event":"refresh_success"/);
});

test("logout works while the issuer is down", async (t) => {
  const { clock, gated, browser, status } = await signedIn(t, 300);
  gated.stub.state.reachable = false;
  await clock.advance(25 * MINUTE);
  assert.equal(await status(), 503);
  const cookie = browser.jar.header("/") ?? "";
  assert.equal((await browser.post("/auth/logout")).status, 302);
  gated.stub.state.reachable = true;
  assert.equal((await gated.stranger("/api/auth/me", { headers: { cookie } })).status, 401);
});

test("access of 5 minutes, 8 hours of use: no login screen; a session ends exactly at its absolute end", async (t) => {
  const clock = new FakeClock();
  const gated = await openGated(t, {
    clock,
    config:
      "model:\n  provider: demo\n  default: demo\ndashboard:\n  session:\n    ttl_seconds: 28800\n",
  });
  const browser = gated.browser();
  await browser.login();
  for (let n = 0; n < 95; n++) {
    await clock.advance(5 * MINUTE);
    assert.equal((await browser.get("/api/auth/me")).status, 200, String(n));
  }
  await clock.advance(5 * MINUTE - 1);
  assert.equal((await browser.get("/api/auth/me")).status, 200);
  await clock.advance(1);
  assert.equal((await browser.get("/api/auth/me")).status, 401);
});

test("without a refresh token a session lives 12 hours and nobody is asked", async (t) => {
  const { clock, gated, browser, status } = await signedIn(t, 300, false);
  const me = (await browser.get("/api/auth/me")).json<{ expires_at: number }>();
  assert.equal(me.expires_at, clock.now() / 1000 + 12 * 3600);
  await clock.advance(11 * 60 * MINUTE);
  assert.equal(await status(), 200);
  await clock.advance(61 * MINUTE);
  assert.equal(await status(), 401);
  assert.equal(gated.stub.state.refreshes, 0);
});

test("the rotated token is on disk before anybody goes on: still in after a kill and a restart", async (t) => {
  const clock = new FakeClock();
  const first = await openGated(t, { clock });
  const browser = first.browser();
  await browser.login();
  await clock.advance(301_000);
  assert.equal((await browser.get("/api/auth/me")).status, 200);
  const cookie = browser.jar.header("/") ?? "";
  // Nothing is closed: what a killed process leaves is what lies on disk now.
  const second = await openGated(t, {
    clock,
    stub: first.stub,
    home: copyOf(t, first.home),
  });
  await clock.advance(301_000);
  const answer = await second.stranger("/api/auth/me", { headers: { cookie } });
  assert.equal(answer.status, 200);
  assert.equal(first.stub.state.refreshes, 2);
});
