// The first run of a person without a terminal: from the address that the container prints, through the login, to an answered
// message (issue 6; dashboard.md §12.3). The vendor is the scripted one; it refuses, hangs up and answers as real ones do.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test, type TestContext } from "node:test";
import type { Page } from "playwright-core";
import { NO_BROWSER, openProfile, watchPage } from "../kit/browser.ts";
import { freePort } from "../kit/free-port.ts";
import { BASIC, BASIC_ENV, portalForGate, startGate, type Gate } from "../kit/gate.ts";
import { ask } from "../kit/http.ts";
import { REPLY, text } from "../kit/model-reply.ts";
import { startModelServer } from "../kit/model-server.ts";
import { buildWebApp } from "../kit/web-app.ts";

const OPTIONS = { skip: NO_BROWSER, timeout: 300_000 };
let webDist = "";

before(async () => {
  if (NO_BROWSER === false) webDist = await buildWebApp();
});

interface Visit {
  readonly gate: Gate;
  readonly page: Page;
  readonly complaints: string[];
}

async function visit(
  t: TestContext,
  env: Readonly<Record<string, string>>,
  origins: readonly string[] = [],
): Promise<Visit> {
  const gate = await startGate(t, { webDist, env, isNew: true });
  const page = await (await openProfile(t)).newPage();
  return { gate, page, complaints: watchPage(page, [gate.origin, ...origins]) };
}

async function firstMessage(page: Page, words: string, answer: string): Promise<void> {
  await page.getByTestId("setup-done").getByRole("link", { name: "Open the chat" }).click();
  await page.getByRole("textbox", { name: "Message", exact: true }).fill(words);
  await page.keyboard.press("Enter");
  await page.getByTestId("assistant-message").getByText(answer).waitFor();
}

test("a password, the demo, a first message: by keyboard alone", OPTIONS, async (t) => {
  const { gate, page, complaints } = await visit(t, BASIC_ENV);
  await page.goto(gate.origin);
  await page.getByRole("textbox", { name: /user/i }).waitFor();
  await page.getByRole("textbox", { name: /user/i }).focus();
  await page.keyboard.type(BASIC.username);
  await page.keyboard.press("Tab");
  await page.keyboard.type(BASIC.password);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/setup");
  assert.equal(await page.getByRole("heading", { level: 1 }).innerText(), "Set up a model");
  const demo = page.getByRole("button", { name: "Start the demo" });
  await demo.focus();
  await page.keyboard.press("Enter");
  await firstMessage(page, "hello there", "You said: hello there");
  await page.goto(gate.origin);
  await page.waitForURL("**/chat");
  assert.deepEqual(complaints, []);
});

test(
  "the portal's login, an own server with a key: gone, refused, then right; a first answer",
  OPTIONS,
  async (t) => {
    const { issuer, env } = await portalForGate(t);
    const { gate, page } = await visit(t, env, [issuer.url]);
    const model = await startModelServer(t, [
      { reply: REPLY.unauthorized },
      { times: Infinity, reply: text("Hello from ", "the vendor.") },
    ]);
    // Straight to the only provider, and back.
    await page.goto(gate.origin);
    await page.waitForURL("**/setup");
    await page.getByText("Another OpenAI-compatible server").click();
    const local = page.getByRole("region", { name: "Use a local server" });
    await local.getByLabel("Base URL").fill(`http://127.0.0.1:${await freePort()}/v1`);
    await local.getByLabel("Model", { exact: true }).fill("test-model");
    await local.getByLabel("API key (optional)").fill("sk-wrong-000000000000");
    const test = local.getByRole("button", { name: "Test and save" });
    await test.click();
    await local.getByTestId("stage-connect").waitFor();
    await local.getByLabel("Base URL").fill(model.baseUrl);
    await test.click();
    await local.getByTestId("stage-auth").waitFor();
    const dotEnv = join(gate.home, ".env");
    assert.equal(existsSync(dotEnv) && readFileSync(dotEnv, "utf8").includes("sk-wrong"), false);
    await local.getByLabel("API key (optional)").fill("sk-right-000000000000");
    await test.click();
    await page.getByTestId("setup-done").waitFor();
    assert.match(readFileSync(dotEnv, "utf8"), /sk-right/u);
    await firstMessage(page, "hi", "Hello from the vendor.");
  },
);

test("whoever is not signed in sees none of it", OPTIONS, async (t) => {
  const { gate, page } = await visit(t, BASIC_ENV);
  await page.goto(`${gate.origin}/setup`);
  await page.waitForURL("**/login?next=*");
  const answer = await ask(`${gate.url}/api/setup/model`, {
    method: "POST",
    body: { provider: "demo" },
  });
  assert.equal(answer.status, 401);
  const config = join(gate.home, "config.yaml");
  assert.equal(existsSync(config) && readFileSync(config, "utf8").includes("demo"), false);
});
