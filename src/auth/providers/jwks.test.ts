import assert from "node:assert/strict";
import { test } from "node:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { silentLog } from "#base/log.ts";
import { FakeClock } from "../../../test/kit/fake-clock.ts";
import { until } from "../../../test/kit/until.ts";
import { isAuthError } from "./auth-error.ts";
import { createJwks, type VerifyOptions } from "./jwks.ts";
import type { OidcHttp } from "./oidc-http.ts";

const signal = new AbortController().signal;
const OPTIONS: VerifyOptions = {
  issuer: "https://id.example.test",
  audience: "us",
  algorithms: ["RS256"],
  requiredClaims: ["exp", "iat"],
  leewaySeconds: 60,
  needsKid: false,
  signal,
};

/** A key set without `alg`, as many issuers publish: then only our own list keeps other algorithms out. */
async function bench() {
  const pair = await generateKeyPair("RS256", { extractable: true });
  const document = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: "k" }] };
  // Far from the machine's time.
  const clock = new FakeClock(Date.UTC(2035, 5, 1));
  const limits: (number | undefined)[] = [];
  let answer = (): Promise<typeof document> => Promise.resolve(document);
  const http: OidcHttp = {
    fetch: () => Promise.reject(new Error("not asked")),
    fetchJson(_url, request) {
      limits.push(request?.limitMs);
      return answer();
    },
  };
  const jwks = createJwks({
    url: new URL("https://id.example.test/jwks"),
    http,
    clock,
    log: silentLog,
  });
  const sign = (alg: string): Promise<string> => {
    const at = Math.floor(clock.now() / 1000);
    return new SignJWT({ sub: "s" })
      .setProtectedHeader({ alg, kid: "k" })
      .setIssuer(OPTIONS.issuer)
      .setAudience(OPTIONS.audience)
      .setIssuedAt(at)
      .setExpirationTime(at + 60)
      .sign(pair.privateKey);
  };
  const reply = (next: () => Promise<typeof document>): void => {
    answer = next;
  };
  return { clock, document, jwks, limits, reply, sign };
}

test("times are judged by the clock that is handed in", async () => {
  const { clock, jwks, sign } = await bench();
  const token = await sign("RS256");
  assert.equal((await jwks.verify(token, OPTIONS)).sub, "s");
  await clock.advance(120_000);
  await assert.rejects(jwks.verify(token, OPTIONS), (error) => isAuthError(error, "not_ours"));
});

test("only the algorithms of the list, whatever the key could do", async () => {
  const { jwks, sign } = await bench();
  const token = await sign("RS256");
  assert.equal((await jwks.verify(token, OPTIONS)).sub, "s");
  const other = { ...OPTIONS, algorithms: ["RS512"] };
  await assert.rejects(jwks.verify(token, other), (error) => isAuthError(error, "not_ours"));
});

test("keys that are there already get 5 s to be renewed, the first ones 10 s", async () => {
  const { clock, jwks, limits, sign } = await bench();
  await jwks.demandKeys(signal);
  await clock.advance(300_001);
  await jwks.verify(await sign("RS256"), OPTIONS);
  assert.deepEqual(limits, [10_000, 5000]);
});

test("one who gives up does not end the fetch that others wait for", async () => {
  const { document, jwks, limits, reply } = await bench();
  let go: (() => void) | null = null;
  reply(
    () =>
      new Promise((resolve) => {
        go = () => resolve(document);
      }),
  );
  const gone = new AbortController();
  const first = assert.rejects(jwks.demandKeys(gone.signal), (error) =>
    isAuthError(error, "unreachable"),
  );
  const second = jwks.demandKeys(signal);
  const release = await until("asked", () => go);
  gone.abort();
  await first;
  release();
  await second;
  assert.equal(limits.length, 1);
});
