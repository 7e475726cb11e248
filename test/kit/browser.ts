// A real Chromium that reports what a user would not see: console errors, CSP reports, requests to other hosts.
import { existsSync } from "node:fs";
import { after, type TestContext } from "node:test";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

const PROGRAM = "/usr/bin/chromium";

/** For `test(name, { skip: NO_BROWSER })`: the reason, or false. */
export const NO_BROWSER = existsSync(PROGRAM) ? false : `needs ${PROGRAM}`;

let browser: Promise<Browser> | null = null;

function sharedBrowser(): Promise<Browser> {
  browser ??= chromium.launch({
    executablePath: PROGRAM,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  return browser;
}

after(async () => (await browser)?.close());

export interface WatchedPage {
  readonly page: Page;
  /** Console errors, uncaught errors, policy violations and requests beyond `origin`. */
  readonly complaints: string[];
}

/** A page of a fresh profile. What it must not do is collected in `complaints`. */
export async function openPage(
  t: TestContext,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await (await sharedBrowser()).newContext({ locale: "en-US", ...options });
  t.after(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => void complaints.push(`uncaught: ${error.message}`));
  page.on("console", (line) => {
    if (line.type() === "error") complaints.push(`console: ${line.text()}`);
  });
  page.on("request", (request) => {
    const url = request.url();
    const isOwn = url.startsWith(`${origin}/`) || /^(data|blob):/.test(url);
    if (!isOwn) complaints.push(`foreign host: ${url}`);
  });
  return { page, complaints };
}
