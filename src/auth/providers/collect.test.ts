import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { silentLog } from "#base/log.ts";
import { FakeClock } from "../../../test/kit/fake-clock.ts";
import { NO_SETTINGS, offerOf } from "../../../test/kit/oidc-providers.ts";
import { hashPassword } from "./password-hash.ts";
import { Secret } from "./secret.ts";
import type { BasicSettings, ProviderSettings, SelfHostedSettings } from "./settings.ts";

function offered(name: string, settings: Partial<ProviderSettings>) {
  return offerOf(name, settings, new FakeClock(), silentLog);
}

type Case = readonly [
  what: string,
  provider: string,
  settings: Partial<ProviderSettings>,
  status: "ready" | "skipped" | "invalid",
  reason: RegExp,
];

const nous = (clientId: string, portalUrl = "https://portal.example.test") => ({
  nous: { clientId, portalUrl },
});
const own = (settings: Partial<SelfHostedSettings>) => ({
  selfHosted: {
    ...NO_SETTINGS.selfHosted,
    issuer: "https://id.example.test",
    clientId: "hermes",
    ...settings,
  },
});
const basic = (settings: Partial<BasicSettings>) => ({
  basic: { ...NO_SETTINGS.basic, ...settings },
});
const secret = (text: string): Secret => new Secret(text);
const HASH = await hashPassword("correct horse battery");
const [, , , , SALT = "", KEY = ""] = HASH.split("$");
const hash = (text: string) => basic({ username: "ada", passwordHash: secret(text) });
const DRAIN = "Q2hhbmdlVGhpc1Rva2VuSXRJc09ubHlGb3JUZXN0czEyMzQ1";

const CASES: readonly Case[] = [
  [
    "nothing",
    "nous",
    {},
    "skipped",
    /^HERMES_DASHBOARD_OAUTH_CLIENT_ID \(dashboard\.oauth\.client_id\) is not set$/u,
  ],
  ["a client id", "nous", nous("agent:a"), "ready", /^$/u],
  ["another client id", "nous", nous("inst-1"), "invalid", /must start with "agent:"/u],
  ["only the prefix", "nous", nous("agent:"), "invalid", /must start with "agent:"/u],
  ["portal without scheme", "nous", nous("agent:a", "portal.test"), "invalid", /PORTAL_URL.*http/u],
  ["portal by ftp", "nous", nous("agent:a", "ftp://portal.test"), "invalid", /PORTAL_URL.*http/u],
  ["portal with a query", "nous", nous("agent:a", "https://p.test/?a=1"), "invalid", /a query/u],
  ["nothing", "self-hosted", {}, "skipped", /OIDC_ISSUER.*OIDC_CLIENT_ID.*are not set/u],
  ["both", "self-hosted", own({ allowedUsers: ["a"] }), "ready", /^$/u],
  ["no client id", "self-hosted", own({ clientId: "" }), "invalid", /CLIENT_ID.*is not/u],
  ["no issuer", "self-hosted", own({ issuer: "" }), "invalid", /OIDC_ISSUER.*is not/u],
  [
    "http elsewhere",
    "self-hosted",
    own({ issuer: "http://id.example.test" }),
    "invalid",
    /not https/u,
  ],
  ["http on loopback", "self-hosted", own({ issuer: "http://127.0.0.1:8080" }), "ready", /^$/u],
  ["http on ::1", "self-hosted", own({ issuer: "http://[::1]:8080/x" }), "ready", /^$/u],
  [
    "http that only begins like loopback",
    "self-hosted",
    own({ issuer: "http://127.0.0.1.evil.test" }),
    "invalid",
    /not https/u,
  ],
  ["no URL", "self-hosted", own({ issuer: "id.example.test" }), "invalid", /not an https URL/u],
  ["query", "self-hosted", own({ issuer: "https://id.test/?" }), "invalid", /query or a frag/u],
  ["fragment", "self-hosted", own({ issuer: "https://id.test/#a" }), "invalid", /query or a frag/u],
  ["no openid", "self-hosted", own({ scopes: "profile email" }), "invalid", /contain openid/u],
  [
    "openid within a word",
    "self-hosted",
    own({ scopes: "openid2 email" }),
    "invalid",
    /contain openid/u,
  ],
  [
    "the whole world",
    "self-hosted",
    own({ issuer: "https://accounts.google.com/" }),
    "invalid",
    /whole world.*ALLOWED_USERS/u,
  ],
  [
    "some of the world",
    "self-hosted",
    own({ issuer: "https://accounts.google.com", allowedDomains: ["example.test"] }),
    "ready",
    /^$/u,
  ],
  ["nothing", "basic", {}, "skipped", /USERNAME.*are not set.*set-password/u],
  ["name only", "basic", basic({ username: "ada" }), "invalid", /USERNAME.*no password/u],
  ["password only", "basic", basic({ password: secret("x".repeat(9)) }), "invalid", /USERNAME/u],
  ["hash only", "basic", basic({ passwordHash: secret(HASH) }), "invalid", /USERNAME/u],
  ["name and hash", "basic", hash(HASH), "ready", /^$/u],
  ["no hash at all", "basic", hash("$2b$12$abcdefghijklmnopqrstuv"), "invalid", /not of the form/u],
  ["N=2^20", "basic", hash(`scrypt$1048576$8$1$${SALT}$${KEY}`), "invalid", /costs too much/u],
  ["r=17", "basic", hash(`scrypt$16384$17$1$${SALT}$${KEY}`), "invalid", /costs too much/u],
  ["p=5", "basic", hash(`scrypt$16384$8$5$${SALT}$${KEY}`), "invalid", /costs too much/u],
  ["N=1000", "basic", hash(`scrypt$1000$8$1$${SALT}$${KEY}`), "invalid", /power of two/u],
  ["N=-2", "basic", hash(`scrypt$-2$8$1$${SALT}$${KEY}`), "invalid", /whole numbers/u],
  ["N=1e3", "basic", hash(`scrypt$1e3$8$1$${SALT}$${KEY}`), "invalid", /whole numbers/u],
  ["no salt", "basic", hash(`scrypt$16384$8$1$$${KEY}`), "invalid", /salt or key/u],
  ["a short key", "basic", hash(`scrypt$16384$8$1$${SALT}$YWJj`), "invalid", /salt or key/u],
  ["nothing", "drain", {}, "skipped", /DRAIN_SECRET is not set \(for programs only/u],
  ["a good one", "drain", { drainSecret: secret(DRAIN) }, "ready", /^$/u],
  ["42 characters", "drain", { drainSecret: secret(DRAIN.slice(0, 42)) }, "invalid", /42 char/u],
  [
    "15 different ones",
    "drain",
    { drainSecret: secret("abcdefghijklmno".repeat(4)) },
    "invalid",
    /15 different/u,
  ],
  [
    "16 different ones, but nearly all alike",
    "drain",
    { drainSecret: secret(`${"a".repeat(50)}bcdefghijklmnop`) },
    "invalid",
    /bits, at least 128/u,
  ],
  ["nothing", "metrics", {}, "skipped", /METRICS_TOKEN is not set \(for programs only/u],
  ["something", "metrics", { metricsToken: secret("m") }, "ready", /^$/u],
];

describe("each provider says why it is not there", () => {
  for (const [what, name, settings, status, reason] of CASES) {
    test(`${name}: ${what}`, () => {
      const offer = offered(name, settings);
      assert.equal(offer.status, status, offer.status === "ready" ? "" : offer.reason);
      assert.match(offer.status === "ready" ? "" : offer.reason, reason);
    });
  }
});

test("no reason shows a secret", () => {
  for (const [, name, settings] of CASES) {
    const text = JSON.stringify(offered(name, settings));
    const secrets = [settings.basic?.password, settings.basic?.passwordHash, settings.drainSecret];
    for (const value of secrets) {
      if (value) assert.ok(!text.includes(value.reveal()));
    }
  }
});

test("a short password is a warning", () => {
  const offer = offered("basic", basic({ username: "ada", password: secret("1234567") }));
  assert.ok(offer.status === "ready");
  assert.match(offer.warnings[0] ?? "", /fewer than 8 characters/u);
  const longer = offered("basic", basic({ username: "ada", password: secret("12345678") }));
  assert.deepEqual(longer.status === "ready" && longer.warnings, []);
});

test("an issuer without allow-lists is a warning", () => {
  const offer = offered("self-hosted", own({}));
  assert.match((offer.status === "ready" && offer.warnings[0]) || "", /everyone.*ALLOWED_GROUPS/u);
});

test("plugins.disabled: with credentials it says so, without it keeps its own reason", () => {
  const disabled = ["nous", "basic"];
  const off = offered("nous", { ...nous("agent:a"), disabled });
  assert.ok(off.status === "skipped");
  assert.match(off.reason, /switched off.*plugins\.disabled/u);
  const unset = offered("basic", { disabled });
  assert.ok(unset.status === "skipped");
  assert.match(unset.reason, /not set/u);
});

test("collecting asks nobody and reads nothing heavy", async () => {
  const { collectProviders } = await import("./collect.ts");
  const clock = new FakeClock();
  const settings = { ...NO_SETTINGS, ...nous("agent:a"), ...own({}) };
  collectProviders(settings, { clock, log: silentLog, random: (count) => new Uint8Array(count) });
  assert.equal(clock.pending, 0);
});
