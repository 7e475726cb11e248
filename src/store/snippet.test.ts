import assert from "node:assert/strict";
import { test } from "node:test";
import { lineOfResult } from "./snippet.ts";

const CASES: readonly (readonly [name: string, piece: string, line: string])[] = [
  [
    "a whole result",
    '{"output":"total 4\\n>>>notes<<<.txt\\n","exit_code":0}',
    "output: total 4 >>>notes<<<.txt exit_code: 0",
  ],
  [
    "cut at both ends",
    '…4  >>>notes<<<.txt","exit_code":0,"dura…',
    '…4 >>>notes<<<.txt exit_code: 0,"dura…',
  ],
  ["cut in a key", '…code":0,"note":"a >>>b<<<"}', "code: 0 note: a >>>b<<<"],
  ["a marked key", '{">>>output<<<":"x"}', ">>>output<<<: x"],
  [
    "escapes",
    '{"output":"say \\"hi\\" to C:\\\\new\\tand\\u00e9"}',
    'output: say "hi" to C:\\new andé',
  ],
  [
    "lists and objects",
    '{"matches":[{"path":"a.ts","line":3},{"path":"b.ts","line":4}],"total":2}',
    "matches: path: a.ts line: 3 path: b.ts line: 4 total: 2",
  ],
  ["a list of texts", '{"files":["a.ts","b.ts"]}', "files: a.ts, b.ts"],
  ["JSON in a text", '{"output":"{\\"a\\": 1}"}', 'output: {"a": 1}'],
  [
    "braces of a program stay",
    '{"output":"f() { return; } >>>end<<<"}',
    "output: f() { return; } >>>end<<<",
  ],
  ["plain text of an import", "just\nwords >>>here<<<", "just words >>>here<<<"],
  ["plain text in brackets", "[done] >>>now<<<", "[done] >>>now<<<"],
  ["nothing", "", ""],
];

for (const [name, piece, line] of CASES) {
  test(`a tool result as a line: ${name}`, () => {
    assert.equal(lineOfResult(piece), line);
  });
}
