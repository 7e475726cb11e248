// A dashboard behind its gate, with the stub provider, and browsers of one cookie jar each.
import type { TestContext } from "node:test";
import type { Clock } from "#base/clock.ts";
import { systemClock } from "#base/clock.ts";
import type { Offer } from "#auth/providers/registry.ts";
import { createCookieJar, type CookieJar } from "./cookie-jar.ts";
import { type DashboardOptions, openDashboard, type TestDashboard } from "./dashboard.ts";
import { type Answer, ask, type Question } from "./http.ts";
import { createStubProvider, offerStub, type StubProvider } from "./stub-provider.ts";

export interface GatedOptions extends Omit<DashboardOptions, "offers"> {
  /** Beside the stub; the stub alone unless given. */
  readonly more?: readonly Offer[];
  /** No stub: only `more`. */
  readonly withoutStub?: boolean;
  readonly stub?: StubProvider;
}

export interface GatedDashboard extends TestDashboard {
  readonly stub: StubProvider;
  /** A new browser. `headers` go with each of its requests. */
  browser(options?: BrowserOptions): TestBrowser;
}

export interface BrowserOptions {
  readonly https?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** "/hermes": put in front of nothing, only cookies' paths follow it. */
  readonly prefix?: string;
}

export interface TestBrowser {
  readonly jar: CookieJar;
  /** One request; redirects are not followed. */
  get(path: string, question?: Question): Promise<Answer>;
  post(path: string, body?: object, question?: Question): Promise<Answer>;
  /** The whole way through the stub; returns the callback's answer. */
  login(next?: string): Promise<Answer>;
}

/** On 0.0.0.0 unless the flags say otherwise; asked on loopback. */
export async function openGated(
  t: TestContext,
  options: GatedOptions = {},
): Promise<GatedDashboard> {
  const clock: Clock = options.clock ?? systemClock;
  const stub = options.stub ?? createStubProvider({ clock });
  const offers = [...(options.withoutStub ? [] : [offerStub(stub)]), ...(options.more ?? [])];
  const dashboard = await openDashboard(t, {
    ...options,
    offers,
    flags: { host: "0.0.0.0", ...options.flags },
  });
  return {
    ...dashboard,
    stub,
    browser: (settings = {}) => createBrowser(dashboard.url, settings),
  };
}

export function createBrowser(
  url: string,
  { https = false, headers = {}, prefix = "" }: BrowserOptions = {},
): TestBrowser {
  const jar = createCookieJar(https);
  const send = async (path: string, question: Question = {}): Promise<Answer> => {
    const cookie = jar.header(`${prefix}${path}`);
    const answer = await ask(`${url}${path}`, {
      ...question,
      headers: {
        ...headers,
        ...(cookie === undefined ? {} : { cookie }),
        ...question.headers,
      },
    });
    jar.take(answer.setCookies);
    return answer;
  };
  const withoutPrefix = (location: string): string =>
    location.startsWith(prefix) ? location.slice(prefix.length) : location;
  return {
    jar,
    get: send,
    post: (path, body, question = {}) =>
      send(path, { method: "POST", ...(body === undefined ? {} : { body }), ...question }),
    async login(next) {
      const query = next === undefined ? "" : `&next=${encodeURIComponent(next)}`;
      const start = await send(`/auth/login?provider=stub${query}`);
      const back = new URL(start.headers["location"] ?? "http://missing.invalid/");
      return send(withoutPrefix(`${back.pathname}${back.search}`));
    },
  };
}
