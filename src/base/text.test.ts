import assert from "node:assert/strict";
import { test } from "node:test";
import { cutEnd, cutStart, nearestWords } from "./text.ts";

test("cutting never splits a surrogate pair", () => {
  assert.equal(cutStart("ab😀cd", 2), "ab");
  assert.equal(cutStart("ab😀cd", 3), "ab");
  assert.equal(cutStart("ab😀cd", 4), "ab😀");
  assert.equal(cutStart("ab", 5), "ab");
  assert.equal(cutEnd("ab😀cd", 2), "cd");
  assert.equal(cutEnd("ab😀cd", 3), "cd");
  assert.equal(cutEnd("ab😀cd", 4), "😀cd");
  assert.equal(cutEnd("", 0), "");
});

const NEAREST: readonly (readonly [word: string, candidates: string[], nearest: string[]])[] = [
  ["modle", ["model", "agent", "mode"], ["mode", "model"]],
  ["AGENT", ["agent", "agents"], ["agent", "agents"]],
  ["zzzzzz", ["model", "agent"], []],
  ["ab", ["ab", "abc", "abcd", "b"], ["ab", "abc", "b"]],
];

test("nearest words come by distance, then by name", () => {
  for (const [word, candidates, nearest] of NEAREST) {
    assert.deepEqual(nearestWords(word, candidates), nearest, word);
  }
});
