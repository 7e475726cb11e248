// Guards as tables: what each result in a row gets, and when a call is not run any more (agent.md §4.6).
import assert from "node:assert/strict";
import { test } from "node:test";
import { LoopGuards, type GuardedResult } from "./guards.ts";

const ON = { enabled: true, hardStop: true };
const bad: GuardedResult = { ok: false, content: '{"error":"x"}' };
const good = (n: unknown): GuardedResult => ({ ok: true, content: JSON.stringify({ n }) });

interface Case {
  readonly name: string;
  /** One word per call: `!` fails, `=` gives always the same, `#` something new; a digit after it changes the input. */
  readonly calls: string;
  /** `w` warned, `-` not, `x` not run. */
  readonly expected: string;
}

const TABLE: readonly Case[] = [
  { name: "same failing call 2 and 5", calls: "! ! ! ! ! ! !", expected: "-wwwwxx" },
  { name: "same tool failing 3 and 8", calls: "!1 !2 !3 !4 !5 !6 !7 !8 !9", expected: "--wwwwwwx" },
  { name: "same result 2 and 5", calls: "= = = = = =", expected: "-wwwwx" },
  { name: "new results are no circle", calls: "# # # # # # # #", expected: "--------" },
  { name: "a success starts the tool anew", calls: "!1 !2 #3 !4 !5 #6", expected: "------" },
  { name: "a success starts the call anew", calls: "! # ! # ! #", expected: "------" },
  { name: "other inputs are other calls", calls: "=1 =2 =3 =1", expected: "---w" },
];

for (const { name, calls, expected } of TABLE) {
  test(`guards: ${name}`, () => {
    const guards = new LoopGuards(ON);
    let fresh = 0;
    const seen = calls.split(" ").map((word) => {
      const call = { name: "tool", input: { b: 1, a: word.slice(1) } };
      if (guards.refusal(call) !== null) return "x";
      const result = word[0] === "!" ? bad : good(word[0] === "#" ? ++fresh : "same");
      return guards.record(call, result) === null ? "-" : "w";
    });
    assert.equal(seen.join(""), expected);
  });
}

test("without hard stops nothing is refused, without guards nothing is said", () => {
  const call = { name: "tool", input: 1 };
  const soft = new LoopGuards({ enabled: true, hardStop: false });
  const off = new LoopGuards({ enabled: false, hardStop: true });
  for (let count = 0; count < 20; count++) {
    assert.equal(soft.record(call, bad) === null, count === 0);
    assert.equal(off.record(call, bad), null);
  }
  assert.equal(soft.refusal(call), null);
  assert.equal(off.refusal(call), null);
});

test("the order of keys and what a clock says do not make a call or a result another", () => {
  const guards = new LoopGuards(ON);
  const result = (ms: number) => ({
    ok: true,
    content: JSON.stringify({ output: "x", duration_ms: ms }),
  });
  assert.equal(guards.record({ name: "t", input: { a: 1, b: 2 } }, result(10)), null);
  assert.match(
    guards.record({ name: "t", input: { b: 2, a: 1 } }, result(20)) ?? "",
    /same result 2/,
  );
});
