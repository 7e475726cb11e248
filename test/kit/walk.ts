// What the walks over every registered route share (dashboard.md §3.4): the routes of the server's own table, who asks, and what a
// refusal looks like.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { assemble } from "#dashboard/assemble.ts";
import type { RegisteredRoute } from "#dashboard/routing.ts";
import { LOCAL_TOKEN, prepareDashboard } from "./dashboard.ts";
import { fakeService, fakeServices } from "./fake-services.ts";
import { type GatedDashboard, openGated } from "./gated.ts";
import type { Answer } from "./http.ts";
import { offerStub, createStubProvider } from "./stub-provider.ts";
import { systemClock } from "#base/clock.ts";

export const SECRET = "a-session-secret-of-the-walk";
export const PLANTED = "sk-planted-0123456789";

export async function routesOf(t: TestContext): Promise<readonly RegisteredRoute[]> {
  const offers = [offerStub(createStubProvider({ clock: systemClock }))];
  const { deps } = await prepareDashboard(t, { offers, flags: { host: "0.0.0.0" } });
  const assembly = assemble(deps);
  t.after(() => {
    assembly.closeStreams();
    return assembly.closeAuth();
  });
  return assembly.table.routes;
}

export function openPlanted(t: TestContext): Promise<GatedDashboard> {
  return openGated(t, {
    dotEnv: `OPENAI_API_KEY=${PLANTED}\n`,
    env: { HERMES_DASHBOARD_SESSION_SECRET: SECRET },
    services: fakeServices([fakeService()]),
  });
}

export function fill(path: string): string {
  return path
    .replaceAll("{requestId}", "req_1")
    .replaceAll("{sid}", "0123456789abcdef")
    .replaceAll("{id}", "20260115_120000_abc123")
    .replaceAll("{slot}", "gateway-default")
    .replaceAll("{name}", "nosuch")
    .replace("/*", "/some-file");
}

/** Spellings that dispatch to the same route. */
export function spellings(path: string): string[] {
  const encoded = `/%${path.charCodeAt(1).toString(16)}${path.slice(2)}`;
  return [path, `/.${path}`, `/x/..${path}`, `/x/%2e%2e${path}`, encoded, `${path}?x=/api/status`];
}

/** Spellings of a path that are no route, and what they are instead: an unknown API path, a page, or nothing at all. */
export function misspellings(
  path: string,
): readonly { target: string; is: "api" | "bad" | "page" }[] {
  const api = path.startsWith("/api/") ? "api" : "page";
  const last = path.lastIndexOf("/");
  return [
    { target: `${path}/`, is: api },
    { target: `${path};x`, is: api },
    { target: `${path}%3fx`, is: api },
    { target: `${path}%20`, is: api },
    { target: path.toUpperCase(), is: api },
    { target: `/${path}`, is: "api" },
    { target: `${path.slice(0, last)}/${path.slice(last)}`, is: "api" },
    { target: `/x/..%2f${path.slice(1)}`, is: "bad" },
    { target: `${path}%2F`, is: "bad" },
    { target: `${path}%00`, is: "bad" },
    { target: `/x/..%5c${path}`, is: "bad" },
  ];
}

export interface Visitor {
  readonly name: "stranger" | "garbage" | "expired" | "local token";
  readonly headers: Readonly<Record<string, string>>;
}

export async function visitors(gated: GatedDashboard): Promise<readonly Visitor[]> {
  const browser = gated.browser();
  await browser.login();
  const cookie = browser.jar.header("/") ?? "";
  await browser.post("/auth/logout");
  return [
    { name: "stranger", headers: {} },
    { name: "garbage", headers: { cookie: "hermes_session_at=garbage" } },
    { name: "expired", headers: { cookie } },
    { name: "local token", headers: { "x-hermes-session-token": LOCAL_TOKEN } },
  ];
}

export function expectRefusal(answer: Answer, method: string, dead: boolean, what: string): void {
  assert.equal(answer.status, 401, what);
  if (method !== "HEAD") {
    assert.deepEqual(
      answer.json(),
      {
        error: dead ? "session_expired" : "unauthenticated",
        detail: "Unauthorized",
        reason: dead ? "invalid_or_expired_session" : "no_cookie",
        login_url: "/login",
      },
      what,
    );
  }
  expectDeletions(answer, dead, what);
}

export function expectDeletions(answer: Answer, dead: boolean, what: string): void {
  assert.ok(
    answer.setCookies.every((line) => line.includes("Max-Age=0")),
    what,
  );
  const clears = answer.setCookies.some((line) => line.startsWith("hermes_session_at=;"));
  assert.equal(clears, dead, what);
}

export function expectNoSecret(answer: Answer, home: string, what: string): void {
  for (const secret of [PLANTED, SECRET, LOCAL_TOKEN, home]) {
    assert.ok(!answer.body.includes(secret), `${what} shows a secret or a path`);
  }
}

/** Whether a route of this pattern takes the path. */
export function matches(pattern: string, path: string): boolean {
  const source = pattern.replaceAll(/\{\w+\}/gu, "[^/]+").replace("/*", "/.+");
  return new RegExp(`^${source}$`, "u").test(path);
}
