// Every page with something on it, as a person sees it: three sizes, dark and light, the second language. Pictures are kept under
// test-artifacts/screens for whoever looks at them; what a picture cannot prove is asserted (dashboard.md §12.4, §12.7).
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { before, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import type { SessionStore } from "#agent/ports/session-store.ts";
import { NO_USAGE } from "#protocol/messages.ts";
import { axeViolations } from "../kit/axe.ts";
import { NO_BROWSER, openPage } from "../kit/browser.ts";
import { PROJECT } from "../kit/cli.ts";
import { openDashboard } from "../kit/dashboard.ts";
import { until } from "../kit/until.ts";
import { buildWebApp } from "../kit/web-app.ts";

const OPTIONS = { skip: NO_BROWSER, timeout: 300_000 };
const SCREENS = join(PROJECT, "test-artifacts", "screens");
const DAY_S = 86_400;
const PAGES = {
  chat: "/chat/long",
  setup: "/setup",
  sessions: "/sessions",
  services: "/services",
  profiles: "/profiles",
  models: "/models",
  keys: "/env",
  config: "/config",
  logs: "/logs",
  analytics: "/analytics",
  themes: "/themes",
} as const;

const LOOKS = [
  { name: "desktop-dark", width: 1440, height: 900, theme: "default", language: "en" },
  { name: "tablet-light", width: 768, height: 1024, theme: "daylight", language: "en" },
  { name: "phone-dark", width: 360, height: 740, theme: "default", language: "zh-Hans" },
  { name: "phone-light", width: 360, height: 740, theme: "daylight", language: "en" },
] as const;

let webDist = "";

before(async () => {
  if (NO_BROWSER === false) webDist = await buildWebApp();
  mkdirSync(SCREENS, { recursive: true });
});

/** A dashboard that was used for a month. */
async function used(t: TestContext) {
  const dashboard = await openDashboard(t, { webDist, profiles: ["work"] });
  // The archive of the kit is the whole store.
  const store = dashboard.profiles.get("default")?.archive as SessionStore | undefined;
  assert.ok(store);
  const now = Math.floor(Date.now() / 1000);
  const said = [
    ["user", "Why does the nightly backup fail?"],
    [
      "assistant",
      "The disk is full: `/var/backups` holds **41 GB** of old archives.\n\n```sh\nfind /var/backups -mtime +30 -delete\n```\n\n| folder | size |\n|---|---|\n| daily | 38 GB |\n| weekly | 3 GB |\n\n- nothing else is in the way\n- the next run is at 02:00",
    ],
    ["user", "Keep the last ten."],
    ["assistant", "Done; 31 archives are gone, and 36 GB are free again."],
  ] as const;
  for (const [id, title, model] of [
    ["long", "Nightly backup", "anthropic/claude-sonnet-4"],
    ["other", "Trip to the mountains", "openai/gpt-5"],
  ] as const) {
    await store.createSession({
      id,
      source: id === "long" ? "web" : "cli",
      model,
      startedAt: now - DAY_S,
    });
    await store.updateSession(id, { title });
    await store.appendMessages(
      id,
      said.map(([role, content], index) => ({ role, content, timestamp: now - DAY_S + index })),
    );
    for (let day = 0; day < 30; day += 1) {
      if (day % 7 === 5) continue;
      await store.addUsage({
        sessionId: id,
        provider: "openrouter",
        model,
        usage: {
          ...NO_USAGE,
          input: 20_000 + ((day * 7919) % 60_000),
          output: 2000 + ((day * 104_729) % 9000),
        },
        costUsd: 0.02 * ((day % 5) + 1),
        at: now - day * DAY_S,
      });
    }
  }
  return dashboard;
}

async function settled(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await until("nothing loads", async () => (await page.locator(".skeleton").count()) === 0);
}

for (const look of LOOKS) {
  test(
    `every page, ${look.name}: fits, has one heading, and axe finds nothing`,
    OPTIONS,
    async (t) => {
      const dashboard = await used(t);
      const { page, complaints } = await openPage(t, dashboard.url, {
        viewport: { width: look.width, height: look.height },
        reducedMotion: "reduce",
      });
      await page.addInitScript(
        `localStorage.setItem("hermes.theme", "${look.theme}"); localStorage.setItem("hermes.language", "${look.language}");`,
      );
      const found: string[] = [];
      for (const [name, path] of Object.entries(PAGES)) {
        await page.goto(dashboard.url + path);
        await settled(page);
        if (name === "chat") await page.getByText("36 GB").waitFor();
        if (name === "analytics") await page.getByTestId("daily-chart").locator("canvas").waitFor();
        await page.screenshot({ path: join(SCREENS, `${name}-${look.name}.png`) });
        const { width, headings, language } = await page.evaluate<{
          width: number;
          headings: number;
          language: string;
        }>(`({
        width: document.documentElement.scrollWidth,
        headings: document.querySelectorAll("h1").length,
        language: document.documentElement.lang,
      })`);
        assert.ok(width <= look.width, `${path} is ${width} px wide`);
        assert.equal(headings, 1, path);
        assert.equal(language, look.language);
        found.push(...(await axeViolations(page)).map((line) => `${path}: ${line}`));
      }
      assert.deepEqual(found, []);
      assert.deepEqual(complaints, []);
    },
  );
}
