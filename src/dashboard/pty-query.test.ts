import assert from "node:assert/strict";
import { test } from "node:test";
import { parsePtyQuery, readClientFrame } from "./pty-query.ts";

const NOTHING = { cols: 80, rows: 24, profile: null, resume: null, attach: null };

for (const [query, expected] of [
  ["", NOTHING],
  ["cols=1&rows=500", { ...NOTHING, cols: 1, rows: 500 }],
  ["cols=0", /cols and rows/],
  ["rows=501", /cols and rows/],
  ["cols=1e2", /cols and rows/],
  ["cols=-4", /cols and rows/],
  ["rows=", /cols and rows/],
  ["profile=coder", { ...NOTHING, profile: "coder" }],
  ["profile=", NOTHING],
  ["resume=20260115_120000_abcdef", { ...NOTHING, resume: "20260115_120000_abcdef" }],
  ["resume=--help", /resume/],
  ["resume=../x", /resume/],
  [`resume=${"a".repeat(129)}`, /resume/],
  ["attach=A.b_c-1", { ...NOTHING, attach: "A.b_c-1" }],
  [`attach=${"a".repeat(128)}`, { ...NOTHING, attach: "a".repeat(128) }],
  [`attach=${"a".repeat(129)}`, /attach/],
  ["attach=", /attach/],
  ["attach=a b", /attach/],
  ["attach=%0a", /attach/],
] as const) {
  test(`?${query.slice(0, 40)}`, () => {
    const reading = parsePtyQuery(new URLSearchParams(query));
    if (expected instanceof RegExp) assert.match(reading.ok ? "" : reading.problem, expected);
    else assert.deepEqual(reading, { ok: true, query: expected });
  });
}

for (const [frame, expected] of [
  ["\u001b[RESIZE:100;30]", { kind: "resize", cols: 100, rows: 30 }],
  ["\u001b[RESIZE:500;1]", { kind: "resize", cols: 500, rows: 1 }],
  ["\u001b[RESIZE:501;1]", { kind: "nothing" }],
  ["\u001b[RESIZE:0;0]", { kind: "nothing" }],
  ["\u001b[RESIZE:999999999;1]", { kind: "nothing" }],
  ["\u001b[RESIZE:100;30]x", { kind: "input" }],
  ["x\u001b[RESIZE:100;30]", { kind: "input" }],
  ["\u001b[RESIZE:100;30]\n", { kind: "input" }],
  ["\u001b[RESIZE:-1;30]", { kind: "input" }],
  ["\u001b[A", { kind: "input" }],
  ["", { kind: "input" }],
] as const) {
  test(`frame ${JSON.stringify(frame)}`, () => {
    assert.deepEqual(readClientFrame(Buffer.from(frame)), expected);
  });
}
