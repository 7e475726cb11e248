// Commands in disguise from test/fixtures/shell-evasions.txt; text of any kind never throws (agent.md §5.3).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { compileRules, type RuleNames } from "./command-rules.ts";
import { normaliseShell } from "./normalise.ts";
import { DANGEROUS, HARD_BLOCK } from "./policy.ts";

const names: RuleNames = {
  HOME: "/data/hermes/profiles/work",
  ROOT: "/data/hermes",
  USERHOME: "/home/user",
  PID: "4242",
  HOST: "box-1",
};
const facts = {
  cwd: "/srv/project",
  userHome: names.USERHOME,
  env: { PATH: "/usr/bin:/bin", HERMES_HOME: names.HOME },
  pid: 4242,
};
const hard = compileRules("hard-block", HARD_BLOCK, names);
const dangerous = compileRules("dangerous", DANGEROUS, names);

const idsOf = (command: string): readonly string[] => {
  const shell = normaliseShell(command, facts);
  return [...hard.match(shell), ...dangerous.match(shell)].map((hit) => hit.id);
};

const fixture = new URL("../../test/fixtures/shell-evasions.txt", import.meta.url);
const cases = readFileSync(fixture, "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [want = "", command = ""] = line.split("\t");
    // `\\n` is a backslash before a line end, `\n` a line end.
    return { want, command: command.replaceAll("\\n", "\n").replaceAll("\\t", "\t") };
  });

void test("the fixture holds cases", () => {
  assert.ok(cases.length > 150);
});

for (const { want, command } of cases) {
  void test(`${want}: ${JSON.stringify(command)}`, () => {
    const ids = idsOf(command);
    if (want === "ok") assert.deepEqual(ids, []);
    else assert.ok(ids.includes(want), `found ${ids.join(", ") || "nothing"}`);
  });
}

/** Small generator with a fixed seed: the same texts in every run. */
function* texts(count: number): Iterable<string> {
  const pieces = [
    "$(",
    ")",
    "`",
    "'",
    '"',
    "\\",
    "{",
    "}",
    "${",
    "<<EOF\n",
    "EOF\n",
    "<(",
    "((",
    "))",
    ";",
    "|",
    "&",
    "\n",
    " ",
    "a",
    "rm",
    "-rf",
    "/",
    "$x",
    "=",
    "*",
    "#",
    "$'",
    "é",
    "\uD83D",
    "eval ",
    "bash -c ",
  ];
  let seed = 7;
  for (let i = 0; i < count; i++) {
    let text = "";
    for (let part = 0; part < 30; part++) {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      text += pieces[seed % pieces.length];
    }
    yield text;
  }
}

void test("any text ends, without an error", () => {
  for (const text of texts(3000)) idsOf(text);
});

void test("long and deep texts end soon and are marked as incomplete", () => {
  const deep = `${"$(".repeat(5000)}ls`;
  const nested = "bash -c ".repeat(50) + "ls";
  const wide = "ls;".repeat(10_900);
  const braces = "{a,b}".repeat(2000);
  const started = performance.now();
  for (const text of [
    deep,
    nested,
    wide,
    braces,
    "eval ".repeat(6000),
    "`".repeat(32_000),
    `x=${"$x".repeat(10_000)};`.repeat(1),
  ]) {
    idsOf(text);
  }
  assert.ok(performance.now() - started < 20_000);
  assert.equal(normaliseShell(deep, facts).incomplete, true);
  assert.equal(normaliseShell(wide, facts).incomplete, true);
});

void test("variables that grow by themselves stay bounded", () => {
  const doubling = `a=xxxxxxxxxx;${"a=$a$a;".repeat(60)}echo $a`;
  idsOf(doubling);
});
