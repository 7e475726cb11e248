import assert from "node:assert/strict";
import { test } from "node:test";
import { isHermesError } from "#base/errors.ts";
import { parseCommandLine } from "./command-line.ts";

type Case = readonly [words: string, path: string, options: object, operands?: readonly string[]];

/** `restoreCwd` is commander's own default for `--no-restore-cwd`; it is left out below. */
const CASES: readonly Case[] = [
  ["", "chat", {}],
  ["-q hi", "chat", { query: "hi" }],
  ["chat -q hi", "chat", { query: "hi" }],
  ["-q -r", "chat", { query: "-r" }],
  ["-m x chat -q hi", "chat", { model: "x", query: "hi" }],
  ["chat -q hi -m x", "chat", { model: "x", query: "hi" }],
  ["-c chat -q hi", "chat", { continue: true, query: "hi" }],
  ["-c title", "chat", { continue: "title" }],
  ["-c", "chat", { continue: true }],
  ["-c -q hi", "chat", { continue: true, query: "hi" }],
  ["--model=chat status", "status", { model: "chat" }],
  ["-m sessions sessions list", "sessions list", { model: "sessions" }],
  ["sessions --json list --limit 3", "sessions list", { json: true, limit: 3 }],
  ["sessions list --source cli", "sessions list", { source: "cli" }],
  ["config set a.b -5", "config set", {}, ["a.b", "-5"]],
  ["config set a -", "config set", {}, ["a", "-"]],
  ["config set a -- --x", "config set", {}, ["a", "--x"]],
  ["sessions rename id new title", "sessions rename", {}, ["id", "new", "title"]],
  ["web --port 0 --no-open", "dashboard", { port: 0, open: false }],
  ["model --demo", "model", { demo: true }],
  ["model list --provider openai", "model list", { provider: "openai" }],
  ["--yolo --safe-mode chat", "chat", { yolo: true, safeMode: true }],
];

for (const [words, path, options, operands = []] of CASES) {
  test(`hermes ${words}`, async () => {
    const line = await parseCommandLine(words.split(" ").filter((word) => word !== ""));
    assert.equal(line.path.join(" "), path);
    assert.deepEqual(line.operands, operands);
    const given = Object.entries(line.options).filter(
      ([name, value]) =>
        value !== undefined &&
        !(value === true && /^(restoreCwd|open|supervise|skills|alias)$/.test(name)),
    );
    assert.deepEqual(Object.fromEntries(given), options);
  });
}

const BAD: readonly (readonly [words: string, sentence: RegExp])[] = [
  ["sesions", /Unknown command: sesions\. Did you mean sessions/],
  ["zzzzzzzz", /Unknown command: zzzzzzzz\.$/],
  ["sessions", /needs a sub-command: list, show/],
  ["sessions lst", /Unknown sub-command of sessions: lst\. Did you mean list/],
  ["profile create", /needs NAME/],
  ["config set a", /needs VALUE/],
  ["config get a b", /does not take "b"/],
  ["chat hello", /does not take "hello"/],
  ["chat --nope", /unknown option '--nope'/],
  ["sessions list --limit 0", /--limit N: "0" is not a whole number of at least 1/],
  ["sessions list --limit 3x", /"3x" is not a whole number/],
  ["chat --format xml", /Allowed choices are text, stream-json/],
  ["--reasoning lots chat", /Allowed choices are none, low, medium, high/],
  ["chat -q", /argument missing/],
];

for (const [words, sentence] of BAD) {
  test(`hermes ${words}: 64`, async () => {
    await assert.rejects(parseCommandLine(words.split(" ")), (error) => {
      assert.ok(isHermesError(error, "USAGE"));
      assert.equal(error.exit, 64);
      assert.match(error.message, sentence);
      return true;
    });
  });
}
