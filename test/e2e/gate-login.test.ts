// Signing in and out in a real browser, against real issuers (dashboard.md §14 rows 4, 26, 27, 29, 36, 38, 41, 63).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test, type TestContext } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { axeViolations } from "../kit/axe.ts";
import { NO_BROWSER, openProfile, openProfileWithoutCookies, watchPage } from "../kit/browser.ts";
import { PROJECT, runCli } from "../kit/cli.ts";
import {
  allLogs,
  appIsOpen,
  askAs,
  BASIC,
  BASIC_ENV,
  fetchIn,
  type Gate,
  ownCookies,
  portalForGate,
  signInByPassword,
  signOut,
  startGate,
} from "../kit/gate.ts";
import type { Issuer } from "../kit/oidc-issuer.ts";
import { until } from "../kit/until.ts";
import { buildWebApp } from "../kit/web-app.ts";

const OPTIONS = { skip: NO_BROWSER, timeout: 300_000 };
let webDist = "";

before(async () => {
  if (NO_BROWSER === false) webDist = await buildWebApp();
});

const byText = (a: string, b: string): number => a.localeCompare(b);

interface Visit {
  readonly gate: Gate;
  readonly issuer: Issuer;
  readonly context: BrowserContext;
  readonly page: Page;
  readonly complaints: string[];
}

async function openPortal(t: TestContext): Promise<Visit> {
  const { issuer, env } = await portalForGate(t);
  const gate = await startGate(t, { webDist, env });
  const context = await openProfile(t);
  const page = await context.newPage();
  return { gate, issuer, context, page, complaints: watchPage(page, [gate.origin, issuer.url]) };
}

async function openBasic(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const gate = await startGate(t, { webDist, env: { ...BASIC_ENV, ...env } });
  const context = await openProfile(t);
  const page = await context.newPage();
  return { gate, context, page, complaints: watchPage(page, [gate.origin]) };
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
  await page.getByTestId("assistant-message").getByText(`You said: ${text}`).waitFor();
}

test(
  "portal: a deep link goes to the portal and comes back to the page; no token reaches the browser or a log",
  OPTIONS,
  async (t) => {
    const { gate, issuer, context, page, complaints } = await openPortal(t);
    const urls: string[] = [];
    page.on("request", (request) => void urls.push(request.url()));
    await page.goto(`${gate.origin}/logs?level=error`);
    await page.waitForURL(`${gate.origin}/logs?level=error`);
    await appIsOpen(page);
    await page.goto(`${gate.origin}/chat`);
    await say(page, "hello there");

    const me = await fetchIn<Record<string, string>>(page, "/api/auth/me");
    assert.deepEqual(
      [me.status, me.body["user_id"], me.body["org_id"], me.body["provider"]],
      [200, "portal-user-1", "org-1", "nous"],
    );
    const cookies = await context.cookies(gate.origin);
    assert.deepEqual(
      cookies
        .map(({ name, httpOnly, sameSite }) => `${name} ${httpOnly} ${sameSite}`)
        .toSorted(byText),
      ["hermes_session_at true Lax", "hermes_sso_attempt true Lax"],
    );
    const session = cookies.find(({ name }) => name === "hermes_session_at")?.value ?? "";
    assert.match(session, /^[A-Za-z0-9_-]{43}$/);
    assert.equal(await page.evaluate("document.cookie"), "");
    const ofGate = urls.filter((url) => url.startsWith(gate.origin)).join("\n");
    const texts = { ofGate, logs: allLogs(gate), page: await page.content() };
    for (const [where, text] of Object.entries(texts)) {
      assert.doesNotMatch(text, /eyJ[A-Za-z0-9_-]{20,}/, `a token in ${where}`);
      assert.ok(!text.includes(session), `the session id in ${where}`);
    }
    const codes = urls.flatMap((url) => new URL(url).searchParams.get("code") ?? []);
    assert.equal(codes.length, 1);
    assert.ok(!texts.logs.includes(codes[0] ?? "-"), "the code in a log");
    assert.equal(issuer.faults.calls.token, 1);
    assert.deepEqual(complaints, []);
  },
);

test(
  "two tabs start, and finish in reverse: both are in, each on its own page",
  OPTIONS,
  async (t) => {
    const { gate, issuer, context, page } = await openPortal(t);
    issuer.state.asks = true;
    const second = await context.newPage();
    await page.goto(`${gate.origin}/sessions`);
    await page.locator("#continue").waitFor();
    // The first tab's marker holds automatic sign-in back: this one is asked.
    await second.goto(`${gate.origin}/models`);
    await second.getByRole("link", { name: "Sign in with Nous Research" }).click();
    await second.locator("#continue").waitFor();
    for (const [tab, path] of [
      [second, "/models"],
      [page, "/sessions"],
    ] as const) {
      await pressThrough(tab, gate);
      assert.equal(new URL(tab.url()).pathname, path);
      await appIsOpen(tab);
    }
    await second.reload();
    await appIsOpen(second);
  },
);

/** The issuer asks for login and for consent, each with one button. */
async function pressThrough(page: Page, gate: Gate): Promise<void> {
  for (let step = 0; step < 4 && !page.url().startsWith(gate.origin); step++) {
    const before = page.url();
    await page.locator("#continue").click();
    await page.waitForURL((url) => url.href !== before);
  }
  await page.waitForURL(`${gate.origin}/**`);
}

test(
  "sign-out in one tab: the other's socket closes and it shows the login; the old cookie is worth nothing",
  OPTIONS,
  async (t) => {
    const { gate, context, page } = await openPortal(t);
    await page.goto(`${gate.origin}/sessions`);
    await page.waitForURL(`${gate.origin}/sessions`);
    await appIsOpen(page);
    const other = await context.newPage();
    const closes = await recordCloses(other);
    await other.goto(`${gate.origin}/models?d=30`);
    await appIsOpen(other);
    await until("its socket is open", async () => (await closes()).opened === 1);
    const cookies = await ownCookies(context);
    assert.equal((await askAs(gate, cookies, "/api/auth/me")).status, 200);

    const login = other.waitForURL(`${gate.origin}/login?next=**`);
    const left = performance.now();
    await signOut(page, `${gate.origin}/login?logged_out=1`);
    await page.getByText("You are signed out.").waitFor();
    await login;
    assert.ok(performance.now() - left < 30_000);
    assert.equal(new URL(other.url()).searchParams.get("next"), "/models?d=30");
    assert.deepEqual(await ownCookies(context), []);
    const replay = await askAs(gate, cookies, "/api/auth/me");
    assert.equal(replay.status, 401);
    assert.equal(replay.json()["error"], "session_expired");

    await other.getByRole("link", { name: "Sign in with Nous Research" }).click();
    await other.waitForURL(`${gate.origin}/models?d=30`);
    await appIsOpen(other);
  },
);

/** Counts the page's sockets; the list of close codes survives a navigation on the test's side. */
async function recordCloses(page: Page) {
  const seen = { opened: 0, codes: [] as number[] };
  await page.exposeFunction("socketOpened", () => void seen.opened++);
  await page.exposeFunction("socketClosed", (code: number) => void seen.codes.push(code));
  await page.addInitScript(`{
    const Native = WebSocket;
    window.WebSocket = class extends Native {
      constructor(...args) {
        super(...args);
        this.addEventListener("open", () => window.socketOpened());
        this.addEventListener("close", ({ code }) => window.socketClosed(code));
      }
    };
  }`);
  return async () => seen;
}

test(
  "sessions ended by command: the open page meets 4401 and shows the login",
  OPTIONS,
  async (t) => {
    const { gate, context, page } = await openPortal(t);
    const closes = await recordCloses(page);
    await page.goto(`${gate.origin}/sessions`);
    await page.waitForURL(`${gate.origin}/sessions`);
    await until("its socket is open", async () => (await closes()).opened === 1);
    const cookies = await ownCookies(context);
    const ended = await runCli(["dashboard", "sessions", "revoke-all"], { home: gate.home });
    assert.equal(ended.code, 0, ended.stderr);
    await page.waitForURL(`${gate.origin}/login?next=**`);
    assert.deepEqual((await closes()).codes, [4401]);
    assert.equal((await askAs(gate, cookies, "/api/auth/me")).status, 401);
  },
);

test(
  "no ticket is ever taken: three attempts, then the page says so and stays",
  OPTIONS,
  async (t) => {
    const { gate, page } = await openBasic(t);
    await page.goto(`${gate.origin}/login`);
    await signInByPassword(page);
    await page.waitForURL(`${gate.origin}/chat`);
    await page.route("**/api/auth/ws-ticket", (route) =>
      route.fulfill({ json: { ticket: "x".repeat(43), ttl_seconds: 30 } }),
    );
    const closes = await recordCloses(page);
    await page.goto(`${gate.origin}/sessions`);
    await page.getByText("You are signed out").waitFor();
    assert.deepEqual((await closes()).codes, [4401, 4401, 4401]);
    assert.equal(page.url(), `${gate.origin}/sessions`);
  },
);

for (const item of ["Sign out", "Sign out everywhere"]) {
  test(
    `"${item}" of the app, by keyboard: ends at the login that says so, with nothing left`,
    OPTIONS,
    async (t) => {
      const { gate, context, page } = await openBasic(t);
      const closes = await recordCloses(page);
      await page.goto(`${gate.origin}/sessions`);
      await signInByPassword(page);
      await page.waitForURL(`${gate.origin}/sessions`);
      await appIsOpen(page);
      const cookies = await ownCookies(context);
      await tabTo(page, "[data-testid=account]");
      await page.keyboard.press("Enter");
      const entry = page.getByRole("menuitem", { name: item, exact: true });
      await entry.waitFor();
      await until("the entry has the focus", async () => {
        if (await hasFocus(page, "[role=menuitem]", item)) return true;
        await page.keyboard.press("ArrowDown");
        return false;
      });
      // The socket may end before the answer is here: the page must not take that for an expired login.
      await page.route("**/auth/logout", async (route) => {
        const headers = { origin: gate.origin, "content-type": "application/json" };
        await askAs(gate, cookies, "/auth/logout", { method: "POST", headers, body: "{}" });
        await until("the socket has ended", async () => (await closes()).codes.length > 0);
        await route.continue();
      });
      await page.keyboard.press("Enter");
      await page.waitForURL(`${gate.origin}/login?**`);
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
      assert.equal(page.url(), `${gate.origin}/login?logged_out=1`);
      assert.deepEqual(await ownCookies(context), []);
      assert.equal((await askAs(gate, cookies, "/api/auth/me")).status, 401);
    },
  );
}

test(
  "the session survives a restart of the server, and the page finds it again",
  OPTIONS,
  async (t) => {
    const { issuer, env } = await portalForGate(t);
    const gate = await startGate(t, { webDist, env });
    const page = await (await openProfile(t)).newPage();
    await page.goto(`${gate.origin}/sessions`);
    await page.waitForURL(`${gate.origin}/sessions`);
    await appIsOpen(page);
    await gate.stop();
    await startGate(t, { webDist, env, home: gate.home, port: gate.port });
    await page.goto(`${gate.origin}/models`);
    await appIsOpen(page);
    assert.equal(issuer.faults.calls.authorize, 1);
    assert.equal(issuer.faults.calls.token, 1);
  },
);

test(
  "a token for somebody else: 400 with a way on, no session, no loop; then the right one goes to the page",
  OPTIONS,
  async (t) => {
    const { gate, issuer, context, page } = await openPortal(t);
    issuer.state.forgery = { payload: { aud: "agent:inst-2" } };
    const response = await page.goto(`${gate.origin}/sessions?q=x`);
    assert.equal(response?.status(), 400);
    assert.equal(new URL(page.url()).pathname, "/auth/callback");
    const names = (await context.cookies(gate.origin)).map(({ name }) => name);
    assert.ok(!names.includes("hermes_session_at"), names.join());
    assert.equal(issuer.faults.calls.token, 1);
    assert.deepEqual(await axeViolations(page), []);
    issuer.state.forgery = null;
    await page.getByRole("link", { name: "Try again" }).click();
    await page.getByRole("link", { name: "Sign in with Nous Research" }).click();
    await page.waitForURL(`${gate.origin}/sessions?q=x`);
    await appIsOpen(page);
  },
);

test(
  "the portal is down: 503 with a way on, no loop, and in once it is back",
  OPTIONS,
  async (t) => {
    const { gate, issuer, page } = await openPortal(t);
    issuer.faults.set("token", { kind: "status", status: 502 });
    const response = await page.goto(`${gate.origin}/sessions`);
    assert.equal(response?.status(), 503);
    const calls = issuer.faults.calls.token;
    issuer.faults.set("token", null);
    assert.equal(issuer.faults.calls.token, calls);
    await page.getByRole("link", { name: "Try again" }).click();
    await page.getByRole("link", { name: "Sign in with Nous Research" }).click();
    await page.waitForURL(`${gate.origin}/sessions`);
    await appIsOpen(page);
  },
);

test(
  "cookies blocked for this site: one round to the portal, then a page that says so",
  OPTIONS,
  async (t) => {
    const { issuer, env } = await portalForGate(t);
    const gate = await startGate(t, { webDist, env });
    const context = await openProfileWithoutCookies(t, "[*.]example.test");
    const page = await context.newPage();
    const documents: string[] = [];
    page.on("request", (request) => {
      if (request.isNavigationRequest()) documents.push(request.url());
    });
    const response = await page.goto(`${gate.origin}/sessions`);
    assert.equal(response?.status(), 400);
    await page.getByRole("alert").waitFor();
    assert.equal(issuer.faults.calls.authorize, 1);
    assert.equal(documents.filter((url) => url.includes("/auth/callback")).length, 1);
    assert.deepEqual(await context.cookies(gate.origin), []);
  },
);

test(
  "password, without a script: wrong says so and keeps the target, right goes to it",
  OPTIONS,
  async (t) => {
    const gate = await startGate(t, { webDist, env: BASIC_ENV });
    const context = await openProfile(t, { javaScriptEnabled: false });
    const page = await context.newPage();
    const complaints = watchPage(page, [gate.origin]);
    await page.goto(`${gate.origin}/sessions?page=2`);
    assert.equal(page.url(), `${gate.origin}/login?next=%2Fsessions%3Fpage%3D2`);
    await page.getByLabel("User name").fill(BASIC.username);
    await page.getByLabel("Password", { exact: true }).fill("something else");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("User name or password is wrong.").waitFor();
    assert.deepEqual(await ownCookies(context), []);
    await signInByPassword(page);
    await page.waitForURL(`${gate.origin}/sessions?page=2`);
    assert.deepEqual(complaints, []);
  },
);

test("keyboard only: signs in with a password, talks, allows a command", OPTIONS, async (t) => {
  const { gate, page, complaints } = await openBasic(t);
  await page.goto(`${gate.origin}/chat`);
  await until("the name has the focus", () => hasFocus(page, "[name=username]"));
  await page.keyboard.type(BASIC.username);
  await page.keyboard.press("Tab");
  await page.keyboard.type(BASIC.password);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${gate.origin}/chat`);
  await appIsOpen(page);
  await tabTo(page, "[data-composer] textarea");
  await page.keyboard.type("run rm -r nosuch");
  await page.keyboard.press("Enter");
  await until("the card has the focus", () => hasFocus(page, "[data-testid=approval-card]"));
  const once = page.getByTestId("approval-card").getByRole("button", { name: "Once" });
  await tabTo(page, "[data-testid=approval-card] button", await once.innerText());
  await page.keyboard.press("Enter");
  await page.getByTestId("tool-card").first().getByTestId("tool-exit").waitFor();
  assert.deepEqual(complaints, []);
});

/** `text`: what the element says, exactly; "": anything. */
function hasFocus(page: Page, selector: string, text = ""): Promise<boolean> {
  const says = text === "" ? "true" : `it.innerText === ${JSON.stringify(text)}`;
  return page.evaluate<boolean>(
    `((it) => it.matches(${JSON.stringify(selector)}) && ${says})(document.activeElement)`,
  );
}

async function tabTo(page: Page, selector: string, text = ""): Promise<void> {
  for (let step = 0; step < 60; step++) {
    if (await hasFocus(page, selector, text)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`the Tab key does not reach ${selector} ${text}`);
}

for (const [language, theme] of [
  ["en-US", "default"],
  ["en-US", "daylight"],
  ["zh-CN", "default"],
  ["zh-CN", "daylight"],
] as const) {
  test(`accessible: the login in ${language}, ${theme}, with every message`, OPTIONS, async (t) => {
    const { env } = await portalForGate(t);
    const gate = await startGate(t, {
      webDist,
      env: { ...env, ...BASIC_ENV },
      config: `dashboard:\n  theme: ${theme}\n`,
    });
    const context = await openProfile(t, { locale: language });
    const page = await context.newPage();
    const complaints = watchPage(page, [gate.origin]);
    const found: string[] = [];
    const queries = ["", "?logged_out=1", "?fresh=1&error=reauth"].concat(
      ["cookie", "expired", "denied", "failed", "invalid", "rate_limited"].map(
        (error) => `?error=${error}`,
      ),
    );
    for (const query of queries) {
      await page.goto(`${gate.origin}/login${query}`);
      found.push(...(await axeViolations(page)).map((line) => `${query} ${line}`));
      assert.equal(
        await page.evaluate("document.documentElement.lang"),
        language.slice(0, 2) === "zh" ? "zh-Hans" : "en",
      );
      assert.equal(await page.locator("script").count(), 0);
    }
    assert.deepEqual(found, []);
    assert.deepEqual(complaints, []);
  });
}

test(
  "every hostile target leads to a page of ours, every good one to itself",
  OPTIONS,
  async (t) => {
    const { gate, page } = await openBasic(t);
    await page.goto(`${gate.origin}/login`);
    await signInByPassword(page);
    await appIsOpen(page);
    const lines = readFileSync(join(PROJECT, "test/fixtures/open-redirects.txt"), "utf8").split(
      "\n",
    );
    const cases = lines.filter((line) => /^(null|keep) /.test(line));
    assert.ok(cases.length > 50);
    for (const line of cases) {
      const target = JSON.parse(line.slice(5)) as string;
      const url = `${gate.origin}/login?next=${encodeURIComponent(target)}`;
      const response = await page.goto(url, { waitUntil: "commit" });
      const redirected = response?.request().redirectedFrom();
      const location = (await redirected?.response())?.headers()["location"] ?? "";
      const kept = line.startsWith("keep");
      assert.equal(location, kept ? target : "/", line);
      assert.equal(new URL(page.url()).origin, gate.origin, line);
    }
  },
);
