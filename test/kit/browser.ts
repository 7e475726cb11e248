// A real Chromium that reports what a user would not see: console errors, CSP reports, requests to other hosts.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type BrowserServer,
  type LaunchOptions,
  type Page,
} from "playwright-core";
import { tempDir } from "./temp-dir.ts";

const PROGRAM = "/usr/bin/chromium";

/** For `test(name, { skip: NO_BROWSER })`: the reason, or false. */
export const NO_BROWSER = existsSync(PROGRAM) ? false : `needs ${PROGRAM}`;

let server: Promise<BrowserServer> | null = null;
let browser: Promise<Browser> | null = null;

/** Names under example.test lead to loopback: cookies, origins and schemes are then what they are in the world. */
const LAUNCH: LaunchOptions = {
  executablePath: PROGRAM,
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP *.example.test 127.0.0.1",
  ],
};

function sharedBrowser(): Promise<Browser> {
  server ??= chromium.launchServer(LAUNCH);
  browser ??= server.then((running) => chromium.connect(running.wsEndpoint()));
  return browser;
}

// A polite end can take for ever on a busy machine, and its profile is thrown away anyway.
after(async () => (await server)?.kill());

export interface WatchedPage {
  readonly page: Page;
  /** Console errors, uncaught errors, policy violations and requests beyond `origin`. */
  readonly complaints: string[];
}

/** A fresh profile, whose pages (tabs) share their cookies. Certificates are not judged. */
export async function openProfile(
  t: TestContext,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const made = { locale: "en-US", ignoreHTTPSErrors: true, ...options };
  const context = await (await sharedBrowser()).newContext(made);
  t.after(() => context.close());
  context.setDefaultTimeout(60_000);
  return context;
}

/** A fresh profile of a browser of its own that blocks cookies of these sites, as its settings page writes `[*.]name`. */
export async function openProfileWithoutCookies(
  t: TestContext,
  sites: string,
): Promise<BrowserContext> {
  const folder = tempDir(t, "hermes-chromium");
  const blocked = { exceptions: { cookies: { [`${sites},*`]: { setting: 2 } } } };
  mkdirSync(join(folder, "Default"));
  writeFileSync(
    join(folder, "Default", "Preferences"),
    JSON.stringify({ profile: { content_settings: blocked } }),
  );
  const context = await chromium.launchPersistentContext(folder, LAUNCH);
  t.after(() => context.close());
  context.setDefaultTimeout(60_000);
  return context;
}

/** A page of a fresh profile. What it must not do is collected in `complaints`. */
export async function openPage(
  t: TestContext,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await openProfile(t, options);
  const page = await context.newPage();
  return { page, complaints: watchPage(page, [origin]) };
}

/** What Chromium says of every page that came over plain http; the header is for the others. */
const PLAIN_HTTP =
  /^The Cross-Origin-Opener-Policy header has been ignored, because the URL's origin/;

/** Fills up from now on. */
export function watchPage(page: Page, origins: readonly string[]): string[] {
  const complaints: string[] = [];
  page.on("pageerror", (error) => void complaints.push(`uncaught: ${error.message}`));
  page.on("console", (line) => {
    if (line.type() !== "error" || PLAIN_HTTP.test(line.text())) return;
    complaints.push(`console: ${line.text()}`);
  });
  page.on("request", (request) => {
    const url = request.url();
    const isOwn = origins.some((origin) => url.startsWith(`${origin}/`));
    if (!isOwn && !/^(data|blob):/.test(url)) complaints.push(`foreign host: ${url}`);
  });
  return complaints;
}
