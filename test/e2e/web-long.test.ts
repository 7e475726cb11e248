// Long conversations, code, and texts that are said anew, in a real browser (dashboard.md §12.3).
import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { NO_BROWSER, openPage } from "../kit/browser.ts";
import { openDashboard } from "../kit/dashboard.ts";
import { until } from "../kit/until.ts";
import { buildWebApp } from "../kit/web-app.ts";

const OPTIONS = { skip: NO_BROWSER, timeout: 300_000 };
const WAIT_MS = 60_000;
const MESSAGES = 5000;
/** Rows that are drawn at a time: a screen of them, and eight before and behind it. */
const MOST_ROWS = 60;
let webDist = "";

before(async () => {
  if (NO_BROWSER === false) webDist = await buildWebApp();
});

async function say(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message", exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

const idle = (page: Page) => page.getByRole("button", { name: "Send", exact: true });

test(
  "5,000 messages: the page holds a screenful of them, from the end to the start",
  OPTIONS,
  async (t) => {
    const dashboard = await openDashboard(t, { webDist });
    const store = dashboard.profiles.get("default")?.archive;
    assert.ok(store);
    const id = "long-session";
    await store.createSession({ id, source: "web", model: "demo", startedAt: 1_768_000_000 });
    await store.appendMessages(
      id,
      Array.from({ length: MESSAGES }, (_, index) => ({
        timestamp: 1_768_000_000 + index,
        role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
        content: index % 2 === 0 ? `question ${index}` : `**answer** ${index}\n\n- one\n- two`,
      })),
    );
    const { page, complaints } = await openPage(t, dashboard.url);
    await page.goto(`${dashboard.url}/chat/${id}`);
    await page.getByText(`answer ${MESSAGES - 1}`).waitFor();
    const rows = page.getByTestId("messages").locator("[data-index]");
    let most = 0;
    await until(
      "the first message",
      async () => {
        most = Math.max(most, await rows.count());
        await page.evaluate(`document.querySelector("[data-testid=messages]").scrollTop = 0`);
        return (await page.getByText("question 0", { exact: true }).count()) === 1;
      },
      WAIT_MS,
    );
    assert.ok(most <= MOST_ROWS, `${most} rows were drawn`);
    const nodes = await page.evaluate<number>("document.querySelectorAll('*').length");
    assert.ok(nodes < 2500, `${nodes} elements`);
    await page.getByRole("button", { name: "To the newest message" }).click();
    await page.getByText(`answer ${MESSAGES - 1}`).waitFor();
    assert.ok((await rows.count()) <= MOST_ROWS);
    assert.deepEqual(complaints, []);
  },
);

test(
  "a text is changed and sent again: what came after it is gone, over a reload, too",
  OPTIONS,
  async (t) => {
    const dashboard = await openDashboard(t, { webDist });
    const { page, complaints } = await openPage(t, dashboard.url);
    await page.goto(`${dashboard.url}/chat`);
    await say(page, "first words");
    await page.getByText("You said: first words").waitFor();
    await idle(page).waitFor();
    await say(page, "second words");
    await page.getByText("You said: second words").waitFor();
    await idle(page).waitFor();
    const row = page.getByTestId("user-message").filter({ hasText: "first words" });
    await row.hover();
    await row.getByRole("button", { name: "Edit and send again" }).click();
    const box = page.getByRole("textbox", { name: "Your message, changed" });
    assert.equal(await box.inputValue(), "first words");
    await page.keyboard.press("Escape");
    await box.waitFor({ state: "detached" });
    await row.hover();
    await row.getByRole("button", { name: "Edit and send again" }).click();
    await box.fill("other words");
    await page.keyboard.press("Enter");
    await page.getByText("You said: other words").waitFor();
    const texts = () => page.getByTestId("user-message").allInnerTexts();
    await until("the others are gone", async () => (await texts()).length === 1, WAIT_MS);
    assert.deepEqual(await texts(), ["other words"]);
    await page.reload();
    await page.getByText("You said: other words").waitFor();
    assert.deepEqual(await texts(), ["other words"]);
    assert.deepEqual(complaints, []);
  },
);

test("code is coloured, and what it says stays text", OPTIONS, async (t) => {
  const dashboard = await openDashboard(t, { webDist });
  const { page, complaints } = await openPage(t, dashboard.url);
  await page.goto(`${dashboard.url}/chat`);
  await say(page, "look\n\n```js\nconst a = '<img src=x onerror=window.pwned=1>';\n```");
  const code = page.getByTestId("assistant-message").locator("code[data-highlighted]");
  await code.locator(".hljs-keyword").getByText("const").waitFor();
  assert.equal(await code.innerText(), "const a = '<img src=x onerror=window.pwned=1>';");
  assert.equal(await page.evaluate("'pwned' in window"), false);
  assert.deepEqual(complaints, []);
});
