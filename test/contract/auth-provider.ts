// What every login provider does, whatever it is made of (dashboard.md §5.1): run on stub, nous, self-hosted, basic and the
// token-only ones. A plugin's provider runs it too.
import assert from "node:assert/strict";
import { describe, test, type TestContext } from "node:test";
import { inspect } from "node:util";
import { isAuthError, type AuthErrorCode } from "#auth/providers/auth-error.ts";
import {
  parseProviderName,
  type PasswordProvider,
  type Provider,
  type RedirectProvider,
  type TokenProvider,
  type Tokens,
} from "#auth/providers/provider.ts";
import { Secret } from "#auth/providers/secret.ts";
import { complete, login, REDIRECT_URI, visit } from "../kit/oidc-providers.ts";

/** The issuer behind it rotates refresh tokens and ends a chain when one is used twice (RFC 9700 §4.14.2). */
export interface RedirectFixture {
  readonly provider: RedirectProvider;
  /** Another one from the same settings: its epoch is the same. */
  readonly twin: RedirectProvider;
  readonly userId: string;
  /** Unix seconds. */
  readonly now: () => number;
  setReachable(reachable: boolean): void;
}

export interface PasswordFixture {
  readonly provider: PasswordProvider;
  readonly twin: PasswordProvider;
  readonly username: string;
  readonly password: string;
}

export interface TokenFixture {
  readonly provider: TokenProvider;
  readonly twin: TokenProvider;
  readonly token: string;
}

const signal = new AbortController().signal;

export function failsWith(code: AuthErrorCode): (error: unknown) => boolean {
  return (error) => {
    assert.ok(isAuthError(error), `an AuthError, but got ${inspect(error)}`);
    assert.equal(error.code, code, error.message);
    return true;
  };
}

function checkBase(provider: Provider, twin: Provider): void {
  assert.equal(parseProviderName(provider.name), provider.name);
  assert.notEqual(provider.displayName.trim(), "");
  assert.match(provider.epoch, /^[A-Za-z0-9_-]{16,}$/u);
  assert.equal(provider.epoch, twin.epoch, "the epoch survives a restart");
}

function tokensOf(tokens: Tokens | null): Tokens & { readonly refresh: Secret } {
  assert.ok(tokens?.refresh, "this fixture gives refresh tokens");
  return { ...tokens, refresh: tokens.refresh };
}

const secretsOf = (tokens: Tokens): string[] =>
  [tokens.access, tokens.refresh, tokens.idToken].flatMap((secret) => secret?.reveal() ?? []);

export function redirectContract(
  name: string,
  make: (t: TestContext) => Promise<RedirectFixture>,
): void {
  describe(`provider contract: ${name}`, () => {
    test("has a name, a label and a lasting epoch", async (t) => {
      const { provider, twin } = await make(t);
      checkBase(provider, twin);
    });

    test("starts each login with new random values, of which the verifier stays here", async (t) => {
      const { provider } = await make(t);
      const input = { redirectUri: REDIRECT_URI, fresh: false, signal };
      const [one, two] = [await provider.startLogin(input), await provider.startLogin(input)];
      for (const { url, attempt } of [one, two]) {
        assert.equal(attempt.state.length, 43);
        assert.equal(attempt.verifier.length, 43);
        assert.ok(attempt.nonce === null || attempt.nonce.length === 43);
        assert.equal(url.searchParams.get("state"), attempt.state);
        assert.ok(!url.href.includes(attempt.verifier));
      }
      assert.notEqual(one.attempt.state, two.attempt.state);
      assert.notEqual(one.attempt.verifier, two.attempt.verifier);
    });

    test("lets in whom the issuer signs in", async (t) => {
      const { provider, userId, now } = await make(t);
      const { identity, tokens } = await login(provider);
      assert.equal(identity.userId, userId);
      for (const text of Object.values(identity)) assert.equal(typeof text, "string");
      assert.ok(tokensOf(tokens).accessExpiresAt > now());
    });

    test("shows no token to whoever prints a login", async (t) => {
      const { provider } = await make(t);
      const done = await login(provider);
      const printed = `${inspect(done, { depth: 9, showHidden: true })}${JSON.stringify(done)}${String(done.tokens?.access)}`;
      for (const secret of secretsOf(tokensOf(done.tokens))) {
        assert.ok(!printed.includes(secret), "a token was printed");
      }
    });

    test("refuses another attempt's state", async (t) => {
      const { provider } = await make(t);
      const { callback } = await visit(provider);
      const { attempt } = await visit(provider);
      await assert.rejects(complete(provider, { callback, attempt }), failsWith("not_ours"));
    });

    for (const [what, code] of [
      ["a wrong code", "wrong-code-0123456789"],
      ["no code", null],
    ] as const) {
      test(`refuses ${what} without repeating it`, async (t) => {
        const { provider } = await make(t);
        const { callback, attempt } = await visit(provider);
        if (code === null) callback.searchParams.delete("code");
        else callback.searchParams.set("code", code);
        await assert.rejects(complete(provider, { callback, attempt }), (error) => {
          assert.ok(!inspect(error, { depth: 9 }).includes("wrong-code-0123456789"));
          return failsWith("invalid_code")(error);
        });
      });
    }

    test("refreshes, and each refresh token replaces the one before", async (t) => {
      const { provider, now } = await make(t);
      const { identity, tokens } = await login(provider);
      const first = tokensOf(tokens);
      const second = tokensOf(await provider.refresh({ tokens: first, identity, signal }));
      assert.notEqual(second.refresh.reveal(), first.refresh.reveal());
      assert.ok(second.accessExpiresAt > now());
      const third = tokensOf(await provider.refresh({ tokens: second, identity, signal }));
      assert.notEqual(third.access.reveal(), second.access.reveal());
    });

    test("a used refresh token ends the chain", async (t) => {
      const { provider } = await make(t);
      const { identity, tokens } = await login(provider);
      const first = tokensOf(tokens);
      const second = await provider.refresh({ tokens: first, identity, signal });
      await assert.rejects(
        provider.refresh({ tokens: first, identity, signal }),
        failsWith("refresh_rejected"),
      );
      await assert.rejects(
        provider.refresh({ tokens: second, identity, signal }),
        failsWith("refresh_rejected"),
      );
    });

    test("two logins have chains of their own", async (t) => {
      const { provider } = await make(t);
      const [one, two] = [await login(provider), await login(provider)];
      await provider.refresh({ tokens: tokensOf(two.tokens), identity: two.identity, signal });
      await provider.refresh({ tokens: tokensOf(one.tokens), identity: one.identity, signal });
    });

    test("refuses a refresh without a token, or with a foreign one", async (t) => {
      const { provider } = await make(t);
      const { identity, tokens } = await login(provider);
      for (const refresh of [null, new Secret("not-of-this-issuer-0123456789")]) {
        await assert.rejects(
          provider.refresh({ tokens: { ...tokensOf(tokens), refresh }, identity, signal }),
          failsWith("refresh_rejected"),
        );
      }
    });

    test("an issuer that is down is unreachable, and nothing is lost by it", async (t) => {
      const fixture = await make(t);
      const { provider } = fixture;
      const { identity, tokens } = await login(provider);
      const pending = await visit(provider);
      fixture.setReachable(false);
      await assert.rejects(complete(provider, pending), failsWith("unreachable"));
      const input = { tokens: tokensOf(tokens), identity, signal };
      await assert.rejects(provider.refresh(input), failsWith("unreachable"));
      fixture.setReachable(true);
      await provider.refresh(input);
      await complete(provider, pending);
    });

    test("a signal that aborts is unreachable", async (t) => {
      const { provider } = await make(t);
      const pending = await visit(provider);
      const aborted = AbortSignal.abort();
      await assert.rejects(
        provider.completeLogin({ ...pending, signal: aborted }),
        failsWith("unreachable"),
      );
    });

    test("revoking never rejects, and ends what can be ended", async (t) => {
      const fixture = await make(t);
      const { tokens } = await login(fixture.provider);
      await fixture.provider.revoke(tokensOf(tokens), signal);
      fixture.setReachable(false);
      await fixture.provider.revoke(tokensOf(tokens), signal);
      await fixture.provider.revoke({ ...tokensOf(tokens), refresh: null }, AbortSignal.abort());
    });

    test("the end of the issuer's session is an address or nothing, without a network", async (t) => {
      const fixture = await make(t);
      const { tokens } = await login(fixture.provider);
      fixture.setReachable(false);
      const back = new URL("http://127.0.0.1:9/login?logged_out=1");
      const url = fixture.provider.endSessionUrl?.(tokensOf(tokens), back) ?? null;
      assert.ok(url === null || url instanceof URL);
    });
  });
}

export function passwordContract(
  name: string,
  make: (t: TestContext) => Promise<PasswordFixture>,
): void {
  describe(`provider contract: ${name}`, () => {
    test("has a name, a label and a lasting epoch", async (t) => {
      const { provider, twin } = await make(t);
      checkBase(provider, twin);
    });

    test("lets in the right name and password", async (t) => {
      const { provider, username, password } = await make(t);
      const identity = await provider.verifyPassword({ username, password, signal });
      assert.notEqual(identity.userId, "");
      for (const text of Object.values(identity)) assert.equal(typeof text, "string");
    });

    test("refuses everything else in the same words", async (t) => {
      const { provider, username, password } = await make(t);
      const sentences = new Set<string>();
      for (const [given, word] of [
        [username, `${password}x`],
        [username, ""],
        [username, password.toUpperCase()],
        [`${username}x`, password],
        [username.toUpperCase(), password],
        ["", password],
        ["", ""],
        [username, "x".repeat(10_000)],
      ] as const) {
        await assert.rejects(
          provider.verifyPassword({ username: given, password: word, signal }),
          (error) => {
            sentences.add(inspect(error).split("\n", 1)[0] ?? "");
            return failsWith("invalid_credentials")(error);
          },
        );
      }
      assert.equal(sentences.size, 1);
    });
  });
}

export function tokenContract(name: string, make: (t: TestContext) => Promise<TokenFixture>): void {
  describe(`provider contract: ${name}`, () => {
    test("has a name, a label and a lasting epoch", async (t) => {
      const { provider, twin } = await make(t);
      checkBase(provider, twin);
    });

    test("knows its token and no other", async (t) => {
      const { provider, token } = await make(t);
      const principal = await provider.verifyToken(token, signal);
      assert.ok(principal && principal.scopes.size > 0);
      for (const other of ["", `${token}x`, token.slice(1), token.toLowerCase() + token, " "]) {
        assert.equal(await provider.verifyToken(other, signal), null);
      }
    });
  });
}
