import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEnv, tokenizeEnv } from "./env-file.ts";

/** Each rule of agent.md §2.4 in one or more lines. */
const CASES: readonly (readonly [text: string, values: Record<string, string>, bad: number[]])[] = [
  ["T=abc#def", { T: "abc#def" }, []],
  ["T=#abc", { T: "#abc" }, []],
  ["T=abc #def", { T: "abc" }, []],
  ["T=abc\t#def\n", { T: "abc" }, []],
  ["T= # only a comment", { T: "" }, []],
  ["T=   ", { T: "" }, []],
  ["  export  T  =  a b  ", { T: "a b" }, []],
  ["exported=1", { exported: "1" }, []],
  ["T='a \"b\" #c \\n'", { T: 'a "b" #c \\n' }, []],
  ['T="a\\n\\t\\"\\\\ \\q $X #c" # comment', { T: 'a\n\t"\\ \\q $X #c' }, []],
  ["T='a\nb'\nU=1", { T: "a\nb", U: "1" }, []],
  ['T="a\nb"\nU=1', { T: "a\nb", U: "1" }, []],
  ["\uFEFFA=1\r\nB='2'\r\nC=3 \r\n", { A: "1", B: "2", C: "3" }, []],
  ["A=1\nA=2", { A: "2" }, []],
  ["# A=1\n\n  # x\nB=2", { B: "2" }, []],
  ["A=1\nnot a pair\nB=2\n=x\n1A=2\nC-D=1", { A: "1", B: "2" }, [2, 4, 5, 6]],
  ["A='open\nB=1", { B: "1" }, [1]],
  ['A="x"y\nB=1', { B: "1" }, [1]],
  ["A='a\nb\nc'\nbad\n", { A: "a\nb\nc" }, [4]],
  ["A=x\0y\nB=1\nC=\0\nD='a\0'", { B: "1" }, [1, 3, 4]],
  ["A=$HOME ${X}", { A: "$HOME ${X}" }, []],
  ["A=a=b", { A: "a=b" }, []],
  ["", {}, []],
];

test("each rule of the file", () => {
  for (const [text, values, bad] of CASES) {
    const lines = tokenizeEnv(text)
      .filter((token) => token.kind === "bad")
      .map((token) => token.line);
    assert.deepEqual(Object.fromEntries(parseEnv(text)), values, JSON.stringify(text));
    assert.deepEqual(lines, bad, JSON.stringify(text));
  }
});

test("a value of megabytes is no problem", () => {
  const long = "x\\n".repeat(100_000);
  assert.equal(parseEnv(`A="${long}"\nB=1`).get("B"), "1");
  assert.equal(parseEnv(`A=${"y".repeat(2_000_000)}`).get("A")?.length, 2_000_000);
});
