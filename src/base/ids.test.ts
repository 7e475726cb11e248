import assert from "node:assert/strict";
import { test } from "node:test";
import { makeSessionId, randomHex, randomToken } from "./ids.ts";

const fixed = (count: number): Uint8Array => new Uint8Array(count).fill(0xab);

test("hex has exactly the digits that were asked for", () => {
  assert.equal(randomHex(1, fixed), "a");
  assert.equal(randomHex(6, fixed), "ababab");
  assert.equal(randomHex(7, fixed), "abababa");
  assert.match(randomHex(12), /^[0-9a-f]{12}$/);
});

test("a token is 32 bytes as base64url", () => {
  const token = randomToken();
  assert.match(token, /^[A-Za-z0-9_-]{43}$/);
  assert.equal(Buffer.from(token, "base64url").length, 32);
  assert.notEqual(randomToken(), token);
});

test("a session id carries the local time", () => {
  const at = new Date(2026, 0, 5, 3, 7, 9).getTime();
  assert.equal(makeSessionId(at, 6, fixed), "20260105_030709_ababab");
  assert.equal(makeSessionId(at, 8, fixed), "20260105_030709_abababab");
});
