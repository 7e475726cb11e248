import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAnswer, parseApproval } from "./question.ts";

const CHOICES = ["once", "session", "always", "deny"] as const;

test("what a typed line means to an approval; anything unclear is asked again", () => {
  const cases = [
    ["1", "once"],
    ["4", "deny"],
    ["5", null],
    ["0", null],
    ["y", "once"],
    ["YES", "once"],
    ["n", "deny"],
    ["ses", "session"],
    ["always", "always"],
    ["", null],
    ["maybe", null],
    ["1 2", null],
  ] as const;
  for (const [text, choice] of cases) assert.equal(parseApproval(text, CHOICES), choice, text);
  assert.equal(parseApproval("2", ["once", "deny"]), "deny");
});

test("a number picks an answer, other words are the answer", () => {
  assert.equal(parseAnswer("2", ["red", "green"]), "green");
  assert.equal(parseAnswer("7", ["red", "green"]), "7");
  assert.equal(parseAnswer(" blue ", ["red"]), "blue");
});
