// Sessions of a user: seen, ended, checked again; fresh logins; bearers; sockets (dashboard.md §3.1, §6.7, §9.1; rows 38, 39, 44, 46, 54).
import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sessionsFolder } from "#auth/sessions/session-folder.ts";
import type { AuthSessionsBody } from "#protocol/http-status.ts";
import { FakeClock } from "../kit/fake-clock.ts";
import { openGated } from "../kit/gated.ts";
import { openEvents } from "../kit/http.ts";
import { openSocket, type TestSocket } from "../kit/socket.ts";
import { createStubProvider } from "../kit/stub-provider.ts";
import { until } from "../kit/until.ts";

const KEY = "sk-planted-0123456789";
const MINUTE = 60_000;

test("a user sees their sessions, ends one, then all; streams end with them", async (t) => {
  const gated = await openGated(t);
  const [a, b] = [
    gated.browser({ headers: { "user-agent": "A" } }),
    gated.browser({ headers: { "user-agent": "B" } }),
  ];
  await a.login();
  await b.login();
  const { sessions: rows } = (await a.get("/api/auth/sessions")).json<AuthSessionsBody>();
  assert.deepEqual(
    Object.keys(rows[0] ?? {}).sort(),
    "created_at current id ip kind last_seen_at provider user_agent".split(" "),
  );
  assert.deepEqual(
    new Map(rows.map((row) => [row.user_agent, row.current])),
    new Map([
      ["A", true],
      ["B", false],
    ]),
  );
  const cookieOfB = b.jar.header("/") ?? "";
  const stream = openEvents(`${gated.url}/api/events`, { cookie: cookieOfB });
  await until("the stream is open", () => stream.seen.status === 200);
  const other = rows.find(({ current }) => !current)?.id ?? "";
  assert.equal((await a.get(`/api/auth/sessions/${other}`, { method: "DELETE" })).status, 200);
  await until("the stream ends", () => stream.seen.ended, 2000);
  assert.equal((await a.get(`/api/auth/sessions/${other}`, { method: "DELETE" })).status, 404);
  assert.equal((await b.get("/api/auth/me")).status, 401);
  await b.login();
  const cookie = a.jar.header("/") ?? "";
  const all = await a.post("/auth/logout-all");
  assert.deepEqual(all.json(), { ok: true, ended: 2 });
  assert.deepEqual(a.jar.cookies, []);
  for (const headers of [{ cookie }, { cookie: b.jar.header("/") ?? "" }]) {
    assert.equal((await gated.stranger("/api/sessions", { headers })).status, 401);
  }
  assert.deepEqual(readdirSync(sessionsFolder(gated.home)), []);
});

test("a removed record: class R sees it at once, sockets close within 2 s", async (t) => {
  const clock = new FakeClock();
  const gated = await openGated(t, { clock });
  const browser = gated.browser();
  await browser.login();
  const cookie = browser.jar.header("/") ?? "";
  const socket = await openSocket(gated.url, { headers: { cookie, origin: gated.url } });
  const [name = ""] = readdirSync(sessionsFolder(gated.home));
  rmSync(join(sessionsFolder(gated.home), name));
  await clock.advance(1_000);
  await until("the socket is closed", () => socket.closed);
  assert.equal(socket.closed?.code, 4401);
  const again = gated.browser();
  await again.login();
  const [next = ""] = readdirSync(sessionsFolder(gated.home));
  rmSync(join(sessionsFolder(gated.home), next));
  assert.equal((await again.get("/api/config/raw")).status, 401);
});

test("reveal: stranger 401, old login 403 with the way, fresh login the value, audited by name", async (t) => {
  const clock = new FakeClock();
  const gated = await openGated(t, { clock, dotEnv: `OPENAI_API_KEY=${KEY}\n` });
  const question = { body: { key: "OPENAI_API_KEY" }, method: "POST" };
  assert.equal((await gated.stranger("/api/env/reveal", question)).status, 401);
  const browser = gated.browser();
  await browser.login();
  const fresh = await browser.get("/api/env/reveal", question);
  assert.equal(fresh.json()["value"], KEY);
  await clock.advance(15 * MINUTE + 1000);
  const old = await browser.get("/api/env/reveal", question);
  assert.deepEqual(
    [old.status, old.json()],
    [
      403,
      {
        detail: "Sign in again to do this",
        code: "reauth_required",
        login_url: "/login?fresh=1&error=reauth",
      },
    ],
  );
  const page = await browser.get("/login?fresh=1&error=reauth&next=%2Fenv");
  assert.equal(page.status, 200);
  assert.ok(page.body.includes("provider=stub&next=%2Fenv&fresh=1"));
  await browser.login();
  assert.equal((await browser.get("/api/env/reveal", question)).status, 200);
  const text = `${readFileSync(join(gated.home, "logs", "dashboard-auth.log"), "utf8")}${gated.logLines.join()}`;
  assert.match(text, /"event":"env_revealed"/);
  assert.ok(!text.includes(KEY));
});

test("guarded settings need a fresh login, the others do not; the gate's own keys are closed", async (t) => {
  const clock = new FakeClock();
  const gated = await openGated(t, { clock });
  const browser = gated.browser();
  await browser.login();
  const put = async (change: (config: Record<string, never>) => object) => {
    const config = (await browser.get("/api/config")).json<Record<string, never>>();
    return browser.get("/api/config", { method: "PUT", body: { config: change(config) } });
  };
  await clock.advance(16 * MINUTE);
  const guarded = await put((config) => ({ ...config, plugins: { enabled: ["x"], disabled: [] } }));
  assert.deepEqual([guarded.status, guarded.json()["code"]], [403, "reauth_required"]);
  assert.equal(guarded.json()["login_url"], "/login?fresh=1&error=reauth");
  const gate = await put((config) => ({
    ...config,
    dashboard: { ...(config["dashboard"] as unknown as object), public_url: "https://e.example" },
  }));
  assert.equal(gate.status, 400);
  await browser.login();
  assert.equal(
    (await put((config) => ({ ...config, plugins: { enabled: ["x"], disabled: [] } }))).status,
    200,
  );
});

test("bearers: garbage is 401 with the challenge and counted; a live cookie wins over any Authorization", async (t) => {
  const gated = await openGated(t);
  const wrong = { headers: { authorization: "Bearer nonsense" } };
  const refused = await gated.stranger("/api/sessions", wrong);
  assert.deepEqual([refused.status, refused.headers["www-authenticate"]], [401, "Bearer"]);
  assert.equal(refused.json()["error"], "session_expired");
  const browser = gated.browser();
  await browser.login();
  for (const authorization of ["Basic YTpi", "Bearer nonsense"]) {
    const answer = await browser.get("/api/auth/me", { headers: { authorization } });
    assert.equal(answer.status, 200, authorization);
  }
  for (let n = 0; n < 29; n++) await gated.stranger("/api/sessions", wrong);
  const limited = await gated.stranger("/api/sessions", wrong);
  assert.equal(limited.status, 429);
  assert.ok(Number(limited.headers["retry-after"]) > 0);
  assert.equal((await gated.stranger("/api/sessions")).status, 401, "no credential is no failure");
});

test("sixty calls of a stranger set no cookie and are not audited; garbage is, once a minute", async (t) => {
  const gated = await openGated(t);
  for (let n = 0; n < 60; n++) {
    assert.deepEqual((await gated.stranger("/api/sessions")).setCookies, []);
  }
  const cookie = "hermes_session_at=garbage";
  for (let n = 0; n < 5; n++) await gated.stranger("/api/sessions", { headers: { cookie } });
  const log = readFileSync(join(gated.home, "logs", "dashboard-auth.log"), "utf8");
  assert.deepEqual(
    log
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { event: string }).event),
    ["session_verify_failure"],
  );
});

test("upgrades: own Origin, foreign, none; tickets to the second; peer address plays no part", async (t) => {
  const clock = new FakeClock();
  const gated = await openGated(t, { clock });
  const browser = gated.browser();
  await browser.login();
  const ticket = async () =>
    (await browser.post("/api/auth/ws-ticket")).json<{ ticket: string; ttl_seconds: number }>();
  const exact = await ticket();
  assert.match(exact.ticket, /^[\w-]{43}$/);
  assert.equal(exact.ttl_seconds, 30);
  const late = await ticket();
  await clock.advance(30_000);
  const inTime = await openSocket(gated.url, { query: `?ticket=${exact.ticket}` });
  assert.equal(inTime.closed, null);
  await clock.advance(1);
  const over = await openSocket(gated.url, { query: `?ticket=${late.ticket}` });
  await until("it is closed", () => over.closed);
  assert.equal(over.closed?.code, 4401);
  const cookie = browser.jar.header("/") ?? "";
  const evil = await openSocket(gated.url, { headers: { cookie, origin: "https://evil.test" } });
  assert.equal(evil.closed?.code, 1006);
  const token = await openSocket(gated.url, { query: `?token=${gated.token}` });
  await until("the local token opens nothing", () => token.closed);
  assert.equal(token.closed?.code, 4401);
  await browser.post("/auth/logout");
  await until("the socket ends with its session", () => inTime.closed);
  const log = readFileSync(join(gated.home, "logs", "dashboard-auth.log"), "utf8");
  assert.match(log, /"event":"ws_ticket_rejected","reason":"expired"/);
  assert.ok(!log.includes(late.ticket) && !log.includes(exact.ticket));
});

test("a ticket dies with its session; 32 sockets per session, the 33rd gets 4429", async (t) => {
  const gated = await openGated(t);
  const browser = gated.browser();
  await browser.login();
  const { ticket } = (await browser.post("/api/auth/ws-ticket")).json<{ ticket: string }>();
  const cookie = browser.jar.header("/") ?? "";
  const headers = { cookie, origin: gated.url };
  const sockets = await Promise.all(
    Array.from({ length: 32 }, () => openSocket(gated.url, { headers })),
  );
  assert.ok(sockets.every(({ closed }) => closed === null));
  const more = await openSocket(gated.url, { headers });
  await until("the 33rd is closed", () => more.closed);
  assert.equal(more.closed?.code, 4429);
  await browser.post("/auth/logout");
  const orphan = await openSocket(gated.url, { query: `?ticket=${ticket}` });
  await until("the orphaned ticket is refused", () => orphan.closed);
  assert.equal(orphan.closed?.code, 4401);
  await until("all sockets are gone", () => gated.running.counts().sockets === 0);
});

test("256 sockets in all: the 257th of nine logins gets 4429; when one leaves there is room again", async (t) => {
  const gated = await openGated(t);
  const open = async (browser: ReturnType<typeof gated.browser>) => {
    const headers = { cookie: browser.jar.header("/") ?? "", origin: gated.url };
    return openSocket(gated.url, { headers });
  };
  const sockets: TestSocket[] = [];
  for (let login = 0; login < 8; login++) {
    const browser = gated.browser();
    await browser.login();
    sockets.push(...(await Promise.all(Array.from({ length: 32 }, () => open(browser)))));
  }
  assert.ok(sockets.every(({ closed }) => closed === null));
  assert.equal(gated.running.counts().sockets, 256);
  const last = gated.browser();
  await last.login();
  const refused = await open(last);
  await until("the 257th is closed", () => refused.closed);
  assert.equal(refused.closed?.code, 4429);
  sockets[0]?.cut();
  await until("the first is gone", () => gated.running.counts().sockets === 255);
  const taken = await open(last);
  assert.deepEqual([taken.closed, gated.running.counts().sockets], [null, 256]);
  for (const socket of [...sockets, taken]) socket.cut();
  await until("all are gone", () => gated.running.counts().sockets === 0, 5000);
});

test("the status tells a signed-in caller everything, and takes an invalid credential for none", async (t) => {
  const gated = await openGated(t);
  const browser = gated.browser();
  await browser.login();
  const full = (await browser.get("/api/status")).json();
  assert.equal(Object.keys(full).length, 18);
  assert.equal(full["hermes_home"], gated.home);
  for (const headers of [
    { cookie: "hermes_session_at=x" },
    { authorization: "Bearer x" },
  ] as const) {
    const answer = await gated.stranger("/api/status", { headers: { ...headers } });
    assert.equal(Object.keys(answer.json()).length, 11);
    assert.deepEqual(answer.setCookies, []);
  }
});

test("a provider that is set up anew ends its sessions", async (t) => {
  const clock = new FakeClock();
  const first = await openGated(t, { clock, stub: createStubProvider({ clock, epochSeed: "a" }) });
  const browser = first.browser();
  await browser.login();
  const cookie = browser.jar.header("/") ?? "";
  await first.running.stop();
  const stub = createStubProvider({ clock, epochSeed: "b" });
  const second = await openGated(t, { clock, home: first.home, stub });
  assert.equal((await second.stranger("/api/auth/me", { headers: { cookie } })).status, 401);
});
