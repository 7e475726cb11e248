import assert from "node:assert/strict";
import { test } from "node:test";
import { Lexer } from "marked";
import { MarkdownStream, type MarkdownMode } from "./markdown-stream.ts";

const paint = (style: unknown, text: string): string => `<${String(style)}>${text}</>`;

function open(mode: MarkdownMode): MarkdownStream {
  return new MarkdownStream(mode, paint, Lexer);
}

const CASES: readonly (readonly [text: string, rendered: string, stripped: string])[] = [
  ["plain words\n", "plain words\n", "plain words\n"],
  ["a **b** and *c*\n", "a <bold>b</> and <italic>c</>\n", "a b and c\n"],
  ["run `ls -la` now\n", "run <cyan>ls -la</> now\n", "run ls -la now\n"],
  ["## Head **x** ##\n", "<bold>Head <bold>x</></>\n", "Head x\n"],
  ["- one\n  * two\n", "• one\n  • two\n", "• one\n  • two\n"],
  ["1. first\n", "1. first\n", "1. first\n"],
  ["> said\n", "<dim>│ said</>\n", "│ said\n"],
  ["[docs](https://x.example/a)\n", "docs (https://x.example/a)\n", "docs (https://x.example/a)\n"],
  [
    "see https://x.example/a_b_c\n",
    "see https://x.example/a_b_c\n",
    "see https://x.example/a_b_c\n",
  ],
  [
    "snake_case_name and 2 * 3 * 4\n",
    "snake_case_name and 2 * 3 * 4\n",
    "snake_case_name and 2 * 3 * 4\n",
  ],
  ["a < b && c\n", "a < b && c\n", "a < b && c\n"],
  [
    "```js\nlet a = **1**;\n```\nafter *x*\n",
    "<dim>```js</>\n<cyan>let a = **1**;</>\n<dim>```</>\nafter <italic>x</>\n",
    "\nlet a = **1**;\n\nafter x\n",
  ],
  ["a &#27;[8m *b &#x1b;c*\n", "a \\x1b[8m <italic>b \\x1bc</>\n", "a \\x1b[8m b \\x1bc\n"],
  ["no end **bold**", "no end <bold>bold</>", "no end bold"],
];

for (const [text, rendered, stripped] of CASES) {
  test(JSON.stringify(text), () => {
    for (const [mode, expected] of [
      ["render", rendered],
      ["strip", stripped],
      ["raw", text],
    ] as const) {
      const whole = open(mode);
      assert.equal(whole.push(text) + whole.flush(), expected, mode);
      // The same however it is cut.
      const pieces = open(mode);
      let shown = "";
      for (const character of text) shown += pieces.push(character);
      assert.equal(shown + pieces.flush(), expected, `${mode}, one character at a time`);
    }
  });
}

test("words are not held back by a mark that comes later", () => {
  const stream = open("render");
  assert.equal(stream.push("All of this is shown at once, "), "All of this is shown at once, ");
  assert.equal(stream.push("**this"), "");
  assert.equal(stream.push("** not.\n"), "<bold>this</> not.\n");
});
