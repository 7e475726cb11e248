import assert from "node:assert/strict";
import { test } from "node:test";
import { findAttempt, type LoginAttempt, readAttempts, writeAttempts } from "./attempt-cookie.ts";
import { parseNext } from "./next.ts";

const NOW = 1_700_000_000;

function attempt(n: number, changes: Partial<LoginAttempt> = {}): LoginAttempt {
  return {
    state: `state-${n}`.padEnd(43, "s"),
    verifier: "v".repeat(43),
    nonce: "n".repeat(43),
    provider: "nous",
    next: parseNext("/sessions?page=2"),
    startedAt: NOW - n,
    native: null,
    ...changes,
  };
}

function written(attempts: readonly LoginAttempt[], prefix = ""): string {
  return writeAttempts(attempts, prefix) ?? assert.fail("nothing was written");
}

test("attempts survive the round trip, newest first", () => {
  const native = { redirectUri: "http://127.0.0.1:5000/cb", challenge: "c".repeat(43), state: "s" };
  const attempts = [attempt(0), attempt(1, { native, nonce: null, next: null })];
  const value = written(attempts);
  assert.match(value, /^[A-Za-z0-9_-]+$/);
  assert.deepEqual(readAttempts([value], NOW).attempts, attempts);
});

test("cookies of several tabs and variants are merged, each state once", () => {
  const [a, b, c] = [attempt(1), attempt(2), attempt(3)];
  const { attempts } = readAttempts([written([c, a]), written([b, a])], NOW);
  assert.deepEqual(
    attempts.map(({ state }) => state),
    [a.state, b.state, c.state],
  );
});

test("at most 5 attempts and 3,500 characters; the oldest go first", () => {
  const many = Array.from({ length: 20 }, (_, n) => attempt(n));
  assert.equal(readAttempts([written(many)], NOW).attempts.length, 5);
  const long = many.map((one) => ({ ...one, next: parseNext(`/${"a".repeat(500)}`) }));
  const value = written(long);
  assert.ok(value.length <= 3500);
  const { attempts } = readAttempts([value], NOW);
  assert.ok(attempts.length >= 2 && attempts[0]?.state === long[0]?.state);
  assert.ok(written(long, `/${"p".repeat(255)}`).length <= 3500 - 3 * 256);
  assert.equal(writeAttempts([], ""), null);
});

test("an attempt ends after 600 s", () => {
  const value = written([attempt(0, { startedAt: NOW })]);
  assert.equal(readAttempts([value], NOW + 599).attempts.length, 1);
  assert.equal(readAttempts([value], NOW + 600).attempts.length, 0);
  assert.equal(readAttempts([value], NOW - 120).attempts.length, 0);
});

test("garbage is unreadable, and hides no good cookie beside it", () => {
  const good = written([attempt(1)]);
  const encode = (value: unknown): string =>
    Buffer.from(JSON.stringify(value)).toString("base64url");
  for (const bad of [
    "",
    "!",
    "e30",
    encode({ v: 2, a: [] }),
    encode({ v: 1, a: [{}] }),
    good.slice(5),
  ]) {
    assert.deepEqual(readAttempts([bad], NOW), { attempts: [], unreadable: true }, bad);
    assert.equal(readAttempts([bad, good], NOW).attempts.length, 1);
  }
  assert.equal(readAttempts([], NOW).unreadable, false);
});

test("a target that a browser put in is checked again", () => {
  const value = Buffer.from(
    JSON.stringify({
      v: 1,
      a: [
        { s: "s".repeat(43), p: "nous", k: "k".repeat(43), o: null, n: "//e.com", t: NOW, x: null },
      ],
    }),
  ).toString("base64url");
  assert.equal(readAttempts([value], NOW).attempts[0]?.next, null);
});

test("the attempt is found by its state only", () => {
  const attempts = [attempt(1), attempt(2)];
  assert.equal(findAttempt(attempts, attempt(2).state), attempts[1]);
  assert.equal(findAttempt(attempts, ""), null);
  assert.equal(findAttempt(attempts, "other"), null);
  assert.equal(findAttempt([], attempt(1).state), null);
});
