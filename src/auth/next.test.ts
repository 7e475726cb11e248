import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { landing, nextQuery, parseNext } from "./next.ts";

const lines = readFileSync(
  new URL("../../test/fixtures/open-redirects.txt", import.meta.url),
  "utf8",
)
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => ({ word: line.slice(0, 4), raw: JSON.parse(line.slice(5)) as string }));

test("every line of open-redirects.txt, with and without a prefix", () => {
  assert.ok(lines.length > 60);
  for (const { word, raw } of lines) {
    for (const prefix of ["", "/hermes"]) {
      assert.equal(parseNext(raw, prefix), word === "keep" ? raw : null, `${prefix} ${raw}`);
    }
  }
});

test("what is kept stays on our origin for any parser that resolves it against ours", () => {
  for (const { raw } of lines) {
    const next = parseNext(raw);
    if (next === null) continue;
    assert.equal(new URL(next, "https://own.test/x/y").origin, "https://own.test");
    assert.equal(new URL(landing("/hermes", next), "https://own.test").host, "own.test");
  }
});

test("the prefix comes off once, the fragment always; what is left must be a page", () => {
  const cases: [string, string | null][] = [
    ["/hermes", "/"],
    ["/hermes/", "/"],
    ["/hermes/chat?x=1#y", "/chat?x=1"],
    ["/hermes/hermes/x", "/hermes/x"],
    ["/hermesx", "/hermesx"],
    ["/hermes/api/x", null],
    ["/hermes/login", null],
    ["/hermes//e.com", null],
  ];
  for (const [raw, expected] of cases) assert.equal(parseNext(raw, "/hermes"), expected, raw);
});

test("no string is no target; landings and queries are built from what was checked", () => {
  for (const raw of [null, undefined, 1, ["/a"], {}]) assert.equal(parseNext(raw), null);
  assert.equal(landing("/p", null), "/p/");
  assert.equal(landing("", parseNext("/a?b=c")), "/a?b=c");
  assert.equal(nextQuery(null, "?"), "");
  assert.equal(nextQuery(parseNext("/sessions?page=2"), "?"), "?next=%2Fsessions%3Fpage%3D2");
});
