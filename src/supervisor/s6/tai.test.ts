// Stamps against those that s6 itself makes (container.md §7.3).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { noS6 } from "../../../test/kit/s6-gateways.ts";
import { parseTai64n } from "./tai.ts";

const ROWS: readonly (readonly [label: string, ms: number | null])[] = [
  // 2^62 is 1970 in TAI, 37 s before that moment in UTC.
  ["@400000000000002500000000", 0],
  ["@40000000000000240000000f", -1000],
  ["@400000000000002500000001", 0],
  ["@4000000000000025000f423f", 0],
  ["@4000000000000025000f4240", 1],
  ["@40000000000000253b9ac9ff", 999],
  ["@400000006a0d8705075bcd15", 1_779_271_392_123],
  ["400000000000002500000000", null],
  ["@40000000000000250000000", null],
  ["@4000000000000025000000000", null],
  ["@40000000000000250000000G", null],
  ["@40000000000000250000000A", null],
  ["", null],
  ["never", null],
];

for (const [label, ms] of ROWS) {
  test(`${label || "nothing"} is ${ms}`, () => assert.equal(parseTai64n(label), ms));
}

test("a stamp of s6-tai64n is now", { skip: noS6 ?? false }, () => {
  const before = Date.now();
  const { stdout } = spawnSync("s6-tai64n", { input: "a line\n", encoding: "utf8" });
  const after = Date.now();
  const [label = "", ...rest] = stdout.trim().split(" ");
  assert.deepEqual(rest, ["a", "line"]);
  const at = parseTai64n(label) ?? 0;
  assert.ok(before <= at && at <= after, `${before} ≤ ${at} ≤ ${after}`);
});
