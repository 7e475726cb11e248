import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogFilter, parseLogLevel, parseLogLine, type LogFilter } from "./log-lines.ts";

const LINES = [
  "a line of nobody",
  '{"time":"2026-05-20T10:00:00.000Z","level":"info","component":"cli","session":"s1","msg":"one"}',
  '{"time":"2026-05-20T11:00:00.000Z","level":"warning","component":"store","msg":"two"}',
  "    at a stack frame",
  '{"time":"2026-05-20T12:00:00.000Z","level":"error","component":"cli","session":"s2","msg":"three"}',
  '{"not":"ours"}',
  "{broken",
];

const CASES: readonly (readonly [name: string, filter: LogFilter, kept: readonly number[]])[] = [
  ["nothing asked", {}, [0, 1, 2, 3, 4, 5, 6]],
  ["level", { minLevel: "warning" }, [2, 3, 4, 5, 6]],
  ["since", { since: Date.parse("2026-05-20T11:30:00Z") }, [4, 5, 6]],
  ["session", { session: "s1" }, [1]],
  ["component", { component: "store" }, [2, 3]],
  ["two at once", { component: "cli", minLevel: "error" }, [4, 5, 6]],
  ["search", { search: "TWO" }, [2]],
];

for (const [name, filter, kept] of CASES) {
  test(`filter: ${name}`, () => {
    const matches = createLogFilter(filter);
    const found = LINES.flatMap((line, index) => (matches(parseLogLine(line)) ? [index] : []));
    assert.deepEqual(found, kept);
  });
}

test("a line of ours is read, anything else is its own message", () => {
  const line = parseLogLine(LINES[1] ?? "");
  assert.deepEqual(
    [line.at, line.level, line.component, line.session, line.message],
    [Date.parse("2026-05-20T10:00:00Z"), "info", "cli", "s1", "one"],
  );
  assert.deepEqual(
    [parseLogLine("{broken").at, parseLogLine("{broken").message],
    [null, "{broken"],
  );
});

test("levels in any spelling that people use", () => {
  const words = ["WARN", "warning", "Error", "fatal", "trace", "info", "loud", ""];
  assert.deepEqual(words.map(parseLogLevel), [
    "warning",
    "warning",
    "error",
    "error",
    "debug",
    "info",
    null,
    null,
  ]);
});
