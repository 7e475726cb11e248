// The one behaviour suite of login providers, on the stub and on the real ones against a real issuer.
import { type TestContext } from "node:test";
import { silentLog } from "#base/log.ts";
import type { PasswordProvider, Provider, TokenProvider } from "#auth/providers/provider.ts";
import { Secret } from "#auth/providers/secret.ts";
import type { ProviderSettings } from "#auth/providers/settings.ts";
import { FakeClock } from "../kit/fake-clock.ts";
import { GENERIC_ACCOUNT, GENERIC_CLIENT, startGeneric } from "../kit/oidc-generic.ts";
import type { Issuer } from "../kit/oidc-issuer.ts";
import { PORTAL_CLIENT, startPortal } from "../kit/oidc-portal.ts";
import { NO_SETTINGS, offerOf, redirectProvider } from "../kit/oidc-providers.ts";
import { createStubProvider, STUB_IDENTITY } from "../kit/stub-provider.ts";
import {
  passwordContract,
  redirectContract,
  tokenContract,
  type RedirectFixture,
} from "./auth-provider.ts";

redirectContract("stub", async () => {
  const clock = new FakeClock();
  const provider = createStubProvider({ clock });
  return {
    provider,
    twin: createStubProvider({ clock }),
    userId: STUB_IDENTITY.userId,
    now: () => clock.now() / 1000,
    setReachable: (reachable) => {
      provider.state.reachable = reachable;
    },
  };
});

function fixtureOf(
  t: TestContext,
  issuer: Issuer,
  name: string,
  settings: Partial<ProviderSettings>,
  userId: string,
): RedirectFixture {
  t.after(() => issuer[Symbol.asyncDispose]());
  // The issuer's clock is the machine's.
  const clock = new FakeClock(Date.now());
  return {
    provider: redirectProvider(name, settings, clock, silentLog),
    twin: redirectProvider(name, settings, clock, silentLog),
    userId,
    now: () => clock.now() / 1000,
    setReachable: (reachable) => issuer.faults.set("*", reachable ? null : { kind: "cut" }),
  };
}

redirectContract("nous", async (t) => {
  const portal = await startPortal();
  const nous = { clientId: PORTAL_CLIENT, portalUrl: portal.url };
  return fixtureOf(t, portal, "nous", { nous }, "portal-user-1");
});

redirectContract("self-hosted", async (t) => {
  const issuer = await startGeneric();
  const selfHosted = {
    ...NO_SETTINGS.selfHosted,
    issuer: issuer.url,
    clientId: GENERIC_CLIENT,
    scopes: "openid profile email offline_access",
    idpLogout: true,
  };
  return fixtureOf(t, issuer, "self-hosted", { selfHosted }, GENERIC_ACCOUNT.sub);
});

function bundled<K extends Provider["kind"]>(
  kind: K,
  name: string,
  settings: Partial<ProviderSettings>,
): Extract<Provider, { kind: K }> {
  const offer = offerOf(name, settings, new FakeClock(), silentLog);
  if (offer.status !== "ready" || offer.provider.kind !== kind) throw new Error(`no ${name}`);
  return offer.provider as Extract<Provider, { kind: K }>;
}

passwordContract("basic", async () => {
  const username = "Ada";
  const password = "correct horse battery";
  const basic = { username, password: new Secret(password), passwordHash: null, prefers: "hash" };
  const make = (): PasswordProvider =>
    bundled("password", "basic", { basic: { ...basic, prefers: "hash" } });
  return { provider: make(), twin: make(), username, password };
});

const TOKEN = "Q2hhbmdlVGhpc1Rva2VuSXRJc09ubHlGb3JUZXN0czEyMzQ1";

tokenContract("drain", async () => {
  const make = (): TokenProvider => bundled("token", "drain", { drainSecret: new Secret(TOKEN) });
  return { provider: make(), twin: make(), token: TOKEN };
});

tokenContract("metrics", async () => {
  const make = (): TokenProvider =>
    bundled("token", "metrics", { metricsToken: new Secret(TOKEN) });
  return { provider: make(), twin: make(), token: TOKEN };
});
