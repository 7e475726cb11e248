// `nous` against a portal that misbehaves (dashboard.md §14 rows 30 and 33).
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import type { AuthErrorCode } from "#auth/providers/auth-error.ts";
import type { RedirectProvider } from "#auth/providers/provider.ts";
import { FakeClock } from "../kit/fake-clock.ts";
import type { Issuer } from "../kit/oidc-issuer.ts";
import type { Fault } from "../kit/oidc-faults.ts";
import type { Forgery } from "../kit/oidc-keys.ts";
import { PORTAL_CLIENT, startPortal } from "../kit/oidc-portal.ts";
import {
  complete,
  createKeptLog,
  login,
  redirectProvider,
  REDIRECT_URI,
  visit,
  type KeptLog,
} from "../kit/oidc-providers.ts";
import { until } from "../kit/until.ts";
import { failsWith } from "./auth-provider.ts";

const signal = new AbortController().signal;

interface Bench {
  readonly portal: Issuer;
  readonly provider: RedirectProvider;
  readonly clock: FakeClock;
  readonly log: KeptLog;
}

async function open(t: TestContext): Promise<Bench> {
  const portal = await startPortal();
  t.after(() => portal[Symbol.asyncDispose]());
  const clock = new FakeClock(Date.now());
  const log = createKeptLog();
  const nous = { clientId: PORTAL_CLIENT, portalUrl: `${portal.url}/` };
  return { portal, clock, log, provider: redirectProvider("nous", { nous }, clock, log) };
}

test("the way to the portal is the contract's, to the parameter", async (t) => {
  const { portal, provider } = await open(t);
  const input = { redirectUri: REDIRECT_URI, fresh: true, signal };
  const { url, attempt } = await provider.startLogin(input);
  assert.equal(`${url.origin}${url.pathname}`, `${portal.url}/oauth/authorize`);
  const { code_challenge: challenge, ...rest } = Object.fromEntries(url.searchParams);
  assert.match(challenge ?? "", /^[A-Za-z0-9_-]{43}$/u);
  assert.deepEqual(rest, {
    response_type: "code",
    client_id: PORTAL_CLIENT,
    redirect_uri: REDIRECT_URI.href,
    scope: "agent_dashboard:access",
    state: attempt.state,
    code_challenge_method: "S256",
    prompt: "login",
  });
  assert.equal(attempt.nonce, null);
  const usual = await provider.startLogin({ ...input, fresh: false });
  assert.equal(usual.url.searchParams.get("prompt"), null);
  assert.equal(portal.faults.calls.discovery, 0);
});

test("identity comes from the access token", async (t) => {
  const { provider, portal } = await open(t);
  const plain = await login(provider);
  assert.deepEqual(plain.identity, {
    userId: "portal-user-1",
    email: "",
    displayName: "",
    orgId: "org-1",
  });
  portal.state.forgery = { payload: { email: "p@example.test", name: "P" } };
  const { identity, tokens } = await login(provider);
  assert.deepEqual([identity.email, identity.displayName], ["p@example.test", "P"]);
  assert.equal(tokens?.idToken, null);
});

test("a refresh repeats the token in the portal's header", async (t) => {
  const { provider, portal } = await open(t);
  const { identity, tokens } = await login(provider);
  assert.ok(tokens?.refresh);
  assert.equal(portal.tokenRequests.at(-1)?.headers["x-nous-refresh-token"], undefined);
  await provider.refresh({ tokens, identity, signal });
  const header = portal.tokenRequests.at(-1)?.headers["x-nous-refresh-token"];
  assert.equal(header, tokens.refresh.reveal());
});

const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

describe("tokens that are not ours", () => {
  const cases: readonly (readonly [string, Forgery])[] = [
    ["another audience", { payload: { aud: "agent:inst-2" } }],
    ["the agent's id without its prefix", { payload: { aud: "inst-1" } }],
    ["another issuer", { payload: { iss: "https://portal.example.test" } }],
    ["an unknown key", { header: { kid: "nobody's" } }],
    ["no kid", { header: { kid: undefined } }],
    ["a key of somebody else under the same kid", { sign: "stranger" }],
    ["changed after signing", { sign: "tampered" }],
    ["HS256 with the public key", { sign: "hs256" }],
    ["no signature", { sign: "none" }],
    ["expired", { payload: { exp: inSeconds(-600) } }],
    ["not yet valid", { payload: { nbf: inSeconds(600) } }],
    ["another instance", { payload: { agent_instance_id: "inst-2" } }],
    ["contract 2", { payload: { oauth_contract_version: 2 } }],
    ["contract as text", { payload: { oauth_contract_version: "1" } }],
    ["no sub", { payload: { sub: undefined } }],
    ["an empty sub", { payload: { sub: "" } }],
    ["no exp", { payload: { exp: undefined } }],
    ["no iat", { payload: { iat: undefined } }],
    ["iat as text", { payload: { iat: "soon" } }],
    ["no aud", { payload: { aud: undefined } }],
    ["DPoP", { answer: { token_type: "DPoP" } }],
    ["an unknown type", { answer: { token_type: "mac" } }],
    ["no type", { answer: { token_type: undefined } }],
    ["no access token", { answer: { access_token: undefined } }],
    ["an access token that is no JWT", { answer: { access_token: "opaque" } }],
    ["8 KB of letters", { answer: { access_token: "x".repeat(8192) } }],
    ["a number as access token", { answer: { access_token: 7 } }],
  ];
  for (const [name, forgery] of cases) {
    test(name, async (t) => {
      const { provider, portal } = await open(t);
      portal.state.forgery = forgery;
      await assert.rejects(login(provider), failsWith("not_ours"));
      portal.state.forgery = null;
      await login(provider);
    });
  }
});

test("a refresh token is not spent while there are no keys to check the answer with", async (t) => {
  const { provider, portal, clock, log } = await open(t);
  const { identity, tokens } = await login(provider);
  assert.ok(tokens);
  const nous = { clientId: PORTAL_CLIENT, portalUrl: portal.url };
  const restarted = redirectProvider("nous", { nous }, clock, log);
  portal.faults.set("jwks", { kind: "status", status: 500 });
  const before = portal.faults.calls.token;
  await assert.rejects(restarted.refresh({ tokens, identity, signal }), failsWith("unreachable"));
  assert.equal(portal.faults.calls.token, before);
  portal.faults.set("jwks", null);
  await clock.advance(10_000);
  await restarted.refresh({ tokens, identity, signal });
});

test("a refreshed token of somebody else is not ours", async (t) => {
  const { provider, portal } = await open(t);
  const { identity, tokens } = await login(provider);
  assert.ok(tokens);
  portal.state.forgery = { payload: { sub: "portal-user-2" } };
  await assert.rejects(provider.refresh({ tokens, identity, signal }), failsWith("not_ours"));
});

test("every refusal is in the log with its reason", async (t) => {
  const { provider, portal, log } = await open(t);
  portal.state.forgery = { payload: { aud: "agent:inst-2" } };
  await assert.rejects(login(provider), failsWith("not_ours"));
  portal.state.forgery = { answer: { access_token: undefined } };
  await assert.rejects(login(provider), failsWith("not_ours"));
  assert.match(log.lines[0] ?? "", /warn a token is refused.*aud.*"provider":"nous"/u);
  assert.match(log.lines[1] ?? "", /access_token/u);
});

test("without a contract version: in, and one warning", async (t) => {
  const { provider, portal, log } = await open(t);
  portal.state.forgery = {
    payload: { oauth_contract_version: undefined, agent_instance_id: undefined },
  };
  await login(provider);
  await login(provider);
  assert.equal(log.lines.filter((line) => line.includes("oauth_contract_version")).length, 1);
});

describe("answers of the token endpoint that are none", () => {
  const cases: readonly (readonly [string, Fault, AuthErrorCode, AuthErrorCode])[] = [
    [
      "400 with a reason",
      { kind: "status", status: 400, json: { error: "invalid_grant" } },
      "invalid_code",
      "refresh_rejected",
    ],
    [
      "400 with JSON of its own",
      { kind: "status", status: 400, json: { message: "no" } },
      "invalid_code",
      "refresh_rejected",
    ],
    [
      "401",
      { kind: "status", status: 401, json: { error: "invalid_client" } },
      "invalid_code",
      "refresh_rejected",
    ],
    ["400 with a page", { kind: "html", status: 400 }, "unreachable", "unreachable"],
    ["200 with a page", { kind: "html" }, "unreachable", "unreachable"],
    ["500", { kind: "status", status: 500 }, "unreachable", "unreachable"],
    ["503", { kind: "status", status: 503 }, "unreachable", "unreachable"],
    ["429", { kind: "status", status: 429 }, "unreachable", "unreachable"],
    ["10 MB", { kind: "huge" }, "unreachable", "unreachable"],
    ["half an object", { kind: "broken" }, "unreachable", "unreachable"],
    ["a cut connection", { kind: "cut" }, "unreachable", "unreachable"],
    ["a list", { kind: "status", status: 200, json: [] }, "not_ours", "not_ours"],
    ["null", { kind: "status", status: 200, json: null }, "not_ours", "not_ours"],
  ];
  for (const [name, fault, atLogin, atRefresh] of cases) {
    test(name, async (t) => {
      const { provider, portal } = await open(t);
      const { identity, tokens } = await login(provider);
      assert.ok(tokens);
      const pending = await visit(provider);
      portal.faults.set("token", fault);
      await assert.rejects(complete(provider, pending), failsWith(atLogin));
      await assert.rejects(provider.refresh({ tokens, identity, signal }), failsWith(atRefresh));
    });
  }

  test("a redirect is not followed", async (t) => {
    const { provider, portal } = await open(t);
    const pending = await visit(provider);
    portal.faults.set("token", { kind: "redirect", to: "/elsewhere" });
    const before = portal.faults.calls.other;
    await assert.rejects(complete(provider, pending), failsWith("unreachable"));
    assert.equal(portal.faults.calls.other, before);
  });

  test("no answer for 10 s", async (t) => {
    const { provider, portal, clock } = await open(t);
    const pending = await visit(provider);
    portal.faults.set("token", { kind: "hang" });
    const before = portal.faults.calls.token;
    const attempt = assert.rejects(complete(provider, pending), failsWith("unreachable"));
    await until("the portal was asked", () => portal.faults.calls.token > before);
    await clock.advance(9999);
    assert.equal(clock.pending, 1);
    await clock.advance(1);
    await attempt;
  });
});

describe("clocks", () => {
  const cases: readonly (readonly [string, number, AuthErrorCode | null])[] = [
    ["30 s ahead", 30, null],
    ["50 s behind", -50, null],
    ["10 min ahead", 600, "not_ours"],
    ["10 min behind", -600, "not_ours"],
  ];
  for (const [name, skew, code] of cases) {
    test(`the portal's clock is ${name}`, async (t) => {
      const { provider, portal } = await open(t);
      portal.state.skewSeconds = skew;
      if (code === null) await login(provider);
      else await assert.rejects(login(provider), failsWith(code));
    });
  }

  for (const [name, claims] of [
    ["nbf +45 s", () => ({ nbf: inSeconds(45) })],
    ["exp −30 s", () => ({ exp: inSeconds(-30) })],
    ["iat +30 s", () => ({ iat: inSeconds(30) })],
  ] as const) {
    test(`${name} is within the leeway`, async (t) => {
      const { provider, portal } = await open(t);
      portal.state.forgery = { payload: claims() };
      await login(provider);
    });
  }

  test("the log says by how much", async (t) => {
    const { provider, portal, log } = await open(t);
    portal.state.skewSeconds = 600;
    await assert.rejects(login(provider), failsWith("not_ours"));
    const line = log.lines.find((candidate) => candidate.includes("in the future"));
    const skew = Number(/issued (\d+) s in the future/u.exec(line ?? "")?.[1]);
    assert.ok(skew >= 595 && skew <= 601, `the line: ${line ?? "none"}`);
  });
});

test("no log line and no error holds a token, a code or a verifier", async (t) => {
  const { provider, portal, log } = await open(t);
  const { identity, tokens } = await login(provider);
  assert.ok(tokens?.refresh);
  portal.state.forgery = { payload: { aud: "agent:inst-2" } };
  const { callback, attempt } = await visit(provider);
  const errors: unknown[] = [];
  const keep = (error: unknown): void => void errors.push(error);
  await complete(provider, { callback, attempt }).catch(keep);
  await provider.refresh({ tokens, identity, signal }).catch(keep);
  await provider.refresh({ tokens, identity, signal }).catch(keep);
  assert.equal(errors.length, 3);
  const { inspect } = await import("node:util");
  const text = log.lines.join("\n") + inspect(errors, { depth: 12, showHidden: true });
  const secrets = [
    tokens.access.reveal(),
    tokens.refresh.reveal(),
    attempt.verifier,
    attempt.state,
    callback.searchParams.get("code") ?? "",
  ];
  for (const secret of secrets) {
    assert.ok(secret.length > 20 && !text.includes(secret), "a secret was printed");
  }
  assert.ok(!text.includes("eyJ"), "a JWT was printed");
});
