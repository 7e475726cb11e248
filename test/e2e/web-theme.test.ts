// Themes in a real browser (dashboard.md §12.5): each built-in one can be read, a user's is drawn at once and in every tab, and a
// hostile one does nothing but look odd.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import type { Page } from "playwright-core";
import { axeViolations } from "../kit/axe.ts";
import { NO_BROWSER, openPage, openProfile, watchPage } from "../kit/browser.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";
import { buildWebApp } from "../kit/web-app.ts";
import { startWebServer } from "../kit/web-server.ts";

const OPTIONS = { skip: NO_BROWSER, timeout: 300_000 };
const BUILT_IN = [
  "default",
  "default-large",
  "midnight",
  "ember",
  "mono",
  "cyberpunk",
  "rose",
  "daylight",
];
const PAPER = `name: paper
label: Old Paper
description: As in a book
palette:
  background: "#fff8e7"
  midground: "#2b2118"
typography:
  baseSize: 17px
layout:
  radius: 2px
customCSS: |
  h1 { text-transform: uppercase; }
`;
const HOSTILE = `name: hostile
label: "<img src=x onerror=window.pwned=1>"
palette:
  background: "red; } * { display: none } a {"
colorOverrides:
  card: "url(http://evil.example.test/card)"
  ring: "u\\\\72l(http://evil.example.test/ring)"
assets:
  bg: http://evil.example.test/bg.png
typography:
  fontUrl: http://evil.example.test/font.css
customCSS: |
  @import "http://evil.example.test/import.css";
  body { background-image: url(http://evil.example.test/body.png); }
`;
let webDist = "";

before(async () => {
  if (NO_BROWSER === false) webDist = await buildWebApp();
});

const colour = (page: Page, name: string): Promise<string> =>
  page.evaluate<string>(
    `getComputedStyle(document.documentElement).getPropertyValue("--color-${name}").trim()`,
  );

test(
  "every built-in theme: chosen on its page, kept over a reload, and axe finds nothing",
  OPTIONS,
  async (t) => {
    const server = await startWebServer(t, { home: tempDir(t), webDist, demo: true });
    const { page, complaints } = await openPage(t, server.url);
    await page.goto(`${server.url}/themes`);
    const seen = new Set<string>();
    const found: string[] = [];
    for (const name of BUILT_IN) {
      const card = page.getByTestId(`theme-${name}`);
      await card.waitFor();
      if ((await card.getByRole("button").count()) > 0) await card.getByRole("button").click();
      await card.getByText("In use").waitFor();
      await until(
        "it is drawn",
        async () => (await page.locator(`html[data-theme="${name}"]`).count()) === 1,
      );
      seen.add(
        `${await colour(page, "background")} ${await page.evaluate<string>("getComputedStyle(document.documentElement).fontSize")}`,
      );
      found.push(...(await axeViolations(page)).map((line) => `${name}: ${line}`));
    }
    assert.equal(seen.size, BUILT_IN.length);
    await page.getByTestId("theme-ember").getByRole("button").click();
    await page.reload();
    await page.getByTestId("theme-ember").getByText("In use").waitFor();
    // Another browser begins with what was chosen.
    const other = await (await openProfile(t)).newPage();
    await other.goto(`${server.url}/themes`);
    await other.locator('html[data-theme="ember"]').waitFor();
    assert.deepEqual(found, []);
    assert.deepEqual(complaints, []);
  },
);

test(
  "a user's theme: live, in the other tab, over a reload; an edit and a removal follow; problems are listed",
  OPTIONS,
  async (t) => {
    const home = tempDir(t);
    const folder = join(home, "dashboard-themes");
    mkdirSync(folder);
    writeFileSync(join(folder, "paper.yaml"), PAPER);
    writeFileSync(join(folder, "broken.yaml"), "name: [\n");
    const server = await startWebServer(t, { home, webDist, demo: true });
    const context = await openProfile(t);
    const [page, tab] = [await context.newPage(), await context.newPage()];
    const complaints = [...watchPage(page, [server.url]), ...watchPage(tab, [server.url])];
    await tab.goto(`${server.url}/logs`);
    await page.goto(`${server.url}/themes`);
    await page.getByTestId("theme-problems").getByText("broken.yaml").waitFor();
    const card = page.getByTestId("theme-paper");
    await card.getByText("Old Paper").waitFor();
    await card.getByRole("button").click();
    await card.getByText("In use").waitFor();
    const look = async (at: Page) => ({
      background: await colour(at, "background"),
      base: await at.evaluate<string>("document.documentElement.dataset.theme"),
      size: await at.evaluate<string>("getComputedStyle(document.documentElement).fontSize"),
      radius: await at.evaluate<string>(
        "getComputedStyle(document.documentElement).getPropertyValue('--radius').trim()",
      ),
      title: await at.evaluate<string>(
        "getComputedStyle(document.querySelector('h1')).textTransform",
      ),
    });
    const paper = {
      background: "#fff8e7",
      base: "daylight",
      size: "17px",
      radius: "2px",
      title: "uppercase",
    };
    assert.deepEqual(await look(page), paper);
    await until(
      "the other tab follows",
      async () => (await colour(tab, "background")) === "#fff8e7",
    );
    assert.deepEqual(await look(tab), paper);
    await tab.reload();
    await tab.getByRole("heading", { level: 1 }).waitFor();
    assert.deepEqual(await look(tab), paper);
    writeFileSync(join(folder, "paper.yaml"), PAPER.replace("#fff8e7", "#ffeedd"));
    await until(
      "the edit is drawn",
      async () => {
        await page.reload();
        await card.waitFor();
        return (await colour(page, "background")) === "#ffeedd";
      },
      30_000,
    );
    writeFileSync(join(folder, "paper.yaml"), "gone: 1\n");
    await until(
      "what is gone is not drawn",
      async () => {
        await page.reload();
        await page.getByTestId("theme-default").waitFor();
        return (await page.locator('html[data-theme="default"]').count()) === 1;
      },
      30_000,
    );
    assert.deepEqual(complaints, []);
  },
);

test(
  "a hostile theme: nothing is fetched, nothing runs, the page can still be used",
  OPTIONS,
  async (t) => {
    const home = tempDir(t);
    mkdirSync(join(home, "dashboard-themes"));
    writeFileSync(join(home, "dashboard-themes", "hostile.yaml"), HOSTILE);
    const server = await startWebServer(t, { home, webDist, demo: true });
    const { page } = await openPage(t, server.url);
    const asked: string[] = [];
    page.on("response", (response) => void asked.push(response.url()));
    await page.goto(`${server.url}/themes`);
    const card = page.getByTestId("theme-hostile");
    await card.getByText("<img src=x onerror=window.pwned=1>").waitFor();
    await card.getByRole("button").click();
    await card.getByText("In use").waitFor();
    assert.equal(await page.evaluate("'pwned' in window"), false);
    assert.equal(await colour(page, "background"), "#041c1c");
    await page.getByTestId("theme-default").getByRole("button").click();
    await page.locator('html[data-theme="default"]').waitFor();
    assert.deepEqual(
      asked.filter((url) => url.includes("evil")),
      [],
    );
  },
);
