// The dashboard behind a real nginx, in a real browser (dashboard.md §14 rows 21, 29, 31, 40).
import assert from "node:assert/strict";
import { before, test, type TestContext } from "node:test";
import { NO_BROWSER, openPage, openProfile, watchPage } from "../kit/browser.ts";
import { crawl } from "../kit/crawl.ts";
import type { BrowserContext, Page, Response } from "playwright-core";
import {
  allLogs,
  appIsOpen,
  BASIC_ENV,
  fetchIn,
  genericForGate,
  ownCookies,
  portalForGate,
  setCookieLines,
  signInByPassword,
  signOut,
  startGate,
} from "../kit/gate.ts";
import { NO_NGINX, startNginx, type Nginx } from "../kit/nginx.ts";
import { GENERIC_ACCOUNT, MANY_GROUPS } from "../kit/oidc-generic.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { buildWebApp } from "../kit/web-app.ts";
import { startWebServer } from "../kit/web-server.ts";

const OPTIONS = { skip: NO_BROWSER || NO_NGINX, timeout: 300_000 };
let webDist = "";

before(async () => {
  if (OPTIONS.skip === false) webDist = await buildWebApp();
});

/** An open dashboard on loopback, published by nginx under another name. */
async function startLocal(t: TestContext, proxy: Nginx) {
  const env = {
    HERMES_DASHBOARD_ALLOWED_HOSTS: "agent.example.test",
    HERMES_DASHBOARD_TRUSTED_PROXIES: "loopback",
  };
  const server = await startWebServer(t, { home: tempDir(t), webDist, demo: true, env });
  await proxy.publish(Number(new URL(server.url).port));
  return server;
}

for (const { prefix, strips } of [
  { prefix: "", strips: true },
  { prefix: "/hermes", strips: true },
  { prefix: "/hermes", strips: false },
]) {
  const how = prefix === "" ? "at /" : `at ${prefix}, ${strips ? "cut off" : "passed on"}`;
  test(
    `open dashboard behind nginx ${how}: chat, deep link, every address answers`,
    OPTIONS,
    async (t) => {
      const proxy = await startNginx(t, { prefix, strips });
      await startLocal(t, proxy);
      const { page, complaints } = await openPage(t, proxy.origin);
      await page.goto(`${proxy.url}/chat`);
      await appIsOpen(page);
      await page.getByRole("textbox", { name: "Message" }).fill("hello there");
      await page.keyboard.press("Enter");
      await page.getByTestId("assistant-message").getByText("You said: hello there").waitFor();
      await page.waitForURL(`${proxy.url}/chat/*`);
      await page.reload();
      await page.getByTestId("assistant-message").getByText("You said: hello there").waitFor();
      const { asked, bad } = await crawl(page, prefix, [`${prefix}/`, `${prefix}/chat`]);
      assert.deepEqual(bad, []);
      for (const kind of ["chat-page", "markdown", ".css", ".svg"]) {
        assert.ok(
          asked.some((line) => line.includes(kind)),
          `${kind} in ${asked.join("\n")}`,
        );
      }
      assert.deepEqual(complaints, []);
    },
  );
}

/** One cookie as a browser is told about it: attributes in order, its value and age apart. */
interface CookieLine {
  readonly name: string;
  readonly age: string;
  readonly attributes: readonly string[];
}

function parseCookieLine(line: string): CookieLine {
  const [pair = "", ...attributes] = line.split("; ");
  const age = attributes.find((attribute) => attribute.startsWith("Max-Age=")) ?? "";
  return {
    name: pair.slice(0, pair.indexOf("=")),
    age: age.slice("Max-Age=".length),
    attributes: attributes.filter((attribute) => attribute !== age).toSorted(),
  };
}

/** What the origin's answers said while the browser went its way. */
function recordAnswers(context: BrowserContext, origin: string) {
  const answers: Response[] = [];
  context.on("response", (response) => {
    if (response.url().startsWith(`${origin}/`)) answers.push(response);
  });
  return {
    async cookieLines(): Promise<CookieLine[]> {
      const lines = await Promise.all(answers.map(setCookieLines));
      return lines.flat().map(parseCookieLine);
    },
    async locations(): Promise<string[]> {
      const all = await Promise.all(answers.map((answer) => answer.headerValue("location")));
      return all.flatMap((location) => location ?? []);
    },
    failed: () =>
      answers.filter((answer) => answer.status() >= 400).map((a) => `${a.status()} ${a.url()}`),
  };
}

async function converse(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/chat`);
  await page.getByRole("textbox", { name: "Message" }).fill("hello there");
  await page.keyboard.press("Enter");
  await page.getByTestId("assistant-message").getByText("You said: hello there").waitFor();
  await page.waitForURL(`${url}/chat/*`);
  await page.reload();
  await page.getByTestId("assistant-message").getByText("You said: hello there").waitFor();
}

for (const { prefix, mark } of [
  { prefix: "", mark: "__Host-" },
  { prefix: "/hermes", mark: "__Secure-" },
]) {
  test(
    `portal behind nginx with TLS at ${prefix}/: in, chat, sign-out; cookies ${mark} to the attribute`,
    OPTIONS,
    async (t) => {
      const proxy = await startNginx(t, { prefix, tls: true });
      const { issuer, env } = await portalForGate(t);
      const gate = await startGate(t, {
        webDist,
        env: { ...env, HERMES_DASHBOARD_PUBLIC_URL: proxy.url },
      });
      await proxy.publish(gate.port);
      const context = await openProfile(t);
      const page = await context.newPage();
      const complaints = watchPage(page, [
        proxy.origin,
        proxy.origin.replace("https", "wss"),
        issuer.url,
      ]);
      const answers = recordAnswers(context, proxy.origin);
      const sockets: string[] = [];
      page.on("websocket", (socket) => void sockets.push(socket.url()));
      await page.goto(`${proxy.url}/models?d=30`);
      await page.waitForURL(`${proxy.url}/models?d=30`);
      await appIsOpen(page);
      await converse(page, proxy.url);
      assert.ok(
        sockets.every((url) => url.startsWith(`${proxy.url.replace("https", "wss")}/api/ws?`)),
        sockets.join(),
      );
      const me = await fetchIn<{ org_id: string }>(page, `${prefix}/api/auth/me`);
      assert.deepEqual([me.status, me.body.org_id], [200, "org-1"]);

      const attributes = (sameSite: string): string[] => [
        "HttpOnly",
        `Path=${prefix === "" ? "/" : prefix}`,
        `SameSite=${sameSite}`,
        "Secure",
      ];
      const set = (await answers.cookieLines()).filter(({ age }) => age !== "0");
      const session = set.find(({ name }) => name === `${mark}hermes_session_at`);
      assert.ok(Math.abs(Number(session?.age) - 30 * 86_400) < 60, String(session?.age));
      assert.deepEqual(
        set.map(({ name, age, attributes: given }) => [
          name,
          name.endsWith("_at") ? "" : age,
          given,
        ]),
        [
          [`${mark}hermes_sso_attempt`, "60", attributes("Lax")],
          [`${mark}hermes_session_pkce`, "600", attributes("None")],
          [`${mark}hermes_session_at`, "", attributes("Lax")],
          [`${mark}hermes_sso_attempt`, "60", attributes("Lax")],
        ],
      );
      const jar = await context.cookies(proxy.url);
      assert.ok(jar.every(({ domain }) => domain === "agent.example.test"));

      const before = answers.failed();
      await signOut(page, `${proxy.url}/login?logged_out=1`);
      assert.deepEqual(before, []);
      assert.deepEqual(await ownCookies(context), []);
      const deleted = (await answers.cookieLines()).filter(({ age }) => age === "0");
      for (const { name, attributes: given } of set) {
        const deletion = deleted.find((line) => line.name === name);
        assert.deepEqual(deletion?.attributes, given, name);
      }
      const foreign = (await answers.locations()).filter(
        (location) =>
          !location.startsWith(`${prefix}/`) && !location.startsWith(`${issuer.url}/oauth/`),
      );
      assert.deepEqual(foreign, []);
      assert.deepEqual(complaints, []);
    },
  );
}

for (const strips of [true, false]) {
  test(
    `password behind nginx with TLS, the prefix only in headers, ${strips ? "cut off" : "passed on"}: every address answers`,
    OPTIONS,
    async (t) => {
      const prefix = "/hermes";
      const proxy = await startNginx(t, { prefix, strips, tls: true });
      const gate = await startGate(t, { webDist, env: BASIC_ENV });
      await proxy.publish(gate.port);
      const context = await openProfile(t);
      const page = await context.newPage();
      const complaints = watchPage(page, [proxy.origin]);
      const answers = recordAnswers(context, proxy.origin);
      await page.goto(`${proxy.url}/`);
      assert.equal(page.url(), `${proxy.url}/login?next=%2F`);
      const atLogin = await crawl(page, prefix, [`${prefix}/login`]);
      assert.deepEqual(atLogin.bad, []);
      await signInByPassword(page);
      await page.waitForURL(`${proxy.url}/chat`);
      await appIsOpen(page);
      await converse(page, proxy.url);
      const inside = await crawl(page, prefix, [`${prefix}/`, `${prefix}/chat`]);
      assert.deepEqual(inside.bad, []);
      for (const kind of ["chat-page", "markdown", ".css", ".svg"]) {
        assert.ok(
          inside.asked.some((line) => line.includes(kind)),
          kind,
        );
      }
      const names = (await ownCookies(context)).map((cookie) => cookie.replace(/=.*/, ""));
      assert.deepEqual(
        names.toSorted((a, b) => a.localeCompare(b)),
        ["__Secure-hermes_session_at", "__Secure-hermes_sso_attempt"],
      );
      assert.deepEqual(answers.failed(), []);
      await signOut(page, `${proxy.url}/login?logged_out=1`);
      assert.deepEqual(await ownCookies(context), []);
      assert.deepEqual(
        (await answers.locations()).filter((location) => !location.startsWith(`${prefix}/`)),
        [],
      );
      assert.deepEqual(complaints, []);
    },
  );
}

for (const { scopes, days } of [
  { scopes: "openid profile email", days: 0.5 },
  { scopes: "openid profile email offline_access", days: 30 },
]) {
  test(
    `generic issuer, ${scopes}: an ID token of 9 KB through default buffers, a session of ${days} days`,
    OPTIONS,
    async (t) => {
      const proxy = await startNginx(t, { tls: true });
      const { issuer, env } = await genericForGate(t);
      issuer.state.account = { ...GENERIC_ACCOUNT, groups: MANY_GROUPS };
      const gate = await startGate(t, {
        webDist,
        env: {
          ...env,
          HERMES_DASHBOARD_OIDC_SCOPES: scopes,
          HERMES_DASHBOARD_PUBLIC_URL: proxy.url,
        },
      });
      await proxy.publish(gate.port);
      const context = await openProfile(t);
      const page = await context.newPage();
      const answers = recordAnswers(context, proxy.origin);
      const authorize = page.waitForRequest((request) =>
        request.url().startsWith(`${issuer.url}/auth?`),
      );
      await page.goto(`${proxy.url}/sessions`);
      await page.waitForURL(`${proxy.url}/sessions`);
      await appIsOpen(page);
      const prompt = new URL((await authorize).url()).searchParams.get("prompt");
      assert.equal(prompt, scopes.includes("offline_access") ? "consent" : null);
      const me = await fetchIn<{ user_id: string; expires_at: number }>(page, "/api/auth/me");
      assert.equal(me.body.user_id, "user-1");
      const left = me.body.expires_at - Date.now() / 1000;
      assert.ok(Math.abs(left - days * 86_400) < 120, String(left));
      const cookie = (await ownCookies(context)).join("; ");
      assert.ok(cookie.length < 1024, String(cookie.length));
      assert.deepEqual(answers.failed(), []);
      assert.doesNotMatch(allLogs(gate), /eyJ[A-Za-z0-9_-]{20,}/);
    },
  );
}
