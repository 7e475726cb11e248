// Providers that point at a test issuer, and one login through them without a browser.
import type { Clock } from "#base/clock.ts";
import { systemRandom } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import { collectProviders } from "#auth/providers/collect.ts";
import type { Attempt, Login, RedirectProvider } from "#auth/providers/provider.ts";
import type { Offer } from "#auth/providers/registry.ts";
import type { ProviderSettings } from "#auth/providers/settings.ts";
import { browse } from "./oidc-browse.ts";

export const REDIRECT_URI = new URL("http://127.0.0.1:9/auth/callback");

/** Nothing is set: every bundled provider is skipped. */
export const NO_SETTINGS: ProviderSettings = {
  nous: { clientId: "", portalUrl: "https://portal.example.test" },
  selfHosted: {
    issuer: "",
    clientId: "",
    clientSecret: null,
    scopes: "openid profile email",
    leewaySeconds: 60,
    allowedUsers: [],
    allowedDomains: [],
    allowedGroups: [],
    idpLogout: false,
  },
  basic: { username: "", password: null, passwordHash: null, prefers: "hash" },
  drainSecret: null,
  metricsToken: null,
  disabled: [],
  proxy: { http: "", https: "", none: "" },
};

export interface KeptLog extends Log {
  /** `level message {fields}`, as an operator would read them. */
  readonly lines: string[];
}

export function createKeptLog(): KeptLog {
  const lines: string[] = [];
  const put =
    (level: string) =>
    (message: string, fields: object = {}): void =>
      void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  return { lines, debug: put("debug"), info: put("info"), warn: put("warn"), error: put("error") };
}

export function offerOf(
  name: string,
  settings: Partial<ProviderSettings>,
  clock: Clock,
  log: Log,
): Offer {
  const deps = { clock, log, random: systemRandom };
  const offer = collectProviders({ ...NO_SETTINGS, ...settings }, deps).find(
    (candidate) => candidate.name === name,
  );
  if (!offer) throw new Error(`no offer named ${name}`);
  return offer;
}

export function redirectProvider(
  name: string,
  settings: Partial<ProviderSettings>,
  clock: Clock,
  log: Log,
): RedirectProvider {
  const offer = offerOf(name, settings, clock, log);
  if (offer.status !== "ready") throw new Error(offer.reason);
  if (offer.provider.kind !== "redirect") throw new Error(`${name} is no redirect provider`);
  return offer.provider;
}

export interface Visit {
  readonly callback: URL;
  readonly attempt: Attempt;
}

const unlimited = (): AbortSignal => new AbortController().signal;

/** Up to the callback, which is not completed yet. */
export async function visit(provider: RedirectProvider): Promise<Visit> {
  const input = { redirectUri: REDIRECT_URI, fresh: false, signal: unlimited() };
  const { url, attempt } = await provider.startLogin(input);
  const callback = url.pathname === REDIRECT_URI.pathname ? url : await browse(url);
  return { callback, attempt };
}

export function complete(provider: RedirectProvider, { callback, attempt }: Visit): Promise<Login> {
  return provider.completeLogin({ callback, attempt, signal: unlimited() });
}

export async function login(provider: RedirectProvider): Promise<Login> {
  return complete(provider, await visit(provider));
}
