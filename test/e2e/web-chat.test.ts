// The chat in a real browser against a real server and the demo model (dashboard.md §14 rows 60, 61).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { NO_BROWSER, openPage } from "../kit/browser.ts";
import { PROJECT } from "../kit/cli.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";
import { buildWebApp } from "../kit/web-app.ts";
import { startWebServer } from "../kit/web-server.ts";

/** Runs in the page: elements that must not be in an answer, and whether a script of one ran. */
const HARM = `({
  bad: [...document.querySelectorAll("[data-testid=assistant-message] *")]
    .filter((node) =>
      /^(script|img|iframe|style|link|form|input|object|video|base|template|math)$/i.test(node.tagName) ||
      [...node.attributes].some(({ name }) => name.startsWith("on")) ||
      /^(javascript|data|vbscript):/i.test(node.getAttribute("href") ?? ""))
    .map((node) => node.outerHTML),
  pwned: "pwned" in window,
})`;

const OPTIONS = { skip: NO_BROWSER, timeout: 300_000 };
const WAIT_MS = 60_000;
let webDist = "";

before(async () => {
  if (NO_BROWSER === false) webDist = await buildWebApp();
});

async function openDemo(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const server = await startWebServer(t, { home: tempDir(t), webDist, demo: true, env });
  return { server, ...(await openPage(t, server.url)) };
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
}

const answers = (page: Page) => page.getByTestId("assistant-message");
const idle = (page: Page) => page.getByRole("button", { name: "Send", exact: true });

/** The numbers of `word1 word2 …` in the order in which they stand on the page. */
async function wordsOn(page: Page): Promise<number[]> {
  const text = await page.getByTestId("messages").innerText();
  return [...text.matchAll(/word(\d+)/g)].map((match) => Number(match[1]));
}

function countTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

test(
  "first run: the demo is chosen, one sent message proves it, its answer is labelled",
  OPTIONS,
  async (t) => {
    const server = await startWebServer(t, { home: tempDir(t), webDist });
    const { page, complaints } = await openPage(t, server.url);
    await page.goto(server.url);
    await page.waitForURL("**/setup");
    await page.getByRole("button", { name: "Start the demo" }).click();
    await page.getByTestId("setup-done").getByRole("link", { name: "Open the chat" }).click();
    await say(page, "hello there");
    await answers(page).getByText("You said: hello there").waitFor();
    await page.waitForURL("**/chat/*");
    assert.match(await answers(page).innerText(), /\[demo model: not an AI\]/);
    await page.getByTestId("usage").getByText("Demo, not an AI").waitFor();
    assert.deepEqual(complaints, []);
  },
);

test(
  "a dangerous command asks first: allowed once it runs, denied it does not; both by keyboard",
  OPTIONS,
  async (t) => {
    const { server, page, complaints } = await openDemo(t);
    await page.goto(`${server.url}/chat`);
    await say(page, "run rm -r nosuch");
    const card = page.getByTestId("approval-card");
    await card.getByText("rm -r nosuch", { exact: true }).waitFor();
    await card.getByTestId("countdown").waitFor();
    assert.match(await page.getByTestId("live-assertive").innerText(), /rm -r nosuch/);
    await page.waitForFunction('document.activeElement.matches("[data-testid=approval-card]")');
    await card.getByRole("button", { name: "Once" }).focus();
    await page.keyboard.press("Enter");
    const tool = page.getByTestId("tool-card").first();
    await tool.getByTestId("tool-exit").waitFor();
    assert.match(await tool.innerText(), /exit 1[\s\S]*No such file/);
    await idle(page).waitFor();
    await say(page, "run rm -r other");
    await card.getByRole("button", { name: "Deny" }).click();
    await page.getByTestId("tool-card").nth(1).getByText("Not run").waitFor();
    await card.waitFor({ state: "detached" });
    assert.equal(await page.getByTestId("tool-card").count(), 2);
    assert.deepEqual(complaints, []);
  },
);

test("a question of the agent: a choice is the answer", OPTIONS, async (t) => {
  const { server, page } = await openDemo(t);
  await page.goto(`${server.url}/chat`);
  await say(page, "ask");
  await page.getByTestId("clarify-card").getByRole("button", { name: "green" }).click();
  await answers(page).getByText("You answered: green").waitFor();
});

test(
  "reload and a second tab in the middle of a turn: every word once, in both",
  OPTIONS,
  async (t) => {
    const { server, page, complaints } = await openDemo(t, { HERMES_DEMO_DELAY_MS: "20" });
    await page.goto(`${server.url}/chat`);
    await say(page, "stream 300");
    await until("the first words", async () => (await wordsOn(page)).length > 20, WAIT_MS);
    await page.reload();
    await until("words after the reload", async () => (await wordsOn(page)).length > 40, WAIT_MS);
    const second = await page.context().newPage();
    await second.goto(page.url());
    await page.getByText("word300").waitFor();
    await idle(page).waitFor();
    await second.getByText("word300").waitFor();
    await idle(second).waitFor();
    assert.deepEqual(await wordsOn(page), countTo(300));
    assert.deepEqual(await wordsOn(second), countTo(300));
    assert.equal(await page.getByTestId("user-message").count(), 1);
    await page.reload();
    await page.getByText("word300").waitFor();
    assert.deepEqual(await wordsOn(page), countTo(300));
    assert.deepEqual(complaints, []);
  },
);

test(
  "stop keeps what was written and marks it; while busy a text waits and can be taken back",
  OPTIONS,
  async (t) => {
    const { server, page } = await openDemo(t, { HERMES_DEMO_DELAY_MS: "20" });
    await page.goto(`${server.url}/chat`);
    await say(page, "stream 2000");
    await until("the first words", async () => (await wordsOn(page)).length > 5, WAIT_MS);
    await say(page, "later please");
    await page.getByTestId("queue").getByText("later please").waitFor();
    await page.getByRole("button", { name: /Take it back/ }).click();
    await page.getByTestId("queue").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByTestId("interrupted-mark").waitFor();
    await page
      .getByTestId("ending-interrupted")
      .getByRole("button", { name: "Continue" })
      .waitFor();
    const kept = await wordsOn(page);
    assert.deepEqual(kept, countTo(kept.length));
    await page.reload();
    await page.getByTestId("ending-interrupted").waitFor();
    assert.deepEqual(await wordsOn(page), kept);
  },
);

test("a failed turn is a card with cause and next step; trying again works", OPTIONS, async (t) => {
  const { server, page } = await openDemo(t);
  await page.goto(`${server.url}/chat`);
  await say(page, "fail auth");
  const card = page.getByTestId("ending-failed");
  await card.getByText("The key was rejected").waitFor();
  await card.getByRole("link", { name: "Check the key" }).waitFor();
  await card.getByRole("button", { name: "Try again" }).click();
  await answers(page).first().waitFor();
  await card.waitFor({ state: "detached" });
});

test("written offline: the text is kept over a reload and sent once", OPTIONS, async (t) => {
  const { server, page } = await openDemo(t);
  await page.goto(`${server.url}/chat`);
  await say(page, "first");
  await answers(page).getByText("You said: first").waitFor();
  await idle(page).waitFor();
  await page.route("**/api/chat/sessions/*/messages", (route) => route.abort("connectionfailed"));
  await say(page, "second");
  await page.getByTestId("unsent").waitFor();
  await page.unroute("**/api/chat/sessions/*/messages");
  await page.reload();
  await answers(page).getByText("You said: second").waitFor();
  assert.equal(await page.getByText("second", { exact: true }).count(), 1);
  assert.equal(await page.getByTestId("unsent").count(), 0);
});

test(
  "the server restarts: the tab comes back by itself with at most one reload",
  OPTIONS,
  async (t) => {
    const home = tempDir(t);
    const first = await startWebServer(t, { home, webDist, demo: true });
    const { page } = await openPage(t, first.url);
    await page.goto(`${first.url}/chat`);
    await say(page, "before");
    await answers(page).getByText("You said: before").waitFor();
    await idle(page).waitFor();
    let loads = 0;
    page.on("load", () => (loads += 1));
    await first.stop();
    await page.getByTestId("link-banner").waitFor();
    const port = Number(new URL(first.url).port);
    await startWebServer(t, { home, webDist, port });
    await page.getByTestId("link-banner").waitFor({ state: "detached" });
    await say(page, "after");
    await answers(page).getByText("You said: after").waitFor();
    assert.ok(loads <= 1, `${loads} loads`);
    assert.equal(await page.getByText("You said: before").count(), 1);
  },
);

test(
  "drafts are kept per conversation, slash commands run, the model's Markdown can do no harm",
  OPTIONS,
  async (t) => {
    const { server, page, complaints } = await openDemo(t);
    await page.goto(`${server.url}/chat`);
    const box = page.getByRole("textbox", { name: "Message" });
    await box.fill("half a thought");
    await page.reload();
    assert.equal(await box.inputValue(), "half a thought");
    const attacks = readFileSync(join(PROJECT, "test", "fixtures", "markdown-attacks.txt"), "utf8");
    await box.fill(`safe?\n\n${attacks.trim().split("\n").join("\n\n")}`);
    await page.keyboard.press("Enter");
    await answers(page).getByText("hermes model").waitFor();
    await idle(page).waitFor();
    const harm = await page.evaluate(HARM);
    assert.deepEqual(harm, { bad: [], pwned: false });
    await box.pressSequentially("/tit");
    await page.getByTestId("slash-menu").getByRole("option", { name: /title/ }).waitFor();
    await page.keyboard.press("Tab");
    await box.pressSequentially("Renamed here");
    await page.keyboard.press("Enter");
    await page.getByTestId("chat-title").getByText("Renamed here").waitFor();
    assert.deepEqual(complaints, []);
  },
);
