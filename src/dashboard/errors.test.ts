// What errors of the system become on the wire.
import assert from "node:assert/strict";
import { test } from "node:test";
import { mapError } from "./errors.ts";

const CASES: readonly (readonly [errno: string, status: number, detail: RegExp])[] = [
  ["ENOSPC", 503, /disk is full/],
  ["EDQUOT", 503, /disk is full/],
  ["EROFS", 503, /cannot be written/],
  ["EACCES", 503, /cannot be written/],
  ["ECONNRESET", 500, /Internal/],
];

test("a home that takes nothing is said, without its path; the cause goes to the log", () => {
  for (const [code, status, detail] of CASES) {
    const cause = Object.assign(new Error(`${code}: open '/home/me/.hermes/x'`), { code });
    const { failure, unexpected } = mapError(cause, "id");
    assert.equal(failure.status, status, code);
    assert.match(failure.message, detail);
    assert.doesNotMatch(JSON.stringify(failure.body), /hermes/);
    assert.ok(unexpected);
  }
});
