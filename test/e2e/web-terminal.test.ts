// The browser terminal as people use it: real Chromium, the real server, Hermes itself on the terminal (dashboard.md §12.3, §14 row 50).
import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { before, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { processStartTime } from "#base/process-identity.ts";
import { axeViolations } from "../kit/axe.ts";
import { NO_BROWSER, openPage } from "../kit/browser.ts";
import { childrenOf } from "../kit/child-processes.ts";
import { freePort } from "../kit/free-port.ts";
import { openPty } from "../kit/pty-socket.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";
import { buildWebApp } from "../kit/web-app.ts";
import { startWebServer, type WebServer, type WebServerOptions } from "../kit/web-server.ts";

const OPTIONS = { skip: NO_BROWSER, timeout: 300_000 };
const SLOW = 60_000;
let webDist = "";

before(async () => {
  if (NO_BROWSER === false) webDist = await buildWebApp();
});

/** Without a browser, so without its app. */
function start(t: TestContext): Promise<WebServer> {
  const env = { HERMES_DASHBOARD_SESSION_TOKEN: TOKEN };
  return startWebServer(t, { home: tempDir(t), webDist: tempDir(t), demo: true, env });
}

async function setUp(t: TestContext, options: Partial<WebServerOptions> = {}) {
  const home = tempDir(t);
  mkdirSync(home, { recursive: true });
  const env = { HERMES_DASHBOARD_SESSION_TOKEN: TOKEN, ...options.env };
  const server = await startWebServer(t, { home, webDist, demo: true, ...options, env });
  return { server, ...(await openPage(t, server.url)) };
}

/** What the terminal shows now, a line each. */
async function shown(page: Page): Promise<string> {
  const rows = await page.locator("[data-testid=terminal] .xterm-rows > div").allInnerTexts();
  return rows.map((row) => row.replaceAll("\u00a0", " ")).join("\n");
}

async function untilShown(page: Page, pattern: RegExp): Promise<string> {
  return until(
    `the terminal shows ${pattern}`,
    async () => {
      const text = await shown(page);
      return pattern.test(text) ? text : null;
    },
    SLOW,
  );
}

/** Every process below this one. */
function below(pid: number): readonly number[] {
  return childrenOf(pid).flatMap((child) => [child, ...below(child)]);
}

const TOKEN = "terminal-token-0123456789";

const pidOf = ({ run }: WebServer): number => run.child.pid ?? 0;
const descriptors = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
const isAlive = (pid: number): boolean => processStartTime(pid) !== null;

test(
  "a conversation in the terminal: typed, answered, resized; no complaint, nothing left",
  OPTIONS,
  async (t) => {
    const { server, page, complaints } = await setUp(t);
    await page.goto(`${server.url}/terminal`);
    await untilShown(page, /DEMO/);
    await page.keyboard.type("hello there");
    await page.keyboard.press("Enter");
    await untilShown(page, /hello there[^]*(?:demo|Demo|DEMO)/);
    const wide = await page.evaluate<number>(
      "document.querySelectorAll('.xterm-rows > div').length",
    );
    await page.setViewportSize({ width: 700, height: 420 });
    await until("fewer rows", async () => {
      const rows = await page.evaluate<number>(
        "document.querySelectorAll('.xterm-rows > div').length",
      );
      return rows < wide && rows > 3;
    });
    assert.ok(below(pidOf(server)).length >= 2, "the holder and Hermes");
    assert.deepEqual(complaints, []);
    await page.keyboard.press("Control+d");
    await page.getByRole("button", { name: "Start again" }).waitFor();
    await until("no process is left", () => below(pidOf(server)).length === 0);
    await page.getByRole("button", { name: "Start again" }).click();
    await untilShown(page, /DEMO/);
  },
);

test(
  "20 terminals opened and cut: no process and no descriptor is left",
  { timeout: 300_000 },
  async (t) => {
    const server = await start(t);
    const round = async (n: number): Promise<void> => {
      const sockets = await Promise.all(
        Array.from({ length: n }, () => openPty(server.url, { query: `token=${TOKEN}` })),
      );
      for (const socket of sockets) await until("its output", () => socket.output() !== "", SLOW);
      for (const socket of sockets) socket.cut();
      await until("no process is left", () => below(pidOf(server)).length === 0, SLOW);
    };
    await round(1);
    const baseline = descriptors(pidOf(server));
    for (let n = 0; n < 5; n++) await round(4);
    await until("descriptors as before", () => descriptors(pidOf(server)) <= baseline);
  },
);

test(
  "kill -9 of the dashboard: nothing of its terminals lives 10 s later",
  { timeout: 300_000 },
  async (t) => {
    const server = await start(t);
    const sockets = await Promise.all(
      ["attach=a", ""].map((query) => openPty(server.url, { query: `token=${TOKEN}&${query}` })),
    );
    for (const socket of sockets) await until("its output", () => socket.output() !== "", SLOW);
    const pids = below(pidOf(server));
    assert.ok(pids.length >= 3, `the holder and two of Hermes: ${pids.length}`);
    server.run.child.kill("SIGKILL");
    await until("all are gone", () => !pids.some(isAlive), 10_000);
  },
);

test("a stop of the dashboard ends its terminals, within 3 s", { timeout: 300_000 }, async (t) => {
  const server = await start(t);
  const socket = await openPty(server.url, { query: `token=${TOKEN}&attach=a` });
  await until("its output", () => socket.output() !== "", SLOW);
  const pids = below(pidOf(server));
  await server.stop();
  assert.equal((await server.run.ended).code, 0);
  assert.deepEqual(pids.filter(isAlive), []);
  assert.equal(socket.closed?.code, 1001);
});

test("a reload finds the same program, with what it showed", OPTIONS, async (t) => {
  const { server, page } = await setUp(t);
  await page.goto(`${server.url}/terminal`);
  await untilShown(page, /DEMO/);
  await page.keyboard.type("remember the zebra");
  await untilShown(page, /remember the zebra/);
  const pids = below(pidOf(server)).toSorted();
  await page.reload();
  await untilShown(page, /remember the zebra/);
  assert.deepEqual(below(pidOf(server)).toSorted(), pids);
  await page.getByRole("link", { name: "Logs" }).click();
  await page.getByRole("heading", { name: "Logs" }).waitFor();
  await page.goBack();
  await untilShown(page, /remember the zebra/);
  assert.deepEqual(below(pidOf(server)).toSorted(), pids);
});

test(
  "a lost connection is made again; another tab takes over and gives it back",
  OPTIONS,
  async (t) => {
    const { server, page } = await setUp(t);
    let cut = (): void => assert.fail("no socket yet");
    await page.routeWebSocket(/api\/pty/, (socket) => {
      socket.connectToServer();
      cut = () => void socket.close({ code: 1013 });
    });
    await page.goto(`${server.url}/terminal`);
    await untilShown(page, /DEMO/);
    await page.keyboard.type("before the cut");
    await untilShown(page, /before the cut/);
    cut();
    await page.getByTestId("terminal-state").getByText("Connected").waitFor();
    await untilShown(page, /before the cut/);
    await page.keyboard.type(", after it");
    await untilShown(page, /before the cut, after it/);

    const other = await page.context().newPage();
    const name = await page.evaluate<string>("sessionStorage.getItem('hermes.terminal.attach')");
    await other.addInitScript(`sessionStorage.setItem("hermes.terminal.attach", "${name}")`);
    await other.goto(`${server.url}/terminal`);
    await untilShown(other, /before the cut, after it/);
    await page.getByText("open in another tab").first().waitFor();
    await page.getByRole("button", { name: "Take back" }).click();
    await untilShown(page, /before the cut, after it/);
    await other.getByRole("button", { name: "Take back" }).waitFor();
  },
);

test("a dashboard that starts again: the page goes on with a new program", OPTIONS, async (t) => {
  const port = await freePort();
  const { server, page } = await setUp(t, { port });
  await page.goto(`${server.url}/terminal`);
  await untilShown(page, /DEMO/);
  await page.keyboard.type("of the old one");
  await untilShown(page, /of the old one/);
  await server.stop();
  await page
    .getByText(/^Reconnecting…/)
    .first()
    .waitFor();
  await startWebServer(t, {
    home: server.home,
    webDist,
    port,
    env: { HERMES_DASHBOARD_SESSION_TOKEN: TOKEN },
  });
  await until(
    "a new screen",
    async () => {
      const text = await shown(page);
      return text.includes("DEMO") && !text.includes("of the old one");
    },
    SLOW,
  );
});

test(
  "the keyboard: Ctrl+K is the program's, Alt+Shift+T leaves, a screen reader gets the lines; axe",
  OPTIONS,
  async (t) => {
    const { server, page, complaints } = await setUp(t);
    await page.goto(`${server.url}/terminal`);
    await untilShown(page, /DEMO/);
    await page.keyboard.press("Control+k");
    assert.equal(await page.getByRole("dialog").count(), 0);
    await page.keyboard.press("Tab");
    const focused =
      "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent";
    assert.equal(await page.evaluate(focused), "Terminal screen");
    await page.keyboard.press("Alt+Shift+T");
    assert.match(await page.evaluate<string>(focused), /Screen reader mode/);
    await page.keyboard.press("Enter");
    await page.locator(".xterm-accessibility").waitFor({ state: "attached" });
    await until("its lines", async () => {
      const text = await page.locator(".xterm-accessibility").first().textContent();
      return /DEMO/.test(text ?? "");
    });
    for (const theme of ["default", "daylight"]) {
      await page.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
      assert.deepEqual(await axeViolations(page), [], theme);
    }
    await page.reload();
    await page.locator(".xterm-accessibility").waitFor({ state: "attached" });
    assert.deepEqual(complaints, []);
  },
);

test(
  "switched off: said with the names of the setting, and out of the navigation",
  OPTIONS,
  async (t) => {
    const { server, page } = await setUp(t, { env: { HERMES_DASHBOARD_TUI: "0" } });
    await page.goto(`${server.url}/terminal`);
    await page.getByText("HERMES_DASHBOARD_TUI").waitFor();
    await until(
      "no link",
      async () => (await page.getByRole("link", { name: "Terminal" }).count()) === 0,
    );
  },
);

test("a session of the list opens in the terminal", OPTIONS, async (t) => {
  const { server, page } = await setUp(t);
  await page.goto(`${server.url}/chat`);
  await page.getByRole("textbox", { name: "Message" }).fill("a quagga in the garden");
  await page.keyboard.press("Enter");
  await page.getByTestId("assistant-message").first().waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  await page.goto(`${server.url}/sessions`);
  await page
    .getByRole("button", { name: /Actions for/ })
    .first()
    .click();
  await page.getByRole("menuitem", { name: "Open in the terminal" }).click();
  await untilShown(page, /a quagga in the garden/);
});

test(
  "what a program writes is shown and does nothing: titles, links, a flood",
  OPTIONS,
  async (t) => {
    const { server, page, complaints } = await setUp(t);
    const [esc, bell] = ["\u001b", "\u0007"];
    const hostile = [
      `${esc}]0;owned${bell}`,
      `${esc}]8;;javascript:document.title="owned"${esc}\\click here${esc}]8;;${esc}\\\r\n`,
      `${esc}]52;c;b3duZWQ=${bell}`,
      `${esc}[21t${esc}[8;3;3t`,
      "<img src=x onerror=document.title='owned'> <script>document.title='owned'</script>\r\n",
    ].join("");
    const got: string[] = [];
    await page.routeWebSocket(/api\/pty/, (socket) => {
      socket.onMessage((data) => void got.push(String(data)));
      socket.send(Buffer.from(hostile));
      for (let n = 0; n < 200; n++) socket.send(Buffer.from("flood ".repeat(2000)));
      socket.send(Buffer.from("\r\nthe end of it\r\n"));
    });
    await page.goto(`${server.url}/terminal`);
    await untilShown(page, /the end of it/);
    assert.match(await page.title(), /^Terminal/);
    assert.ok(!got.join("").includes("owned"), "a title is not told");
    assert.deepEqual(complaints, []);
  },
);

test("behind the login: a ticket opens it, the end of the login ends it", OPTIONS, async (t) => {
  const { server, page } = await setUp(t, {
    env: {
      HERMES_DASHBOARD_HOST: "0.0.0.0",
      HERMES_DASHBOARD_BASIC_AUTH_USERNAME: "ann",
      HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: "a long password",
    },
  });
  await page.goto(`${server.url}/terminal`);
  await page.locator("[name=username]").fill("ann");
  await page.locator("[name=password]").fill("a long password");
  await page.keyboard.press("Enter");
  await untilShown(page, /DEMO/);
  assert.equal(new URL(page.url()).pathname, "/terminal");
  await page
    .context()
    .request.post(`${server.url}/auth/logout`, { headers: { origin: server.url } });
  await until("no process is left", () => below(pidOf(server)).length === 0, SLOW);
  await page.waitForURL(/\/login/);
});
