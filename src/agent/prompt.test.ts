// Block order, cuts and hidden characters of the system prompt (agent.md §4.4); titles (§6.6).
import assert from "node:assert/strict";
import { test } from "node:test";
import { buildSystemPrompt, fileText, type PromptParts } from "./prompt.ts";
import { cleanTitle, cleanUserTitle, firstLineTitle, nextInLineage, titlePrompt } from "./title.ts";
import { stripHidden } from "./visible-text.ts";

const EMPTY: PromptParts = {
  soul: null,
  tools: [],
  surfaceText: null,
  skills: [],
  context: null,
  memory: null,
  user: null,
  date: "2026-01-15",
  timeZone: "Europe/Berlin",
  formatting: null,
};

const FULL: PromptParts = {
  ...EMPTY,
  soul: "I am the soul.",
  tools: ["terminal", "todo"],
  surfaceText: "Surface text.",
  skills: [{ category: "dev", name: "deploy", description: "Ships\nit" }],
  context: { name: "AGENTS.md", text: "Project rules." },
  memory: { text: "Likes tea.", usedPercent: 41.6 },
  user: { text: "Lives in Oslo.", usedPercent: 3 },
  formatting: "No tables.",
};

test("blocks stand in the order of §4.4, joined by one blank line", () => {
  const prompt = buildSystemPrompt(FULL);
  const marks = [
    "I am the soul.",
    "## Tools",
    "Surface text.",
    "## Skills\n- dev/deploy: Ships it",
    "## Project notes (AGENTS.md)\n\nProject rules.",
    "(42% used)\n\nLikes tea.",
    "(3% used)\n\nLives in Oslo.",
    "Today is 2026-01-15 (time zone Europe/Berlin).",
    "No tables.",
  ];
  const places = marks.map((mark) => prompt.indexOf(mark));
  assert.ok(
    places.every((place) => place >= 0),
    JSON.stringify(places),
  );
  assert.deepEqual(
    [...places].sort((a, b) => a - b),
    places,
  );
  assert.doesNotMatch(prompt, /\n{3}/);
  assert.equal(prompt, buildSystemPrompt({ ...FULL }), "the same parts give the same bytes");
});

test("empty parts leave no trace; without SOUL.md there is an identity", () => {
  const blocks = buildSystemPrompt(EMPTY).split("\n\n");
  assert.equal(blocks.length, 2);
  assert.match(blocks[0] ?? "", /^You are Hermes/);
  const blank = buildSystemPrompt({
    ...EMPTY,
    soul: " \n",
    context: { name: "A", text: "\u200b" },
    memory: { text: "", usedPercent: 0 },
  });
  assert.equal(blank, buildSystemPrompt(EMPTY));
});

test("guidance is for the tools that are on", () => {
  assert.match(buildSystemPrompt({ ...EMPTY, tools: ["memory"] }), /Keep with memory/);
  assert.doesNotMatch(
    buildSystemPrompt({ ...EMPTY, tools: ["todo"] }),
    /Keep with memory|terminal/,
  );
});

test("a file over 20000 characters keeps 70 % of its head and 20 % of its tail, no code point split", () => {
  assert.equal(fileText("x".repeat(20_000)), "x".repeat(20_000));
  const long = `${"a".repeat(13_999)}😀${"b".repeat(10_000)}😀${"c".repeat(3_999)}`;
  const cut = fileText(long);
  assert.ok(cut.isWellFormed());
  const [head, mark, tail] = cut.split("\n");
  assert.equal(head, "a".repeat(13_999));
  assert.equal(tail, "c".repeat(3_999));
  assert.equal(mark, `[… ${long.length - 13_999 - 3_999} characters left out …]`);
});

const HIDDEN: readonly [string, string][] = [
  ["zero-width", "a\u200bb\u200c\u200d\ufeffc"],
  ["bidi", "a\u202eb\u2066\u2069c\u061c"],
  ["controls", "a\u0000b\u001b\u007f\u0085c"],
  ["tags", "a\u{e0041}b\u{e007f}c"],
  ["soft hyphen and fillers", "a\u00adb\u3164\u115fc"],
];
for (const [name, text] of HIDDEN) {
  test(`hidden characters go: ${name}`, () => assert.equal(stripHidden(text), "abc"));
}

test("what people write stays", () => {
  for (const text of ["tab\tand\nline", "naïve 東京 ไทย עברית العربية", "😀 e\u0301 \ufffd"]) {
    assert.equal(stripHidden(text), text);
  }
  assert.equal(stripHidden("a\r\nb"), "a\nb");
});

const TITLES: readonly [string, string | null][] = [
  ["Fix the build", "Fix the build"],
  ['"Fix the build."', "Fix the build"],
  ["Title: **Fix the build**", "Fix the build"],
  ["# Fix\nbecause of that", "Fix"],
  ["\n\n  Fix   the\tbuild \n", "Fix the build"],
  ["„\u202eabc“", "„abc"],
  ["", null],
  ['""', null],
  ["\u200b\n \n", null],
  ["x".repeat(300), "x".repeat(100)],
];
for (const [raw, expected] of TITLES) {
  test(`a model's title ${JSON.stringify(raw.slice(0, 30))} → ${expected?.slice(0, 30)}`, () => {
    assert.equal(cleanTitle(raw), expected);
  });
}

test("titles from people and from first lines", () => {
  assert.equal(cleanUserTitle(" My\nplan\u202e "), "My plan");
  assert.equal(cleanUserTitle(" "), null);
  assert.equal(firstLineTitle("\n---\n  hello world\nmore"), "hello world");
  assert.equal(firstLineTitle("!!!"), null);
  assert.equal(nextInLineage("Plan"), "Plan #2");
  assert.equal(nextInLineage("Plan #9"), "Plan #10");
  assert.equal(nextInLineage("x".repeat(100)).length, 100);
  assert.ok(nextInLineage("x".repeat(100)).endsWith(" #2"));
  assert.ok(titlePrompt("u".repeat(9000), "a".repeat(9000)).text.length < 4100);
});
