import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import { HISTORY_LIMIT, openHistory } from "./history.ts";

const hide = (text: string): string => text.replaceAll("hunter2", "[redacted]");

test("lines are kept newest first, on one line each, without secrets, mode 0600", (t) => {
  const path = join(tempDir(t), "cache", "cli_history");
  const history = openHistory(path, hide);
  assert.deepEqual(history.entries, []);
  history.add("first");
  history.add("my hunter2\n  second line");
  assert.deepEqual(openHistory(path, hide).entries, ["my [redacted] second line", "first"]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test("at most 500 are kept; a damaged line is skipped", (t) => {
  const path = join(tempDir(t), "cli_history");
  const lines = Array.from({ length: 700 }, (_, index) => JSON.stringify(`line ${index}`));
  writeFileSync(path, `${lines.join("\n")}\n{broken\n`);
  const { entries } = openHistory(path, hide);
  assert.equal(entries.length, HISTORY_LIMIT);
  assert.equal(entries[0], "line 699");
  assert.equal(readFileSync(path, "utf8").trimEnd().split("\n").length, HISTORY_LIMIT);
});
