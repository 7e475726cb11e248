// An app on the visitor's machine signs in through a real browser (dashboard.md §8.2, §14 row 45; RFC 8252): at the portal, and with
// a password. The app listens on loopback, fetches its tokens and opens a socket with them.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { NO_BROWSER, openProfile } from "../kit/browser.ts";
import {
  allLogs,
  BASIC_ENV,
  type Gate,
  ownCookies,
  portalForGate,
  signInByPassword,
  startGate,
} from "../kit/gate.ts";
import { ask } from "../kit/http.ts";
import { openSocket } from "../kit/socket.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const OPTIONS = { skip: NO_BROWSER, timeout: 120_000 };

interface App {
  readonly authorize: string;
  /** What the browser brought. */
  came(): URLSearchParams | null;
  /** Access token for the code. */
  fetchToken(code: string): Promise<string>;
}

async function startApp(t: TestContext, gate: Gate): Promise<App> {
  let query: URLSearchParams | null = null;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    if (url.pathname === "/done") query = url.searchParams;
    response.end("The app has what it needs.");
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const verifier = randomBytes(32).toString("base64url");
  const parameters = new URLSearchParams({
    redirect_uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/done`,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    state: "what-the-app-knows",
  });
  return {
    authorize: `${gate.origin}/auth/native/authorize?${parameters.toString()}`,
    came: () => query,
    async fetchToken(code) {
      const body = { code, code_verifier: verifier };
      const answer = await ask(`${gate.url}/auth/native/token`, { method: "POST", body });
      assert.equal(answer.status, 200, answer.body);
      return String(answer.json()["access_token"]);
    },
  };
}

/** The app is in: it asks, and opens a socket, which has no Origin. */
async function expectIn(app: App, gate: Gate, user: string): Promise<void> {
  const query = await until("the browser comes to the app", () => app.came());
  assert.equal(query.get("state"), "what-the-app-knows");
  const code = query.get("code") ?? "";
  const token = await app.fetchToken(code);
  const headers = { authorization: `Bearer ${token}` };
  const me = await ask(`${gate.url}/api/auth/me`, { headers });
  assert.deepEqual([me.status, me.json()["user_id"]], [200, user]);
  const minted = await ask(`${gate.url}/api/auth/ws-ticket`, { method: "POST", headers });
  const { ticket } = minted.json<{ ticket: string }>();
  const socket = await openSocket(gate.url, { query: `?ticket=${ticket}` });
  assert.deepEqual([socket.closed, socket.frames[0]?.type], [null, "ready"]);
  await ask(`${gate.url}/auth/logout`, { method: "POST", headers });
  await until("the socket ends with the login", () => socket.closed, 2000);
  assert.equal(socket.closed?.code, 4401);
  assert.equal((await ask(`${gate.url}/api/auth/me`, { headers })).status, 401);
  const logs = allLogs(gate);
  for (const secret of [code, token, ticket]) assert.ok(!logs.includes(secret));
}

test("at the portal: the browser ends at the app, without a cookie of ours", OPTIONS, async (t) => {
  const { env } = await portalForGate(t);
  const gate = await startGate(t, { webDist: tempDir(t, "hermes-web"), env });
  const app = await startApp(t, gate);
  const context = await openProfile(t);
  const page = await context.newPage();
  await page.goto(app.authorize);
  await page.getByText("The app has what it needs.").waitFor();
  assert.deepEqual(await ownCookies(context), []);
  await expectIn(app, gate, "portal-user-1");
});

test(
  "with a password: wrong, then right; the browser goes on to the app by itself",
  OPTIONS,
  async (t) => {
    const gate = await startGate(t, { webDist: tempDir(t, "hermes-web"), env: BASIC_ENV });
    const app = await startApp(t, gate);
    const context = await openProfile(t);
    const page = await context.newPage();
    await page.goto(app.authorize);
    await page.getByLabel("User name").fill("admin");
    await page.getByLabel("Password", { exact: true }).fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").waitFor();
    assert.equal(app.came(), null);
    await signInByPassword(page);
    await page.getByText("The app has what it needs.").waitFor();
    assert.deepEqual(await ownCookies(context), []);
    await expectIn(app, gate, "admin");
  },
);
