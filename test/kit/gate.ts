// `hermes dashboard` behind its login gate, as a real process, and what a visitor of a browser does there.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { BrowserContext, Page, Response } from "playwright-core";
import { createCookieJar } from "./cookie-jar.ts";
import { ask, type Answer, type Question } from "./http.ts";
import { browse } from "./oidc-browse.ts";
import { GENERIC_CLIENT, startGeneric, type GenericOptions } from "./oidc-generic.ts";
import type { Issuer } from "./oidc-issuer.ts";
import { PORTAL_CLIENT, startPortal } from "./oidc-portal.ts";
import { HOST } from "./nginx.ts";
import { tempDir } from "./temp-dir.ts";
import { startWebServer, type WebServer } from "./web-server.ts";

export const BASIC = { username: "admin", password: "correct horse battery" } as const;

export interface Gate extends WebServer {
  readonly port: number;
  /** `http://agent.example.test:<port>`, for browsers of test/kit/browser.ts. */
  readonly origin: string;
}

export interface GateOptions {
  readonly webDist: string;
  readonly home?: string;
  readonly port?: number;
  /** More of config.yaml. */
  readonly config?: string;
  /** Nobody has chosen a model yet. */
  readonly isNew?: boolean;
  /** Of the providers, and whatever else the test is about. */
  readonly env: Readonly<Record<string, string>>;
}

/** Bound to all addresses, which puts the gate on; a public URL among `env` puts it on by itself, on loopback. */
export async function startGate(t: TestContext, options: GateOptions): Promise<Gate> {
  const { webDist, env, config = "" } = options;
  // Ends run in order: the process must be gone before its home is.
  let started: WebServer | null = null;
  t.after(async () => {
    started?.run.child.kill("SIGKILL");
    await started?.run.ended;
  });
  const home = options.home ?? tempDir(t, "hermes-home");
  const file = join(home, "config.yaml");
  if (options.isNew !== true)
    writeFileSync(file, `model:\n  provider: demo\n  default: demo\n${config}`);
  const bind: Record<string, string> =
    "HERMES_DASHBOARD_PUBLIC_URL" in env ? {} : { HERMES_DASHBOARD_HOST: "0.0.0.0" };
  const server = await startWebServer(t, {
    home,
    webDist,
    env: { ...bind, ...env },
    ...(options.port === undefined ? {} : { port: options.port }),
  });
  started = server;
  const port = Number(new URL(server.url).port);
  return { ...server, port, origin: `http://${HOST}:${port}` };
}

export interface IssuerOfGate {
  readonly issuer: Issuer;
  /** Settings of the provider that trusts it. */
  readonly env: Readonly<Record<string, string>>;
}

export async function portalForGate(t: TestContext): Promise<IssuerOfGate> {
  const issuer = await startPortal();
  t.after(() => issuer[Symbol.asyncDispose]());
  const env = {
    HERMES_DASHBOARD_OAUTH_CLIENT_ID: PORTAL_CLIENT,
    HERMES_DASHBOARD_PORTAL_URL: issuer.url,
  };
  return { issuer, env };
}

export async function genericForGate(
  t: TestContext,
  options: GenericOptions = {},
): Promise<IssuerOfGate> {
  const issuer = await startGeneric(options);
  t.after(() => issuer[Symbol.asyncDispose]());
  const env = {
    HERMES_DASHBOARD_OIDC_ISSUER: issuer.url,
    HERMES_DASHBOARD_OIDC_CLIENT_ID: GENERIC_CLIENT,
  };
  return { issuer, env };
}

export const BASIC_ENV = {
  HERMES_DASHBOARD_BASIC_AUTH_USERNAME: BASIC.username,
  HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: BASIC.password,
} as const;

/** The app is drawn and its socket is open: only somebody who is in gets here. */
export async function appIsOpen(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.getByTestId("service-dashboard").waitFor();
}

export async function signInByPassword(page: Page): Promise<void> {
  await page.getByLabel("User name").fill(BASIC.username);
  await page.getByLabel("Password", { exact: true }).fill(BASIC.password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/**
 * By a form of a page without the app, which would go to the login by itself when its socket ends. `login`: the whole
 * address of where it ends.
 */
export async function signOut(page: Page, login: string): Promise<void> {
  await page.goto(login.replace("logged_out=1", "fresh=1"));
  const action = JSON.stringify(login.replace("/login?logged_out=1", "/auth/logout"));
  await page.evaluate(`{
    const form = document.createElement("form");
    form.method = "post";
    form.action = ${action};
    document.body.append(form);
    form.submit();
  }`);
  await page.waitForURL(login);
}

/** Through the issuer, without a browser. The `Cookie` header of who is in. */
export async function signInAtIssuer({ url }: Gate, provider: string): Promise<string> {
  const jar = createCookieJar();
  const begun = await ask(`${url}/auth/login?provider=${provider}`);
  jar.take(begun.setCookies);
  const back = await browse(new URL(begun.headers["location"] ?? ""));
  const done = await ask(back.href, { headers: { cookie: jar.header("/") ?? "" } });
  if (done.status !== 302) throw new Error(`the callback answered ${done.status}: ${done.body}`);
  jar.take(done.setCookies);
  return jar.header("/") ?? "";
}

/** What the page's own script would get from the API. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the test names the shape it expects
export function fetchIn<T = unknown>(
  page: Page,
  path: string,
  init: Readonly<Record<string, unknown>> = {},
): Promise<{ status: number; body: T }> {
  return page.evaluate(`fetch(${JSON.stringify(path)}, ${JSON.stringify(init)}).then(
    async (answer) => {
      const text = await answer.text();
      const isJson = (answer.headers.get("content-type") ?? "").includes("json");
      return { status: answer.status, body: isJson ? JSON.parse(text) : text };
    })`);
}

/** Cookies of ours in the browser's jar, `name=value`. */
export async function ownCookies(context: BrowserContext): Promise<string[]> {
  const all = await context.cookies();
  return all
    .filter(({ name }) => name.includes("hermes_"))
    .map(({ name, value }) => `${name}=${value}`);
}

/** A request of a program that has the browser's cookies. */
export function askAs(
  gate: Gate,
  cookies: readonly string[],
  path: string,
  question: Question = {},
): Promise<Answer> {
  const headers = { cookie: cookies.join("; "), host: new URL(gate.origin).host };
  return ask(`${gate.url}${path}`, { ...question, headers: { ...headers, ...question.headers } });
}

/** `Set-Cookie` lines of an answer, one each. */
export async function setCookieLines(response: Response): Promise<string[]> {
  const headers = await response.headersArray();
  return headers
    .filter(({ name }) => name.toLowerCase() === "set-cookie")
    .map(({ value }) => value);
}

/** Everything that was logged in the home and printed, in one text. */
export function allLogs({ home, run }: Gate): string {
  const folder = join(home, "logs");
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8"));
  return [run.stdout(), run.stderr(), ...texts].join("\n");
}
