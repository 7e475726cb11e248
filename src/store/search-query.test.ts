import assert from "node:assert/strict";
import { test } from "node:test";
import { hasTrigram, literalTerms, parseSearch, toLike, toMatch } from "./search-query.ts";

const WORDS: readonly (readonly [string, string])[] = [
  ["plain words", `("plain" AND "words")`],
  ["one AND two", `("one" AND "two")`],
  ["one OR two", `("one") OR ("two")`],
  ["one two OR three", `("one" AND "two") OR ("three")`],
  ["one NOT two", `(("one") NOT ("two"))`],
  ["one NOT two NOT three four", `(("one" AND "four") NOT ("two" OR "three"))`],
  ["or and not", `("or" AND "and" AND "not")`],
  ['"a phrase" more', `("a phrase" AND "more")`],
  ['"a phrase"*', `("a phrase"*)`],
  ["pre*", `("pre"*)`],
  ["pre** x", `("pre"* AND "x")`],
  ["foo-bar", `("foo-bar")`],
  ["a.b a_b a/b a:b", `("a.b" AND "a_b" AND "a/b" AND "a:b")`],
  ["src/app.ts*", `("src/app.ts"*)`],
  ['"un', `("un")`],
  ['un" more', `("un" AND "more")`],
  ["AND one", `("one")`],
  ["one OR", `("one")`],
  ["OR OR one", `("one")`],
  ["NOT one", `("one")`],
  ["one NOT", `("one")`],
  ["one OR NOT two", `("one") OR ("two")`],
  ["NEAR(a b) {c} ^d +e", `("NEAR(a" AND "b)" AND "{c}" AND "^d" AND "+e")`],
  ["content:x", `("content:x")`],
  ["one -> two", `("one" AND "two")`],
  ["nul\0here", `("nul" AND "here")`],
];

for (const [text, expected] of WORDS) {
  test(`words: ${JSON.stringify(text)}`, () => {
    const query = parseSearch(text);
    assert.equal(query.kind, "words");
    if (query.kind === "words")
      assert.equal(
        toMatch(query.groups, () => null),
        expected,
      );
  });
}

const KINDS: readonly (readonly [string, string])[] = [
  ["", "empty"],
  ["   ", "empty"],
  ["AND", "empty"],
  ["OR NOT AND", "empty"],
  ['"', "empty"],
  ['""', "empty"],
  ["*", "empty"],
  ["東京", "substrings"],
  ["한국어", "substrings"],
  ["ภาษาไทย", "substrings"],
  ["東京 tower", "substrings"],
  ["%%", "substrings"],
  ["->", "substrings"],
  ["😀", "substrings"],
  ["-> OR word", "words"],
  ["-> NOT word", "substrings"],
  ["été", "words"],
  ["привет", "words"],
];

for (const [text, kind] of KINDS) {
  test(`${kind}: ${JSON.stringify(text)}`, () => assert.equal(parseSearch(text).kind, kind));
}

test("a pasted text is cut to 32 terms", () => {
  const query = parseSearch("word ".repeat(500));
  assert.equal(query.kind === "words" && query.groups[0]?.all.length, 32);
});

test("terms with other signs are looked for as they stand", () => {
  const literals = (text: string): readonly string[] => {
    const query = parseSearch(text);
    return query.kind === "words" ? literalTerms(query.groups) : [];
  };
  assert.deepEqual(literals("100%"), ["100%"]);
  assert.deepEqual(literals("C++ foo-bar a.b"), ["c++"]);
  assert.deepEqual(literals('"C++" word'), []);
  assert.deepEqual(literals("what, (this)? it's a.b/c! [x]"), []);
  assert.deepEqual(literals("(C#), $PATH;"), ["c#", "$path"]);
});

test("a prefix is replaced by the words that begin with it", () => {
  const query = parseSearch('dep* x "y"*');
  assert.ok(query.kind === "words");
  assert.equal(
    toMatch(query.groups, (prefix) => (prefix === "dep" ? ["deploy", "depot"] : null)),
    `(("deploy" OR "depot") AND "x" AND "y"*)`,
  );
});

test("LIKE patterns take any one character for % and _", () => {
  assert.equal(toLike("100%_a"), "%100__a%");
  const cases = [
    ["abc", true],
    ["ab", false],
    ["ab%cd", false],
    ["abc%d", true],
    ["東京", false],
    ["東京都", true],
    ["😀😀", false],
  ] as const;
  for (const [text, expected] of cases) assert.equal(hasTrigram(text), expected, text);
});
