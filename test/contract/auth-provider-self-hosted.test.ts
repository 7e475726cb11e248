// `self-hosted` against a generic issuer (dashboard.md §14 rows 31 to 33).
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type { AuthErrorCode } from "#auth/providers/auth-error.ts";
import type { RedirectProvider } from "#auth/providers/provider.ts";
import { Secret } from "#auth/providers/secret.ts";
import type { SelfHostedSettings } from "#auth/providers/settings.ts";
import { FakeClock } from "../kit/fake-clock.ts";
import type { Fault } from "../kit/oidc-faults.ts";
import {
  GENERIC_CLIENT,
  GENERIC_CONFIDENTIAL,
  MANY_GROUPS,
  startGeneric,
  type GenericOptions,
} from "../kit/oidc-generic.ts";
import type { Issuer } from "../kit/oidc-issuer.ts";
import type { Forgery } from "../kit/oidc-keys.ts";
import {
  complete,
  createKeptLog,
  login,
  NO_SETTINGS,
  redirectProvider,
  REDIRECT_URI,
  visit,
  type KeptLog,
} from "../kit/oidc-providers.ts";
import { until } from "../kit/until.ts";
import { failsWith } from "./auth-provider.ts";

const signal = new AbortController().signal;
const OFFLINE = "openid profile email offline_access";

interface Bench {
  readonly issuer: Issuer;
  readonly provider: RedirectProvider;
  readonly clock: FakeClock;
  readonly log: KeptLog;
}

async function open(
  t: TestContext,
  settings: Partial<SelfHostedSettings> = {},
  options: GenericOptions = {},
): Promise<Bench> {
  const issuer = await startGeneric(options);
  t.after(() => issuer[Symbol.asyncDispose]());
  const clock = new FakeClock(Date.now());
  const log = createKeptLog();
  const selfHosted = {
    ...NO_SETTINGS.selfHosted,
    issuer: issuer.url,
    clientId: GENERIC_CLIENT,
    ...settings,
  };
  const provider = redirectProvider("self-hosted", { selfHosted }, clock, log);
  return { issuer, clock, log, provider };
}

test("with offline_access: consent is asked for and a refresh token comes", async (t) => {
  const { provider } = await open(t, { scopes: OFFLINE });
  const input = { redirectUri: REDIRECT_URI, signal };
  const { url } = await provider.startLogin({ ...input, fresh: false });
  assert.equal(url.searchParams.get("prompt"), "consent");
  const fresh = await provider.startLogin({ ...input, fresh: true });
  assert.equal(fresh.url.searchParams.get("prompt"), "login consent");
  assert.ok((await login(provider)).tokens?.refresh);
});

test("without it: no prompt and no refresh token", async (t) => {
  const { provider } = await open(t);
  const input = { redirectUri: REDIRECT_URI, fresh: false, signal };
  const { url, attempt } = await provider.startLogin(input);
  assert.equal(url.searchParams.get("prompt"), null);
  assert.equal(url.searchParams.get("nonce"), attempt.nonce);
  assert.equal(url.searchParams.get("code_challenge_method"), "S256");
  assert.equal((await login(provider)).tokens?.refresh, null);
});

test("with a client secret, by the method that the metadata offers", async (t) => {
  const { id, secret } = GENERIC_CONFIDENTIAL;
  const { provider, issuer } = await open(t, { clientId: id, clientSecret: new Secret(secret) });
  await login(provider);
  assert.match(issuer.tokenRequests.at(-1)?.headers.authorization ?? "", /^Basic /u);
  const wrong = await open(t, { clientId: id, clientSecret: new Secret("not the secret") });
  await assert.rejects(login(wrong.provider), failsWith("invalid_code"));
});

test("an ID token of 9 KB is taken; ten groups stand for an organisation", async (t) => {
  const { provider, issuer } = await open(t);
  issuer.state.account = { ...issuer.state.account, groups: MANY_GROUPS };
  const { identity, tokens } = await login(provider);
  assert.ok((tokens?.idToken?.reveal().length ?? 0) > 8500);
  assert.equal(identity.orgId, MANY_GROUPS.slice(0, 10).join(", "));
});

describe("who one is", () => {
  const cases: readonly (readonly [Record<string, unknown>, Record<string, string>])[] = [
    [{ name: "N", preferred_username: "p" }, { displayName: "N" }],
    [{ name: undefined, preferred_username: "p", nickname: "n" }, { displayName: "p" }],
    [{ name: " ", preferred_username: 7, nickname: "n" }, { displayName: "n" }],
    [
      { name: undefined, preferred_username: undefined, email: "e@example.test" },
      { displayName: "e@example.test", email: "e@example.test" },
    ],
    [{ org_id: "o", organization: "g", groups: ["x"] }, { orgId: "o" }],
    [{ organization: "g", groups: ["x"] }, { orgId: "g" }],
    [{ groups: ["x", 1, "y"] }, { orgId: "x, y" }],
    [{ groups: "x" }, { orgId: "x" }],
    [{ groups: { x: 1 } }, { orgId: "" }],
  ];
  for (const [claims, expected] of cases) {
    test(JSON.stringify(claims), async (t) => {
      const { provider, issuer } = await open(t);
      issuer.state.forgery = { payload: claims };
      const { identity } = await login(provider);
      assert.deepEqual({ ...identity, ...expected }, identity);
    });
  }
});

test("an issuer that gives profile claims at its userinfo endpoint only is asked there", async (t) => {
  const { provider, issuer } = await open(t, { scopes: OFFLINE }, { claimsAtUserinfoOnly: true });
  const { identity } = await login(provider);
  assert.equal(identity.email, "user-1@example.test");
  assert.equal(issuer.faults.calls.userinfo, 1);
});

const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

describe("ID tokens that are not ours", () => {
  const cases: readonly (readonly [string, Forgery])[] = [
    ["wrong nonce", { payload: { nonce: "another" } }],
    ["no nonce", { payload: { nonce: undefined } }],
    ["another issuer", { payload: { iss: "https://issuer.example.test" } }],
    ["another audience", { payload: { aud: "another" } }],
    ["two audiences without azp", { payload: { aud: [GENERIC_CLIENT, "another"] } }],
    ["tampered", { sign: "tampered" }],
    ["a key of somebody else under the same kid", { sign: "stranger" }],
    ["an unknown key", { header: { kid: "nobody's" } }],
    ["HS256", { sign: "hs256" }],
    ["no signature", { sign: "none" }],
    ["expired", { payload: { exp: inSeconds(-600) } }],
    ["issued in 10 minutes", { payload: { iat: inSeconds(600) } }],
    ["no sub", { payload: { sub: undefined } }],
    ["no ID token", { answer: { id_token: undefined } }],
    ["an ID token that is no JWT", { answer: { id_token: "opaque" } }],
    ["DPoP", { answer: { token_type: "DPoP" } }],
  ];
  for (const [name, forgery] of cases) {
    test(name, async (t) => {
      const { provider, issuer } = await open(t);
      issuer.state.forgery = forgery;
      await assert.rejects(login(provider), failsWith("not_ours"));
      issuer.state.forgery = null;
      await login(provider);
    });
  }

  for (const [name, change] of [
    ["another iss (RFC 9207)", (url: URL) => url.searchParams.set("iss", "https://evil.test")],
    ["no iss, although the issuer sends it", (url: URL) => url.searchParams.delete("iss")],
  ] as const) {
    test(`callback with ${name}`, async (t) => {
      const { provider } = await open(t);
      const pending = await visit(provider);
      change(pending.callback);
      await assert.rejects(complete(provider, pending), failsWith("not_ours"));
    });
  }
});

describe("allow-lists", () => {
  const cases: readonly (readonly [string, Partial<SelfHostedSettings>, object, boolean])[] = [
    ["nobody listed", {}, {}, true],
    ["sub", { allowedUsers: ["user-1"] }, {}, true],
    ["verified address, other case", { allowedUsers: ["User-1@Example.Test"] }, {}, true],
    [
      "address that is not verified",
      { allowedUsers: ["user-1@example.test"] },
      { email_verified: false },
      false,
    ],
    [
      "verified only as a word",
      { allowedUsers: ["user-1@example.test"] },
      { email_verified: "true" },
      false,
    ],
    ["domain", { allowedDomains: ["EXAMPLE.test"] }, {}, true],
    ["domain with @", { allowedDomains: ["@example.test"] }, {}, true],
    ["domain not verified", { allowedDomains: ["example.test"] }, { email_verified: false }, false],
    ["the end of a domain", { allowedDomains: ["ample.test"] }, {}, false],
    ["a parent domain", { allowedDomains: ["test"] }, {}, false],
    [
      "an address within an address",
      { allowedDomains: ["example.test"] },
      { email: "a@example.test@evil.test" },
      false,
    ],
    ["group", { allowedGroups: ["admins"] }, {}, true],
    ["group in another case", { allowedGroups: ["Admins"] }, {}, false],
    ["not in the list", { allowedUsers: ["user-2"], allowedGroups: ["none"] }, {}, false],
    [
      "a sub that looks like an address",
      { allowedUsers: ["user-1@example.test"] },
      { sub: "user-1@example.test", email: undefined, email_verified: undefined },
      true,
    ],
  ];
  for (const [name, settings, payload, lets] of cases) {
    test(`${name}: ${lets ? "in" : "refused"}`, async (t) => {
      const { provider, issuer } = await open(t, settings);
      issuer.state.forgery = { payload: { ...payload } };
      if (lets) await login(provider);
      else await assert.rejects(login(provider), failsWith("identity_rejected"));
    });
  }

  test("whoever leaves the list is out at the next refresh", async (t) => {
    const { provider, issuer } = await open(t, { scopes: OFFLINE, allowedGroups: ["admins"] });
    const { identity, tokens } = await login(provider);
    assert.ok(tokens);
    const renewed = await provider.refresh({ tokens, identity, signal });
    issuer.state.forgery = { payload: { groups: ["staff"] } };
    const input = { tokens: renewed, identity, signal };
    await assert.rejects(provider.refresh(input), failsWith("identity_rejected"));
  });
});

describe("refresh", () => {
  test("another sub is not ours", async (t) => {
    const { provider, issuer } = await open(t, { scopes: OFFLINE });
    const { identity, tokens } = await login(provider);
    assert.ok(tokens);
    issuer.state.forgery = { payload: { sub: "user-2" } };
    await assert.rejects(provider.refresh({ tokens, identity, signal }), failsWith("not_ours"));
  });

  test("what does not come back is kept: refresh token, ID token", async (t) => {
    const { provider, issuer } = await open(t, { scopes: OFFLINE, allowedGroups: ["admins"] });
    const { identity, tokens } = await login(provider);
    assert.ok(tokens?.refresh);
    issuer.state.forgery = { answer: { refresh_token: undefined, id_token: undefined } };
    const renewed = await provider.refresh({ tokens, identity, signal });
    assert.equal(renewed.refresh?.reveal(), tokens.refresh.reveal());
    assert.equal(renewed.idToken?.reveal(), tokens.idToken?.reveal());
    assert.notEqual(renewed.access.reveal(), tokens.access.reveal());
  });

  test("an issuer whose refreshed ID tokens name only the sub", async (t) => {
    const { provider, issuer } = await open(t, { scopes: OFFLINE, allowedGroups: ["admins"] });
    const { identity, tokens } = await login(provider);
    assert.ok(tokens);
    const bare = { email: undefined, name: undefined, groups: undefined };
    issuer.state.forgery = { payload: { ...bare, preferred_username: undefined } };
    const second = await provider.refresh({ tokens, identity, signal });
    await provider.refresh({ tokens: second, identity, signal });
  });

  test("userinfo that is down, or refuses, loses no token", async (t) => {
    const settings = { scopes: OFFLINE, allowedDomains: ["example.test"] };
    const { provider, issuer } = await open(t, settings, { claimsAtUserinfoOnly: true });
    const { identity, tokens } = await login(provider);
    assert.ok(tokens);
    issuer.faults.set("userinfo", { kind: "status", status: 500 });
    const second = await provider.refresh({ tokens, identity, signal });
    issuer.faults.set("userinfo", null);
    const third = await provider.refresh({ tokens: second, identity, signal });
    issuer.faults.set("userinfo", { kind: "status", status: 403 });
    await assert.rejects(
      provider.refresh({ tokens: third, identity, signal }),
      failsWith("identity_rejected"),
      "nothing says any longer that the address is verified",
    );
  });

  test("userinfo of somebody else is not ours", async (t) => {
    const { provider, issuer } = await open(t, {}, { claimsAtUserinfoOnly: true });
    const json = { sub: "user-2", email: "user-2@example.test" };
    issuer.faults.set("userinfo", { kind: "status", status: 200, json });
    await assert.rejects(login(provider), failsWith("not_ours"));
  });

  test("a refresh token is not spent while there are no keys", async (t) => {
    const { provider, issuer, clock } = await open(t, { scopes: OFFLINE });
    const { identity, tokens } = await login(provider);
    assert.ok(tokens);
    const before = issuer.faults.calls.token;
    await clock.advance(25 * 3_600_000);
    issuer.faults.set("jwks", { kind: "cut" });
    const input = { tokens, identity, signal };
    await assert.rejects(provider.refresh(input), failsWith("unreachable"));
    assert.equal(issuer.faults.calls.token, before);
  });

  test("without expires_in the ID token's end counts", async (t) => {
    const { provider, issuer } = await open(t);
    issuer.state.forgery = { answer: { expires_in: undefined } };
    const { tokens } = await login(provider);
    const left = (tokens?.accessExpiresAt ?? 0) - Date.now() / 1000;
    assert.ok(left > 590 && left <= 600, `${left}`);
  });
});

test("revoke tells the issuer, and gives up after 3 s", async (t) => {
  const { provider, issuer, clock, log } = await open(t, { scopes: OFFLINE });
  const { identity, tokens } = await login(provider);
  assert.ok(tokens);
  await provider.revoke(tokens, signal);
  await assert.rejects(
    provider.refresh({ tokens, identity, signal }),
    failsWith("refresh_rejected"),
  );
  issuer.faults.set("revocation", { kind: "hang" });
  const before = issuer.faults.calls.revocation;
  const revoking = provider.revoke(tokens, signal);
  await until("asked", () => issuer.faults.calls.revocation > before);
  await clock.advance(3000);
  await revoking;
  assert.ok(log.lines.some((line) => line.includes("not revoked")));
});

test("the end of the issuer's session only where it is wanted", async (t) => {
  const back = new URL("https://hermes.example.test/login?logged_out=1");
  const without = await open(t);
  const first = await login(without.provider);
  assert.ok(first.tokens);
  assert.equal(without.provider.endSessionUrl?.(first.tokens, back), null);
  const { provider, issuer } = await open(t, { idpLogout: true });
  assert.equal(provider.endSessionUrl?.(first.tokens, back), null, "nothing is known yet");
  const { tokens } = await login(provider);
  assert.ok(tokens);
  const url = provider.endSessionUrl?.(tokens, back);
  assert.equal(url?.origin, issuer.url);
  assert.equal(url?.searchParams.get("post_logout_redirect_uri"), back.href);
  assert.equal(url?.searchParams.get("id_token_hint"), tokens.idToken?.reveal());
});

describe("discovery", () => {
  const start = (provider: RedirectProvider) =>
    provider.startLogin({ redirectUri: REDIRECT_URI, fresh: false, signal });

  test("is asked once by many, kept 1 h, and used for 24 h while it is gone", async (t) => {
    const { provider, issuer, clock, log } = await open(t);
    await Promise.all(Array.from({ length: 20 }, () => start(provider)));
    assert.equal(issuer.faults.calls.discovery, 1);
    await clock.advance(3_600_000);
    await start(provider);
    assert.equal(issuer.faults.calls.discovery, 1);
    issuer.faults.set("discovery", { kind: "status", status: 500 });
    await clock.advance(1);
    await start(provider);
    assert.equal(issuer.faults.calls.discovery, 2);
    assert.ok(log.lines.some((line) => line.includes("last good copy")));
    await start(provider);
    assert.equal(issuer.faults.calls.discovery, 2, "a failure is remembered");
    await clock.advance(23 * 3_600_000 - 1);
    await start(provider);
    await clock.advance(10_000);
    await assert.rejects(start(provider), failsWith("unreachable"));
    issuer.faults.set("discovery", null);
    await assert.rejects(start(provider), failsWith("unreachable"));
    await clock.advance(10_000);
    await start(provider);
  });

  const cases: readonly (readonly [string, Fault, AuthErrorCode])[] = [
    ["404 JSON", { kind: "status", status: 404 }, "unreachable"],
    ["a page", { kind: "html" }, "unreachable"],
    ["10 MB", { kind: "huge" }, "unreachable"],
    ["a list", { kind: "status", status: 200, json: [] }, "unreachable"],
    ["an empty object", { kind: "status", status: 200, json: {} }, "not_ours"],
    [
      "another issuer",
      { kind: "status", status: 200, json: { issuer: "https://other.example.test" } },
      "not_ours",
    ],
    ["a redirect", { kind: "redirect", to: "/elsewhere" }, "unreachable"],
  ];
  for (const [name, fault, code] of cases) {
    test(name, async (t) => {
      const { provider, issuer } = await open(t);
      issuer.faults.set("discovery", fault);
      await assert.rejects(start(provider), failsWith(code));
    });
  }

  test("a trailing slash makes no difference", async (t) => {
    const { issuer, clock, log } = await open(t);
    const selfHosted = {
      ...NO_SETTINGS.selfHosted,
      issuer: `${issuer.url}/`,
      clientId: GENERIC_CLIENT,
    };
    await login(redirectProvider("self-hosted", { selfHosted }, clock, log));
  });

  test("metadata without a place for tokens, or with a plain one elsewhere", async (t) => {
    const { provider, issuer, clock } = await open(t);
    const good = {
      issuer: issuer.url,
      authorization_endpoint: `${issuer.url}/auth`,
      token_endpoint: `${issuer.url}/token`,
      jwks_uri: `${issuer.url}/jwks`,
    };
    for (const [change, code] of [
      [{ token_endpoint: undefined }, "unreachable"],
      [{ jwks_uri: 7 }, "unreachable"],
      [{ jwks_uri: "file:///etc/passwd" }, "not_ours"],
      [{ end_session_endpoint: "javascript:alert(1)" }, "not_ours"],
    ] as const) {
      const json = { ...good, ...change };
      issuer.faults.set("discovery", { kind: "status", status: 200, json });
      await assert.rejects(start(provider), failsWith(code), JSON.stringify(change));
      await clock.advance(10_000);
    }
    issuer.faults.set("discovery", { kind: "status", status: 200, json: good });
    await start(provider);
  });
});

describe("keys", () => {
  test("are asked once by many and kept 300 s", async (t) => {
    const { provider, issuer, clock } = await open(t);
    await Promise.all(Array.from({ length: 5 }, () => login(provider)));
    assert.equal(issuer.faults.calls.jwks, 1);
    await clock.advance(300_000);
    issuer.state.skewSeconds = 300;
    await login(provider);
    assert.equal(issuer.faults.calls.jwks, 1);
    await clock.advance(1);
    await login(provider);
    assert.equal(issuer.faults.calls.jwks, 2);
  });

  test("500 after a good answer: the good ones serve", async (t) => {
    const { provider, issuer, clock } = await open(t, { leewaySeconds: 300 });
    await login(provider);
    await clock.advance(301_000);
    issuer.faults.set("jwks", { kind: "status", status: 500 });
    issuer.state.skewSeconds = 301;
    await login(provider);
    await login(provider);
    assert.equal(issuer.faults.calls.jwks, 2, "a failure is remembered");
  });

  test("a key set that hangs costs less than the login's own limit", async (t) => {
    const { provider, issuer, clock } = await open(t, { leewaySeconds: 300 });
    await login(provider);
    await clock.advance(301_000);
    issuer.faults.set("jwks", { kind: "hang" });
    issuer.state.skewSeconds = 301;
    const before = issuer.faults.calls.jwks;
    const done = login(provider);
    await until("asked", () => issuer.faults.calls.jwks > before);
    await clock.advance(5000);
    await done;
  });

  test("500 from the start: unreachable", async (t) => {
    const { provider, issuer } = await open(t);
    issuer.faults.set("jwks", { kind: "status", status: 500 });
    await assert.rejects(login(provider), failsWith("unreachable"));
  });

  test("an answer that is no key set: unreachable", async (t) => {
    const { provider, issuer } = await open(t);
    issuer.faults.set("jwks", { kind: "status", status: 200, json: { keys: "none" } });
    await assert.rejects(login(provider), failsWith("unreachable"));
  });

  test("a new key: one refetch, and everyone who waits for it is in", async (t) => {
    const { provider, issuer } = await open(t);
    await login(provider);
    await issuer.keys.rotate();
    await Promise.all(Array.from({ length: 5 }, () => login(provider)));
    assert.equal(issuer.faults.calls.jwks, 2);
  });

  test("many unknown keys: at most one refetch in 30 s", async (t) => {
    const { provider, issuer, clock } = await open(t);
    await login(provider);
    const visits = [];
    for (let count = 0; count < 20; count++) visits.push(await visit(provider));
    issuer.state.forgery = { header: { kid: "nobody's" } };
    for (const pending of visits) {
      await assert.rejects(complete(provider, pending), failsWith("not_ours"));
    }
    assert.equal(issuer.faults.calls.jwks, 2);
    await clock.advance(30_000);
    await assert.rejects(login(provider), failsWith("not_ours"));
    assert.equal(issuer.faults.calls.jwks, 3);
  });
});
