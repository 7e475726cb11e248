import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { parseBackoff, readBackoff } from "./backoff.ts";

const NOW = 1_000_000;

const ROWS: readonly (readonly [text: string, backoff: ReturnType<typeof parseBackoff>])[] = [
  ["3 104\n", { n: 3, until: NOW + 3500 }],
  ["1 100", { n: 1, until: NOW - 500 }],
  ["7 160\n\n", { n: 7, until: NOW + 59_500 }],
  // As a full disk or a killed script leaves it.
  ["", null],
  ["3", null],
  ["3 ", null],
  ["-1 5", null],
  ["3 1e3", null],
  ["3 10.5", null],
  ["3 104 9", null],
  ["9999999999 1", null],
  ["nothing here", null],
];

for (const [text, expected] of ROWS) {
  test(`at 100.5 s of uptime ${JSON.stringify(text)} is ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(parseBackoff(text, 100.5, NOW), expected);
  });
}

test("a slot's file is read against the uptime of this machine", (t) => {
  const dir = tempDir(t);
  mkdirSync(join(dir, "data"));
  assert.equal(readBackoff(dir, NOW), null);
  const uptime = Math.trunc(Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]));
  writeFileSync(join(dir, "data", "backoff"), `2 ${uptime + 1000}\n`);
  const { n, until } = readBackoff(dir, NOW) ?? { n: 0, until: 0 };
  assert.equal(n, 2);
  assert.ok(until > NOW + 900_000 && until <= NOW + 1_001_000, `${until}`);
});
