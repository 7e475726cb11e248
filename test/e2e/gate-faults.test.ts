// What goes wrong between browser, proxy and issuer (dashboard.md §14 rows 27, 31, 38, 49): a proxy that eats the session cookie, a
// client with a secret behind default buffers, a stream through nginx, and settings that change under live sessions.
import assert from "node:assert/strict";
import { get, type IncomingMessage } from "node:http";
import { before, test } from "node:test";
import { NO_BROWSER, openProfile } from "../kit/browser.ts";
import { startCookieEater } from "../kit/cookie-eater.ts";
import {
  appIsOpen,
  BASIC,
  BASIC_ENV,
  genericForGate,
  ownCookies,
  portalForGate,
  signInAtIssuer,
  startGate,
} from "../kit/gate.ts";
import { ask, type Answer } from "../kit/http.ts";
import { HOST, NO_NGINX, startNginx } from "../kit/nginx.ts";
import { GENERIC_ACCOUNT, GENERIC_CONFIDENTIAL, MANY_GROUPS } from "../kit/oidc-generic.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";
import { buildWebApp } from "../kit/web-app.ts";

const OPTIONS = { skip: NO_BROWSER, timeout: 300_000 };
let webDist = "";

before(async () => {
  if (NO_BROWSER === false) webDist = await buildWebApp();
});

test(
  "27: a proxy that drops only the session cookie: one round, then a page that says so, and no loop",
  OPTIONS,
  async (t) => {
    const eater = await startCookieEater(t, "hermes_session_at");
    const { env } = await portalForGate(t);
    const origin = `http://${HOST}:${eater.port}`;
    const gate = await startGate(t, {
      webDist,
      env: { ...env, HERMES_DASHBOARD_PUBLIC_URL: origin },
    });
    eater.publish(gate.port);
    const context = await openProfile(t);
    const page = await context.newPage();
    const asked: string[] = [];
    page.on("request", (request) => {
      if (request.isNavigationRequest()) asked.push(new URL(request.url()).pathname);
    });
    await page.goto(`${origin}/sessions`);
    await page.waitForURL(`${origin}/login?error=cookie`);
    assert.match(await page.innerText("body"), /cookie/iu);
    assert.ok(!(await ownCookies(context)).some((line) => line.startsWith("hermes_session_at=")));
    assert.equal(asked.filter((path) => path === "/auth/login").length, 1, asked.join(" "));
    // Asked again it does not start another round by itself.
    asked.length = 0;
    await page.goto(`${origin}/sessions`);
    await page.waitForURL(`${origin}/login?error=cookie`);
    assert.equal(asked.filter((path) => path === "/auth/login").length, 0, asked.join(" "));
  },
);

test(
  "31: a client with a secret, behind nginx with default buffers: an ID token of 9 KB gets in, the cookie stays small",
  { ...OPTIONS, skip: NO_BROWSER || NO_NGINX },
  async (t) => {
    const proxy = await startNginx(t, { tls: true });
    const { issuer, env } = await genericForGate(t);
    issuer.state.account = { ...GENERIC_ACCOUNT, groups: MANY_GROUPS };
    const gate = await startGate(t, {
      webDist,
      env: {
        ...env,
        HERMES_DASHBOARD_OIDC_CLIENT_ID: GENERIC_CONFIDENTIAL.id,
        HERMES_DASHBOARD_OIDC_CLIENT_SECRET: GENERIC_CONFIDENTIAL.secret,
        HERMES_DASHBOARD_PUBLIC_URL: proxy.url,
      },
    });
    await proxy.publish(gate.port);
    const context = await openProfile(t);
    const page = await context.newPage();
    await page.goto(`${proxy.url}/sessions`);
    await page.waitForURL(`${proxy.url}/sessions`);
    await appIsOpen(page);
    const cookie = (await ownCookies(context)).join("; ");
    assert.ok(cookie.length < 1024, String(cookie.length));
  },
);

/** By a program: no browser needed. */
async function signIn(url: string, host: string): Promise<string> {
  const answer = await ask(`${url}/auth/password-login`, {
    method: "POST",
    headers: { host, origin: `http://${host}`, accept: "application/json" },
    body: { provider: "basic", ...BASIC },
  });
  assert.equal(answer.status, 200, answer.body);
  return answer.setCookies.map((line) => line.split(";", 1)[0]).join("; ");
}

const me = (port: number, cookie: string): Promise<Answer> =>
  ask(`http://127.0.0.1:${port}/api/auth/me`, { headers: { cookie, host: `${HOST}:${port}` } });

test(
  "38: a changed session secret, and a changed password, end the logins of before",
  { ...OPTIONS, skip: false },
  async (t) => {
    const home = tempDir(t, "hermes-home");
    const dist = tempDir(t, "hermes-web");
    const start = (env: Readonly<Record<string, string>>) =>
      startGate(t, { webDist: dist, home, env });
    const secret = (letter: string): Record<string, string> => ({
      ...BASIC_ENV,
      HERMES_DASHBOARD_SESSION_SECRET: letter.repeat(44),
    });
    const first = await start(secret("a"));
    const cookie = await signIn(first.url, `${HOST}:${first.port}`);
    assert.equal((await me(first.port, cookie)).status, 200);
    first.run.child.kill("SIGTERM");
    await first.run.ended;

    const same = await start(secret("a"));
    assert.equal((await me(same.port, cookie)).status, 200);
    same.run.child.kill("SIGTERM");
    await same.run.ended;

    const rotated = await start(secret("b"));
    assert.equal((await me(rotated.port, cookie)).status, 401);
    const again = await signIn(rotated.url, `${HOST}:${rotated.port}`);
    rotated.run.child.kill("SIGTERM");
    await rotated.run.ended;

    const other = await start({
      ...secret("b"),
      HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: "another long password",
    });
    assert.equal((await me(other.port, again)).status, 401);
  },
);

test(
  "38: another client id at the portal ends the logins of before",
  { ...OPTIONS, skip: false },
  async (t) => {
    const { env } = await portalForGate(t);
    const home = tempDir(t, "hermes-home");
    const webDist = tempDir(t, "hermes-web");
    const start = (more: Readonly<Record<string, string>> = {}) =>
      startGate(t, { webDist, home, env: { ...env, ...more } });
    const first = await start();
    const cookie = await signInAtIssuer(first, "nous");
    assert.equal((await me(first.port, cookie)).status, 200);
    first.run.child.kill("SIGTERM");
    await first.run.ended;
    const same = await start();
    assert.equal((await me(same.port, cookie)).status, 200);
    same.run.child.kill("SIGTERM");
    await same.run.ended;

    const other = await start({ HERMES_DASHBOARD_OAUTH_CLIENT_ID: "agent:inst-2" });
    const refused = await me(other.port, cookie);
    assert.deepEqual([refused.status, refused.json()["error"]], [401, "session_expired"]);
  },
);

test(
  "49: an event stream through nginx with default buffers: text arrives while the turn runs",
  { ...OPTIONS, skip: NO_NGINX },
  async (t) => {
    const proxy = await startNginx(t, { idleSeconds: 20 });
    const gate = await startGate(t, {
      webDist: tempDir(t, "hermes-web"),
      env: {
        ...BASIC_ENV,
        HERMES_DEMO_DELAY_MS: "40",
        HERMES_DASHBOARD_TRUSTED_PROXIES: "loopback",
      },
    });
    await proxy.publish(gate.port);
    const url = `http://127.0.0.1:${proxy.port}`;
    const host = `${HOST}:${proxy.port}`;
    const cookie = await signIn(url, host);
    const headers = { cookie, host, origin: `http://${host}` };
    const begun = await ask(`${url}/api/chat/sessions`, { method: "POST", headers, body: {} });
    assert.ok(begun.status < 300, begun.body);
    const id = String(begun.json()["session_id"]);
    let text = "";
    const stream = await new Promise<IncomingMessage>((resolve, reject) => {
      get(
        `${url}/api/chat/sessions/${id}/events`,
        { headers: { ...headers, accept: "text/event-stream" } },
        resolve,
      ).on("error", reject);
    });
    t.after(() => stream.destroy());
    assert.equal(stream.statusCode, 200);
    stream.setEncoding("utf8").on("data", (part: string) => (text += part));
    const sent = await ask(`${url}/api/chat/sessions/${id}/messages`, {
      method: "POST",
      headers,
      body: { text: "stream 100", client_message_id: "00000000-0000-4000-8000-000000000001" },
    });
    assert.ok(sent.status < 300, sent.body);
    await until(
      "a first piece of text through the proxy",
      () => text.includes("text-delta") || text.includes("delta"),
    );
    assert.ok(!text.includes("turn-end"), "nginx held the stream until the turn was over");
    await until("the end of the turn", () => text.includes("turn-end"), 30_000);
  },
);
