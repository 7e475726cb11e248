// The services page in real Chromium as an observer of the truth matrix: what its cards say to whoever looks at them.
import type { TestContext } from "node:test";
import type { Page } from "playwright-core";
import { openPage } from "./browser.ts";
import type { Claim, Observer, Truth } from "./truth-observers.ts";
import { DASHBOARD, type TruthRing } from "./truth-ring.ts";

/** Longer than the page takes to notice that nothing answers. */
const ANSWER_MS = 3500;

/** Opens the page once; the dashboard must be up. */
export async function pageObserver(t: TestContext, ring: TruthRing): Promise<Observer> {
  const { page } = await openPage(t, ring.dashboardUrl);
  await page.goto(`${ring.dashboardUrl}/services`);
  await page.getByTestId(`card-${DASHBOARD}`).waitFor();
  return {
    name: "services page",
    async ask(_, slot) {
      // A person looks at a page that has just been drawn anew, or that waits in vain.
      const answered = page
        .waitForResponse(({ url }) => url().endsWith("/api/services"), { timeout: ANSWER_MS })
        .then((response) => response.finished())
        .catch(() => null);
      await answered;
      return states(page, slot);
    },
    truth: (truth) =>
      truth.dashboard === "ready"
        ? { gateway: truth.gateway, dashboard: truth.dashboard }
        : UNKNOWN,
  };
}

const UNKNOWN: Claim = { gateway: "unknown", dashboard: "unknown" } satisfies Partial<Truth>;

/** After the frame that draws what came. */
async function states(page: Page, slot: string): Promise<Claim> {
  const told = await page.evaluate<Record<string, string | null>>(
    `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(
      Object.fromEntries([...document.querySelectorAll("[data-testid^=card-]")].map((card) =>
        [card.dataset.testid.slice("card-".length), card.dataset.state]))))))`,
  );
  return { gateway: told[slot] ?? "not told", dashboard: told[DASHBOARD] ?? "not told" };
}
