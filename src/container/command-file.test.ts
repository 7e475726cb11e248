import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { renderCommand, renderLimits, stopLimits, wordsAfterDashes } from "./command-file.ts";

/** What a program gets as its words when sh reads the rendered file, as bytes. */
function runBySh(t: TestContext, words: readonly string[], cwd = "/"): readonly string[] {
  const dir = tempDir(t);
  const path = join(dir, "cmd");
  // Prints its own words, each ended by NUL.
  const argv = ["/usr/bin/printf", String.raw`%s\0`, ...words];
  writeFileSync(path, renderCommand({ argv, cwd, user: null }), "latin1");
  const end = spawnSync("sh", [path], { encoding: "latin1" });
  assert.equal(end.stderr, "");
  return end.stdout.split("\0").slice(0, -1);
}

const HARD: readonly string[] = [
  "",
  " ",
  "a b",
  "'",
  "''",
  "it's",
  "'; echo gone; '",
  "$(id)",
  "`id`",
  "$HOME",
  "\\",
  "\\'",
  "line\nline\n",
  "\n",
  "\t",
  "\r\n",
  "!",
  "~",
  "*",
  "%s",
  '"',
  "-n",
  "--",
  "a=b",
  "\u00ff\u00fe\u0080",
  "\u0001\u007f",
  "#",
];

test("hard words reach the program byte for byte", (t) => {
  assert.deepEqual(runBySh(t, HARD), HARD);
});

test("200 made-up words of any bytes reach the program", (t) => {
  let seed = 12_345;
  const next = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const words = Array.from({ length: 200 }, () =>
    Array.from({ length: next(24) }, () => String.fromCharCode(1 + next(255))).join(""),
  );
  assert.deepEqual(runBySh(t, words), words);
});

test("the command starts in the container's directory, whatever its name", (t) => {
  const dir = join(tempDir(t), "it's a\nfolder");
  mkdirSync(dir);
  const path = join(dir, "cmd");
  writeFileSync(path, renderCommand({ argv: ["/bin/pwd"], cwd: dir, user: null }));
  assert.equal(spawnSync("sh", [path], { encoding: "utf8" }).stdout, `${dir}\n`);
});

for (const [word, code] of [
  ["/etc/passwd", 126],
  ["/no/such/file", 127],
] as const) {
  test(`${word} ends with ${code}`, () => {
    const input = renderCommand({ argv: [word], cwd: "/", user: null });
    assert.equal(spawnSync("sh", { input }).status, code);
  });
}

test("root becomes the user first", () => {
  assert.equal(
    renderCommand({ argv: ["sleep", "1"], cwd: "/opt/data", user: "hermes" }),
    "cd '/opt/data' 2>/dev/null\nexec 's6-setuidgid' 'hermes' 'sleep' '1'\n",
  );
});

test("words are those behind the first bare dashes, as bytes", () => {
  const line = Buffer.from("node\0hermes\0container\0prepare\0--\0a\0--\0\0\xff b\0", "latin1");
  assert.deepEqual(wordsAfterDashes(line), ["a", "--", "", "\xff b"]);
  assert.deepEqual(wordsAfterDashes(Buffer.from("node\0x\0")), []);
  assert.deepEqual(wordsAfterDashes(Buffer.from("node\0--\0")), []);
});

for (const [grace, slot, command, end] of [
  [4, 1, 2, 3],
  [5, 1, 2, 3],
  [6, 1, 2, 3],
  [10, 5, 6, 7],
  [30, 25, 26, 27],
  [3600, 3595, 3596, 3597],
] as const) {
  test(`a grace of ${grace} s gives slots ${slot} s, the command ${command} s, all ${end} s`, () => {
    const limits = stopLimits(grace);
    assert.equal(limits.timeoutKillMs, slot * 1000);
    assert.equal(renderLimits(limits), `${command * 10} ${end * 1000}\n`);
  });
}
