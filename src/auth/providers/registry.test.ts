import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isHermesError } from "#base/errors.ts";
import { silentLog } from "#base/log.ts";
import { FakeClock } from "../../../test/kit/fake-clock.ts";
import { createKeptLog } from "../../../test/kit/oidc-providers.ts";
import { createStubProvider, offerStub } from "../../../test/kit/stub-provider.ts";
import { parseProviderName, type Provider, type TokenProvider } from "./provider.ts";
import { createRegistry, type Offer } from "./registry.ts";

const signal = new AbortController().signal;

function stub(name = "stub"): Offer {
  return offerStub(createStubProvider({ clock: new FakeClock(), name }));
}

function token(name: string, verifyToken: TokenProvider["verifyToken"]): Offer {
  const parsed = parseProviderName(name);
  assert.ok(parsed);
  const provider: Provider = {
    kind: "token",
    name: parsed,
    displayName: name,
    epoch: "e",
    verifyToken,
  };
  return { status: "ready", name, provider, warnings: [] };
}

function changed(change: Readonly<Record<string, unknown>>): Offer {
  const offer = stub();
  assert.ok(offer.status === "ready");
  const provider = { ...offer.provider, ...change } as unknown as Provider;
  return { ...offer, name: String(provider.name), provider };
}

test("keeps the order, tells logins from tokens, and remembers who is not there", () => {
  const skipped: Offer = { status: "skipped", name: "nous", reason: "it is not set" };
  const nobody = token("metrics", async () => null);
  const registry = createRegistry([stub("zed"), skipped, nobody, stub("amy")], silentLog);
  assert.deepEqual(
    registry.loginProviders().map(({ name }) => name),
    ["zed", "amy"],
  );
  assert.deepEqual(
    registry.tokenProviders().map(({ name }) => name),
    ["metrics"],
  );
  assert.equal(registry.loginProvider("amy")?.name, "amy");
  for (const name of ["metrics", "nous", "nobody", ""]) {
    assert.equal(registry.loginProvider(name), null);
  }
  assert.deepEqual(registry.reports()[1], {
    name: "nous",
    status: "skipped",
    reason: "it is not set",
    warnings: [],
  });
  assert.equal(registry.reports()[0]?.reason, null);
});

describe("refuses to start (78)", () => {
  const cases: readonly (readonly [string, readonly Offer[], RegExp])[] = [
    ["two of one name", [stub(), stub()], /Two login providers/u],
    ["an upper-case name", [changed({ name: "Stub" })], /no usable name/u],
    ["a name that begins with a digit", [changed({ name: "1stub" })], /no usable name/u],
    ["a name of 33 characters", [changed({ name: "s".repeat(33) })], /no usable name/u],
    ["an empty name", [changed({ name: "" })], /no usable name/u],
    ["no display name", [changed({ displayName: " " })], /no display name/u],
    ["an unknown kind", [changed({ kind: "magic" })], /unknown kind "magic"/u],
    ["a kind of every object", [changed({ kind: "constructor" })], /unknown kind/u],
    ["a missing method", [changed({ refresh: undefined })], /lacks refresh/u],
    ["two missing methods", [changed({ kind: "password" })], /lacks verifyPassword/u],
  ];
  for (const [name, offers, message] of cases) {
    test(name, () => {
      assert.throws(
        () => createRegistry(offers, silentLog),
        (error) => {
          assert.ok(isHermesError(error, "PROVIDER_REFUSED"));
          assert.equal(error.exit, 78);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }

  test("a name that is not the offer's", () => {
    const offer = stub();
    assert.throws(() => createRegistry([{ ...offer, name: "other" }], silentLog));
  });
});

test("a token provider that throws is skipped with a warning; the first that knows the token answers", async () => {
  const log = createKeptLog();
  const scopes = new Set(["metrics:read"] as const);
  const registry = createRegistry(
    [
      token("broken", () => Promise.reject(new Error("out of order"))),
      token("first", async (text) => (text === "t" ? { name: "first", scopes } : null)),
      token("second", async () => ({ name: "second", scopes })),
    ],
    log,
  );
  assert.equal((await registry.verifyToken("t", signal))?.name, "first");
  assert.equal((await registry.verifyToken("u", signal))?.name, "second");
  assert.equal(log.lines.length, 2);
  assert.match(log.lines[0] ?? "", /warn .*broken.*out of order/u);
});

test("nobody's token is nobody's", async () => {
  assert.equal(await createRegistry([], silentLog).verifyToken("t", signal), null);
});
