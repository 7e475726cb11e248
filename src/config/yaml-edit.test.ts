import assert from "node:assert/strict";
import { test } from "node:test";
import { editConfigText } from "./yaml-edit.ts";

const FILE = `# top
model:   # the model
    default:   "x"   # keep me
    base_url:

toolsets:
- a   # first
- b
agent: {max_turns: 5, x: [1,2]}
lit: |
  hello
  world

# end
`;

/** Path, value (undefined removes), the lines that go, the lines that come. All other bytes stay. */
type Case = readonly [path: string[], value: unknown, gone: string[], come: string[]];

const CASES: readonly Case[] = [
  [["model", "default"], "y", ['    default:   "x"   # keep me'], ["    default:   y   # keep me"]],
  [
    ["model", "default"],
    "a: #b",
    ['    default:   "x"   # keep me'],
    ['    default:   "a: #b"   # keep me'],
  ],
  [
    ["model", "default"],
    "123",
    ['    default:   "x"   # keep me'],
    ['    default:   "123"   # keep me'],
  ],
  [["model", "base_url"], "http://h/v1", ["    base_url:"], ["    base_url: http://h/v1"]],
  [["model", "context_length"], 8192, [], ["    context_length: 8192"]],
  [
    ["agent", "max_turns"],
    7,
    ["agent: {max_turns: 5, x: [1,2]}"],
    ["agent: {max_turns: 7, x: [1,2]}"],
  ],
  [
    ["agent", "new"],
    "a, b",
    ["agent: {max_turns: 5, x: [1,2]}"],
    ['agent: {max_turns: 5, x: [1,2], new: "a, b"}'],
  ],
  [["toolsets"], ["c"], ["toolsets:", "- a   # first", "- b"], ['toolsets: ["c"]']],
  [["lit"], "short", ["lit: |", "  hello", "  world"], ["lit: short"]],
  [["new", "deep"], true, [], ["new:", "  deep: true"]],
  [["text"], "l1\nl2", [], ['text: "l1\\nl2"']],
  [["map"], { a: { b: 1 } }, [], ['map: {"a":{"b":1}}']],
  [["model", "default"], undefined, ['    default:   "x"   # keep me'], []],
  [["toolsets"], undefined, ["toolsets:", "- a   # first", "- b"], []],
  [["lit"], undefined, ["lit: |", "  hello", "  world"], []],
];

/** The lines that only the other text has, in order. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const rest = [...others];
  return lines.filter((line) => {
    const index = rest.indexOf(line);
    if (index !== -1) rest.splice(index, 1);
    return index === -1;
  });
}

test("one change touches its own lines only", () => {
  for (const eol of ["\n", "\r\n"]) {
    const text = FILE.replaceAll("\n", eol);
    for (const [path, value, gone, come] of CASES) {
      const after = editConfigText(text, { path, value });
      const [old, now] = [text.split(eol), after.split(eol)];
      assert.deepEqual(without(old, now), gone, path.join("."));
      assert.deepEqual(without(now, old), come, path.join("."));
      assert.equal(after.replaceAll("\r\n", "").includes("\r"), false);
      const kept = old.filter((line) => !gone.includes(line));
      assert.deepEqual(
        now.filter((line) => !come.includes(line)),
        kept,
        "order and comments",
      );
    }
  }
});

const WHOLE: readonly (readonly [text: string, path: string[], value: unknown, after: string])[] = [
  ["", ["a"], 1, "a: 1\n"],
  ["# only a comment", ["a", "b"], 1, "# only a comment\na:\n  b: 1\n"],
  ["\uFEFF", ["a"], 1, "\uFEFFa: 1\n"],
  ["a: 1", ["b"], 2, "a: 1\nb: 2\n"],
  ['{"a":{"b":1}}', ["a", "b"], "x", '{"a":{"b": x}}'],
  ["a: {}\n", ["a", "b"], 1, "a: {b: 1}\n"],
  ["a: text\n", ["a", "b"], 1, "a:\n  b: 1\n"],
  ["---\na: 1\n...\n", ["b"], 2, "---\na: 1\nb: 2\n...\n"],
  ["a:\n  b: 1\nc: 2\n", ["a", "b"], undefined, "a:\nc: 2\n"],
  ["a: &x {p: 1}\nb:\n  <<: *x\n", ["b", "p"], 9, "a: &x {p: 1}\nb:\n  <<: *x\n  p: 9\n"],
];

test("small files", () => {
  for (const [text, path, value, after] of WHOLE) {
    assert.equal(editConfigText(text, { path, value }), after, JSON.stringify(text));
  }
});

test("a change through an alias gives it an own copy; the anchor's other users keep theirs", () => {
  const after = editConfigText("a: &x\n  p: 1 # one\nb: *x\nc: *x\n", {
    path: ["b", "p"],
    value: 9,
  });
  assert.match(after, /p: 1 # one/);
  assert.match(after, /c: \*x/);
  assert.match(after, /p: 9/);
});

test("what cannot be changed alone is refused", () => {
  // The key comes from the merge: removing it from b means touching a.
  const text = "a: &x {p: 1}\nb:\n  <<: *x\n  q: 2\n";
  assert.throws(() => editConfigText(text, { path: ["b", "p"], value: undefined }), {
    code: "CONFIG_EDIT_FAILED",
  });
});
