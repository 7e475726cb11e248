// Services and profiles in a real browser (dashboard.md §12.3, §14 row 62).
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { HermesError } from "#base/errors.ts";
import type { ServiceBody, ServiceState } from "#protocol/http-status.ts";
import { NO_BROWSER, openPage } from "../kit/browser.ts";
import { openDashboard } from "../kit/dashboard.ts";
import { fakeService, fakeServices } from "../kit/fake-services.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { buildWebApp } from "../kit/web-app.ts";
import { startWebServer } from "../kit/web-server.ts";

const OPTIONS = { skip: NO_BROWSER, timeout: 300_000 };
let webDist = "";

before(async () => {
  if (NO_BROWSER === false) webDist = await buildWebApp();
});

/** State, the word for it, the buttons that it allows. */
const STATES: readonly (readonly [ServiceState, string, readonly string[]])[] = [
  ["disabled", "off", ["Start"]],
  ["stopped", "stopped", ["Start"]],
  ["starting", "starting", ["Stop", "Restart"]],
  ["ready", "ready", ["Stop", "Restart"]],
  ["degraded", "degraded", ["Stop", "Restart"]],
  ["stopping", "stopping", ["Stop", "Restart"]],
  ["crash-looping", "crashing", ["Start", "Stop", "Restart"]],
  ["refused", "refused", ["Start"]],
  ["unknown", "unknown", ["Start", "Stop", "Restart"]],
];

function gateway(profile: string, given: Partial<ServiceBody>): ServiceBody {
  return fakeService({ name: `gateway-${profile}`, profile, ...given });
}

test(
  "each of the nine states: its word, its reason and the allowed buttons",
  OPTIONS,
  async (t) => {
    const services = fakeServices(
      STATES.map(([state]) => gateway(state, { state, reason: `because of ${state}` })),
    );
    const dashboard = await openDashboard(t, { webDist, services });
    const { page, complaints } = await openPage(t, dashboard.url);
    await page.goto(`${dashboard.url}/services`);
    for (const [state, word, buttons] of STATES) {
      const card = page.getByTestId(`card-gateway-${state}`);
      await card.getByText(word, { exact: true }).waitFor();
      await card.getByText(`because of ${state}`).waitFor();
      const names = await card.getByRole("button").allInnerTexts();
      assert.deepEqual(names, buttons, state);
    }
    services.set([gateway("ready", { state: "stopped", pid: null })]);
    await page.locator("[data-testid=card-gateway-ready][data-state=stopped]").waitFor();
    await page.getByTestId("card-gateway-refused").waitFor({ state: "detached" });
    assert.deepEqual(complaints, []);
  },
);

test(
  "a refusal with its ways out; a crash with its last exit and log, in which nothing runs",
  OPTIONS,
  async (t) => {
    const home = tempDir(t);
    const log = join(home, "current");
    writeFileSync(log, "first\n<img src=x onerror=window.pwned=1>\u001b[31mred\u001b[0m\n");
    const services = fakeServices([
      gateway("default", {
        state: "refused",
        pid: null,
        error: {
          code: "CONFIG_REFUSED",
          message: "telegram.token is not set",
          ways_out: ["hermes config set telegram.token …", "set TELEGRAM_BOT_TOKEN"],
        },
      }),
      gateway("work", {
        state: "crash-looping",
        restarts: 7,
        restarts_60s: 3,
        last_exit: { code: null, signal: "SIGSEGV", at: "2026-01-15T10:00:00.000Z" },
        log,
      }),
    ]);
    const dashboard = await openDashboard(t, { webDist, services });
    const { page, complaints } = await openPage(t, dashboard.url);
    await page.goto(`${dashboard.url}/services`);
    const refused = page.getByTestId("card-gateway-default");
    await refused.getByText("telegram.token is not set").waitFor();
    assert.deepEqual(await refused.getByRole("listitem").allInnerTexts(), [
      "hermes config set telegram.token …",
      "set TELEGRAM_BOT_TOKEN",
    ]);
    const crashed = page.getByTestId("card-gateway-work");
    await crashed.getByText(/SIGSEGV/).waitFor();
    await crashed.getByText("7 (3 in the last minute)").waitFor();
    await crashed
      .getByRole("region", { name: /Log of/ })
      .getByText("<img src=x")
      .waitFor();
    assert.equal(await page.evaluate("'pwned' in window"), false);
    assert.deepEqual(complaints, []);
  },
);

test(
  "a job: in progress, done, failed with its reason; a refused one says why",
  OPTIONS,
  async (t) => {
    const services = fakeServices([gateway("default", { state: "stopped", pid: null })]);
    const dashboard = await openDashboard(t, { webDist, services });
    const { page } = await openPage(t, dashboard.url);
    await page.goto(`${dashboard.url}/services`);
    const card = page.getByTestId("card-gateway-default");
    const started = Promise.withResolvers<ServiceBody>();
    services.answer = () => started.promise;
    await card.getByRole("button", { name: "Start: Gateway" }).click();
    await card.getByTestId("job").getByText("Starting…").waitFor();
    assert.equal(await card.getByRole("button", { name: "Start: Gateway" }).isDisabled(), true);
    services.set([gateway("default", { state: "ready" })]);
    started.resolve(gateway("default", { state: "ready" }));
    await card.getByTestId("job").waitFor({ state: "detached" });
    await card.getByText("ready", { exact: true }).waitFor();
    services.answer = () =>
      Promise.reject(
        new HermesError("SERVICE_REFUSED", "It refused: no token", { fix: "Set it." }),
      );
    await card.getByRole("button", { name: "Stop: Gateway" }).click();
    await card.getByTestId("job-failed").getByText("It refused: no token Set it.").waitFor();
    assert.deepEqual(services.calls, [
      "start gateway-default dashboard",
      "stop gateway-default dashboard",
    ]);
  },
);

test("the dashboard that serves the page is asked about twice", OPTIONS, async (t) => {
  const services = fakeServices([
    fakeService({ name: "dashboard", kind: "dashboard", profile: null }),
  ]);
  const dashboard = await openDashboard(t, { webDist, services });
  const { page } = await openPage(t, dashboard.url);
  await page.goto(`${dashboard.url}/services`);
  await page.getByRole("button", { name: "Stop: Dashboard" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/Nobody can use this dashboard/).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.deepEqual(services.calls, []);
  await page.getByRole("button", { name: "Restart: Dashboard" }).click();
  await dialog.getByRole("button", { name: "Restart" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByTestId("job").waitFor({ state: "detached" });
  assert.deepEqual(services.calls, ["restart dashboard dashboard"]);
});

test(
  "profiles: made, shown, with conversations of their own, by an address that says which",
  OPTIONS,
  async (t) => {
    const server = await startWebServer(t, { home: tempDir(t), webDist, demo: true });
    const { page, complaints } = await openPage(t, server.url);
    await page.goto(`${server.url}/profiles`);
    await page.getByRole("button", { name: "New profile" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Bad name!");
    await dialog.getByRole("button", { name: "New profile" }).click();
    await dialog
      .getByRole("alert")
      .getByText(/cannot name a profile/)
      .waitFor();
    complaints.length = 0;
    await dialog.getByLabel("Name").fill("work");
    await dialog.getByLabel("Begin with").selectOption("default");
    await dialog.getByRole("button", { name: "New profile" }).click();
    await page.getByTestId("profile-work").waitFor();
    await page.getByRole("button", { name: "Show here: work" }).click();
    await page.waitForURL("**/chat?profile=work");
    await page.getByRole("textbox", { name: "Message" }).fill("in work");
    await page.keyboard.press("Enter");
    await page.getByTestId("assistant-message").getByText("You said: in work").waitFor();
    assert.equal(new URL(page.url()).searchParams.get("profile"), "work");
    await page.getByRole("link", { name: "Sessions" }).click();
    await page.waitForURL("**/sessions?profile=work");
    await page.getByTestId("session-row").getByText("in work").waitFor();
    await page.getByLabel("Profile of this page").selectOption("default");
    await page.waitForURL("**/chat?profile=default");
    await page.goto(`${server.url}/sessions`);
    await page.getByText("No conversation yet").waitFor();
    assert.deepEqual(complaints, []);
    await page.goto(`${server.url}/chat?profile=gone`);
    await page.getByText("There is no profile “gone” any more.").waitFor();
  },
);

test(
  "a profile whose service could not be registered is said to be half done",
  OPTIONS,
  async (t) => {
    const server = await startWebServer(t, { home: tempDir(t), webDist, demo: true });
    const { page } = await openPage(t, server.url);
    await page.route("**/api/profiles", (route) =>
      route.request().method() === "POST"
        ? route.fulfill({
            status: 201,
            json: {
              ok: false,
              code: "partial",
              name: "half",
              path: "/x",
              service: { registered: false, detail: "The scan directory is full." },
            },
          })
        : route.continue(),
    );
    await page.goto(`${server.url}/profiles`);
    await page.getByRole("button", { name: "New profile" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("half");
    await dialog.getByRole("button", { name: "New profile" }).click();
    await dialog.getByTestId("partial").getByText("The scan directory is full.").waitFor();
    await dialog.getByRole("button", { name: "Register again" }).waitFor();
  },
);
