import assert from "node:assert/strict";
import { test } from "node:test";
import { cutEnd, cutStart, inert, inertButColour, nearestWords } from "./text.ts";

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

const OBEYED: readonly (readonly [text: string, inert: string, butColour: string])[] = [
  ["plain\ttext\n", "plain\ttext\n", "plain\ttext\n"],
  ["a\x1b[31mred\x1b[0m", String.raw`a\x1b[31mred\x1b[0m`, "a\x1b[31mred\x1b[0m"],
  ["rm -rf /\x1b[2K\rls", String.raw`rm -rf /\x1b[2K` + "\nls", String.raw`rm -rf /\x1b[2K\x0dls`],
  ["\x1b]52;c;aGk=\x07", String.raw`\x1b]52;c;aGk=\x07`, String.raw`\x1b]52;c;aGk=\x07`],
  ["\x9b2J\x00", String.raw`\x9b2J\x00`, String.raw`\x9b2J\x00`],
  ["txt\u202efdp.\u2066", String.raw`txt\u202efdp.\u2066`, String.raw`txt\u202efdp.\u2066`],
  ["\r\nüñ漢😀👩‍👩‍👧", "\nüñ漢😀👩‍👩‍👧", String.raw`\x0d` + "\nüñ漢😀👩‍👩‍👧"],
];

test("what a terminal would obey is shown instead", () => {
  for (const [text, shown, coloured] of OBEYED) {
    assert.equal(inert(text), shown);
    assert.equal(inertButColour(text), coloured);
  }
});
