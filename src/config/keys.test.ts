import assert from "node:assert/strict";
import { test } from "node:test";
import { joinKey, resolveKey, splitKey } from "./keys.ts";

test("a key splits at dots that are not escaped", () => {
  assert.deepEqual(splitKey("a.b.c"), ["a", "b", "c"]);
  assert.deepEqual(splitKey("a\\.b.c"), ["a.b", "c"]);
  assert.deepEqual(splitKey("a\\\\.b"), ["a\\", "b"]);
  assert.equal(joinKey(["a.b", "c\\"]), "a\\.b.c\\\\");
  assert.deepEqual(splitKey(joinKey(["a.b", "c\\"])), ["a.b", "c\\"]);
});

test("an existing literal key wins", () => {
  const raw = { "a.b": 1, a: { "c.d": 2, c: { d: 3 } }, model: "text" };
  assert.deepEqual(resolveKey(raw, "a.b"), ["a.b"]);
  assert.deepEqual(resolveKey(raw, "a.c.d"), ["a", "c.d"]);
  assert.deepEqual(resolveKey(raw, "a.c.e"), ["a", "c", "e"]);
  assert.deepEqual(resolveKey(raw, "model.default"), ["model", "default"]);
  assert.deepEqual(resolveKey({}, "x.y"), ["x", "y"]);
});
