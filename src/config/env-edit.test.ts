import assert from "node:assert/strict";
import { test } from "node:test";
import { isHermesError } from "#base/errors.ts";
import { setEnvText, unsetEnvText } from "./env-edit.ts";
import { parseEnv } from "./env-file.ts";

test("a value is replaced where it stands", () => {
  assert.equal(setEnvText("A=1 # why\nB=2\n", "A", "x"), "A=x # why\nB=2\n");
  assert.equal(setEnvText("export A = '1'\r\nB=2", "A", "x y"), "export A = 'x y'\r\nB=2");
  assert.equal(setEnvText("A=1\nA=2\nB=3", "A", "9"), "A=1\nA=9\nB=3");
  assert.equal(setEnvText("A= # empty\n", "A", "x"), "A=x # empty\n");
});

test("a new name is one line at the end", () => {
  assert.equal(setEnvText("", "A", "1"), "A=1\n");
  assert.equal(setEnvText("B=2", "A", "1"), "B=2\nA=1\n");
  assert.equal(setEnvText("B=2\r\n", "A", "1"), "B=2\r\nA=1\r\n");
  assert.equal(setEnvText("\uFEFF", "A", "1"), "\uFEFFA=1\n");
});

test("removing takes every line of the name and nothing else", () => {
  assert.equal(unsetEnvText("A=1\nB='x\ny' # c\n# B=3\nB=2\nC=4", "B"), "A=1\n# B=3\nC=4");
  assert.equal(unsetEnvText("A=1\n", "B"), "A=1\n");
});

const REFUSED = [
  "PATH",
  "LD_PRELOAD",
  "DYLD_X",
  "NODE_OPTIONS",
  "NODE_PATH",
  "PYTHONPATH",
  "BASH_ENV",
  "ENV",
  "IFS",
  "SHELL",
  "HOME",
  "EDITOR",
  "HERMES_HOME",
  "HERMES_YOLO_MODE",
  "HERMES_WRITE_SAFE_ROOT",
  "HERMES_DASHBOARD_INSECURE",
  "HERMES_DOCKER_EXEC_AS_ROOT",
  "HERMES_ALLOW_ROOT_GATEWAY",
  "A B",
  "1A",
  "",
];

test("names that would change what runs are refused", () => {
  for (const name of REFUSED) {
    assert.throws(
      () => setEnvText("", name, "1"),
      (error) => isHermesError(error, "ENV_EDIT_REFUSED") && error.exit === 64,
      name,
    );
  }
  assert.throws(() => setEnvText("", "A", "a\0b"), /NUL/);
});

test("an edit that would change the meaning of another line is refused", () => {
  // The open quote on line 1 is a bad line; the quote before the line break would close it.
  const text = "X='open\nA=1\n";
  assert.throws(() => setEnvText(text, "A", "\nnext"), { code: "ENV_EDIT_REFUSED" });
});

/** Numerical Recipes' generator: repeatable, and good enough to choose with. */
function makeRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const NAMES = ["ALPHA", "BETA", "GAMMA", "delta_1", "_E"];
const VALUES = [
  "",
  "x",
  "abc#def",
  "# no",
  "a b",
  "it's",
  'say "hi"',
  "l1\nl2",
  "\ttab",
  "\\n",
  "ü😀",
  " edge ",
];
const NOISE = ["# comment\n", "\n", "bad line\n", "# X='\r\n", "  \t\n", "=oops\n", "#\n"];

/** A file in pieces: each piece is one statement or one line of noise, and knows the name that it sets. */
function randomPieces(random: (below: number) => number): { text: string; name: string | null }[] {
  return Array.from({ length: 1 + random(8) }, () => {
    if (random(3) === 0) return { text: NOISE[random(NOISE.length)] ?? "", name: null };
    const name = NAMES[random(NAMES.length)] ?? "";
    const written = [`a${random(9)}`, `'q ${random(9)}'`, `"d\\n${random(9)}"`, "'two\nlines'", ""];
    const end = [" # c\n", "\n", "\r\n"][random(3)] ?? "\n";
    const head = ["", "export ", "  "][random(3)] ?? "";
    return { text: `${head}${name}${random(2) ? " = " : "="}${written[random(5)]}${end}`, name };
  });
}

test("200 random edits keep all other bytes", () => {
  const random = makeRandom(7);
  for (let round = 0; round < 200; round++) {
    const pieces = randomPieces(random);
    const text = pieces.map((piece) => piece.text).join("");
    const name = NAMES[random(NAMES.length)] ?? "";
    const value = VALUES[random(VALUES.length)] ?? "";
    const after = setEnvText(text, name, value);
    const expected = parseEnv(text).set(name, value);
    assert.deepEqual(
      new Map(parseEnv(after)),
      new Map(expected),
      JSON.stringify({ text, name, value }),
    );
    const index = pieces.findLastIndex((piece) => piece.name === name);
    const before = pieces.slice(0, index === -1 ? undefined : index).map((piece) => piece.text);
    const rest = index === -1 ? [] : pieces.slice(index + 1).map((piece) => piece.text);
    assert.ok(after.startsWith(before.join("")), JSON.stringify({ text, after }));
    assert.ok(after.endsWith(rest.join("")), JSON.stringify({ text, after }));
    const removed = unsetEnvText(text, name);
    const kept = pieces.filter((piece) => piece.name !== name).map((piece) => piece.text);
    assert.equal(removed, kept.join(""), JSON.stringify({ text, name }));
  }
});
