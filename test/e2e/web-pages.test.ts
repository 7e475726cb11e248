// Every page but the chat in a real browser: what it does, and that everybody can use it (dashboard.md §14 rows 60, 63).
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { NO_BROWSER, openPage } from "../kit/browser.ts";
import { PROJECT } from "../kit/cli.ts";
import { REPLY, text } from "../kit/model-reply.ts";
import { startModelServer } from "../kit/model-server.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";
import { buildWebApp } from "../kit/web-app.ts";
import { startWebServer, type WebServer } from "../kit/web-server.ts";

const OPTIONS = { skip: NO_BROWSER, timeout: 300_000 };
const PAGES = [
  "/chat",
  "/setup",
  "/sessions",
  "/models",
  "/env",
  "/config",
  "/logs",
  "/analytics",
  "/themes",
  "/nosuch",
];
let webDist = "";

before(async () => {
  if (NO_BROWSER === false) webDist = await buildWebApp();
});

async function openDemo(t: TestContext) {
  const server = await startWebServer(t, { home: tempDir(t), webDist, demo: true });
  return { server, ...(await openPage(t, server.url)) };
}

/** Says something in a new conversation and waits for the whole answer. */
async function converse(page: Page, server: WebServer, words: string): Promise<void> {
  await page.goto(`${server.url}/chat`);
  await page.getByRole("textbox", { name: "Message" }).fill(words);
  await page.keyboard.press("Enter");
  await page.getByTestId("assistant-message").first().waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
}

/** Asks the API as the page does. */
async function api(page: Page, method: string, path: string, body?: unknown): Promise<number> {
  const init = JSON.stringify({ method, body: body === undefined ? null : JSON.stringify(body) });
  return page.evaluate<number>(`fetch(${JSON.stringify(path)}, {
    ...${init},
    headers: { "X-Hermes-Session-Token": window.__HERMES_SESSION_TOKEN__, "Content-Type": "application/json" },
  }).then((answer) => answer.status)`);
}

test(
  "set-up with an own server: a rejected key saves nothing, the right one is saved and answers",
  OPTIONS,
  async (t) => {
    const model = await startModelServer(t, [
      { reply: REPLY.unauthorized },
      { times: Infinity, reply: text("Hello from ", "the server.") },
    ]);
    const server = await startWebServer(t, { home: tempDir(t), webDist });
    const { page } = await openPage(t, server.url);
    await page.goto(`${server.url}/setup`);
    await page.getByText("Another OpenAI-compatible server").click();
    await page.getByLabel("Base URL").fill(model.baseUrl);
    await page.getByLabel("API key (optional)").fill("sk-wrong-000000000000");
    const local = page.getByRole("region", { name: "Use a local server" });
    await local.getByLabel("Model", { exact: true }).fill("test-model");
    await local.getByRole("button", { name: "Test and save" }).click();
    await local.getByTestId("stage-auth").waitFor();
    const env = join(server.home, ".env");
    assert.equal(existsSync(env) && readFileSync(env, "utf8").includes("sk-wrong"), false);
    await page.getByLabel("API key (optional)").fill("sk-right-000000000000");
    await local.getByRole("button", { name: "Test and save" }).click();
    await page.getByTestId("setup-done").waitFor();
    assert.match(readFileSync(env, "utf8"), /sk-right/);
    await converse(page, server, "hi");
    assert.match(
      await page.getByTestId("assistant-message").innerText(),
      /Hello from the server\./,
    );
  },
);

test("a pasted key is recognised by its shape and the guess can be changed", OPTIONS, async (t) => {
  const { server, page } = await openDemo(t);
  await page.goto(`${server.url}/setup`);
  const card = page.getByRole("region", { name: "Paste a key" });
  await card.getByLabel("API key").fill("sk-ant-api03-0000");
  await card.getByText("Looks like a key of Anthropic").waitFor();
  assert.equal(await card.getByLabel("Provider").inputValue(), "anthropic");
  await card.getByLabel("Provider").selectOption("openrouter");
  assert.equal(await card.getByLabel("Provider").inputValue(), "openrouter");
});

test(
  "sessions: found by search with its words marked, renamed, pinned, deleted with undo",
  OPTIONS,
  async (t) => {
    const { server, page, complaints } = await openDemo(t);
    await converse(page, server, "the quick zebra jumps");
    await converse(page, server, "something else");
    await page.goto(`${server.url}/sessions`);
    await page.getByLabel("Search all conversations").fill("zebra");
    const hit = page.getByTestId("search-hit");
    await hit.locator("mark").getByText("zebra").first().waitFor();
    assert.equal(await hit.count(), 1);
    await hit.click();
    await page.getByTestId("user-message").getByText("the quick zebra jumps").waitFor();

    await page.goto(`${server.url}/sessions`);
    const rows = page.getByTestId("session-row");
    const row = rows.filter({ hasText: "zebra" });
    await row.getByRole("button", { name: /Actions for/ }).click();
    await page.getByRole("menuitem", { name: "Rename" }).click();
    await page.getByLabel("Title").fill("About animals");
    await page.keyboard.press("Enter");
    const renamed = rows.filter({ hasText: "About animals" });
    await renamed.getByRole("button", { name: /Actions for/ }).click();
    await page.getByRole("menuitem", { name: "Pin", exact: true }).click();
    await renamed.getByTitle("pinned").waitFor();

    const remove = async () => {
      await renamed.getByRole("button", { name: /Actions for/ }).click();
      await page.getByRole("menuitem", { name: "Delete" }).click();
      await renamed.waitFor({ state: "detached" });
    };
    await remove();
    await page.getByRole("button", { name: "Undo" }).click();
    await renamed.waitFor();
    await page.reload();
    await renamed.waitFor();
    await remove();
    await until(
      "the server has deleted it",
      async () => {
        const answer = await page.evaluate<string>(`fetch("/api/sessions", {
      headers: { "X-Hermes-Session-Token": window.__HERMES_SESSION_TOKEN__ },
    }).then((answer) => answer.text())`);
        return !answer.includes("About animals");
      },
      30_000,
    );
    assert.deepEqual(complaints, []);
  },
);

test(
  "settings: a change is saved with the file's comments, a conflict shows both sides, a bad line is named",
  OPTIONS,
  async (t) => {
    const { server, page } = await openDemo(t);
    const file = join(server.home, "config.yaml");
    writeFileSync(file, `# mine\n${readFileSync(file, "utf8")}`);
    await page.goto(`${server.url}/config`);
    await page.getByLabel("Search settings").fill("agent.max_turns");
    const field = page.getByTestId("field-agent.max_turns");
    await field.getByRole("textbox").fill("many");
    await field.getByText("This is not a number.").waitFor();
    await field.getByRole("textbox").fill("55");
    await page.getByText("1 unsaved change").waitFor();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByTestId("toast").getByText("Saved.").waitFor();
    assert.match(readFileSync(file, "utf8"), /^# mine\n[\s\S]*max_turns: 55/);

    await field.getByRole("textbox").fill("66");
    writeFileSync(file, readFileSync(file, "utf8").replace("max_turns: 55", "max_turns: 77"));
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const conflict = page.getByTestId("conflict");
    await conflict.getByRole("cell", { name: "66" }).waitFor();
    await conflict.getByRole("cell", { name: "77" }).waitFor();
    await conflict.getByRole("button", { name: "Save mine over it" }).click();
    await conflict.waitFor({ state: "detached" });
    await until("mine is saved", () => /max_turns: 66/.test(readFileSync(file, "utf8")), 30_000);
    await field.getByRole("button", { name: /Back to the default/ }).click();
    assert.equal(await field.getByRole("textbox").inputValue(), "90");
    await page.getByRole("button", { name: "Discard" }).click();

    await page.getByRole("button", { name: "YAML" }).click();
    const yaml = page.getByLabel("config.yaml");
    const good = readFileSync(file, "utf8");
    await yaml.fill("model:\n  provider: demo\n bad: [\n");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText(/^Line \d:/).waitFor();
    assert.equal(readFileSync(file, "utf8"), good);
  },
);

test("keys: set, shown as set and never by value, removed", OPTIONS, async (t) => {
  const { server, page } = await openDemo(t);
  await page.goto(`${server.url}/env`);
  const row = page.getByTestId("env-BRAVE_API_KEY");
  await row.getByRole("button", { name: "Set: BRAVE_API_KEY" }).click();
  await page.getByLabel("Value").fill("brave-secret-123456");
  await page.keyboard.press("Enter");
  await row.getByText("set", { exact: true }).waitFor();
  assert.equal((await page.content()).includes("brave-secret"), false);
  assert.match(readFileSync(join(server.home, ".env"), "utf8"), /brave-secret-123456/);
  await row.getByRole("button", { name: "Remove: BRAVE_API_KEY" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await row.getByText("not set").waitFor();
  assert.doesNotMatch(readFileSync(join(server.home, ".env"), "utf8"), /brave-secret/);
});

test("one failing question never blanks a page, and can be asked again", OPTIONS, async (t) => {
  const { server, page } = await openDemo(t);
  await page.route("**/api/model/auxiliary", (route) =>
    route.fulfill({ status: 404, json: { detail: "Not here.", code: "not_found" } }),
  );
  await page.goto(`${server.url}/models`);
  const alert = page.getByRole("alert").filter({ hasText: "Not here." });
  await alert.waitFor();
  await page.getByTestId("current-model").getByText("Demo, not an AI").waitFor();
  await page.unroute("**/api/model/auxiliary");
  await alert.getByRole("button", { name: "Try again" }).click();
  await alert.waitFor({ state: "detached" });
});

test(
  "the palette goes anywhere by keyboard; the language changes the page at once",
  OPTIONS,
  async (t) => {
    const { server, page } = await openDemo(t);
    await page.goto(`${server.url}/sessions`);
    await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").pressSequentially("keys");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/env");
    await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
    await page.getByRole("button", { name: "Language" }).click();
    await page.getByRole("menuitemradio", { name: "简体中文" }).click();
    await page.getByRole("heading", { level: 1, name: "密钥" }).waitFor();
    assert.equal(await page.evaluate("document.documentElement.lang"), "zh-Hans");
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "密钥" }).waitFor();
  },
);

const AXE = readFileSync(join(PROJECT, "node_modules", "axe-core", "axe.min.js"), "utf8");
const LOOKS = [
  { theme: "default", language: "en" },
  { theme: "daylight", language: "en" },
  { theme: "default", language: "zh-Hans" },
];

/** WCAG 2.2 AA rules of axe-core; each violation as one line. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate<string[]>(`axe
    .run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => id + ": " + node.html.slice(0, 160))))`);
}

for (const { theme, language } of LOOKS) {
  test(`accessible: every page in ${theme}, ${language}`, OPTIONS, async (t) => {
    const { server, page, complaints } = await openDemo(t);
    await page.addInitScript(`
      localStorage.setItem("hermes.theme", ${JSON.stringify(theme)});
      localStorage.setItem("hermes.language", ${JSON.stringify(language)});
    `);
    const found: string[] = [];
    const look = async (name: string) => {
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.getByTestId("service-dashboard").waitFor();
      await page.waitForLoadState("networkidle");
      found.push(...(await violations(page)).map((line) => `${name} ${line}`));
    };
    for (const path of PAGES) {
      await page.goto(server.url + path);
      await look(path);
    }
    await page.goto(`${server.url}/chat`);
    await page.locator("[data-composer] textarea").fill("run rm -r nosuch");
    await page.keyboard.press("Enter");
    await page.getByTestId("approval-card").waitFor();
    await look("/chat/$id");
    assert.deepEqual(found, []);
    assert.deepEqual(complaints, []);
  });
}

for (const [width, height] of [
  [360, 740],
  [320, 640],
] as const) {
  test(
    `at ${width} px no page scrolls two ways, and the menu opens and closes`,
    OPTIONS,
    async (t) => {
      const server = await startWebServer(t, { home: tempDir(t), webDist, demo: true });
      const { page } = await openPage(t, server.url, {
        viewport: { width, height },
        hasTouch: true,
      });
      for (const path of PAGES) {
        await page.goto(server.url + path);
        await page.getByRole("heading", { level: 1 }).waitFor();
        await until("nothing loads", async () => (await page.locator(".skeleton").count()) === 0);
        const wide = await page.evaluate<
          string[]
        >(`[...document.querySelectorAll("body, main, [data-page]")]
        .filter((node) => node.scrollWidth > node.clientWidth + 1)
        .map((node) => node.tagName)`);
        assert.deepEqual(wide, [], path);
      }
      await page.getByRole("button", { name: "Open the menu" }).click();
      await page.getByRole("dialog").getByRole("link", { name: "Keys" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      assert.equal(await api(page, "GET", "/api/health"), 200);
    },
  );
}
