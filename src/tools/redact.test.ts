import assert from "node:assert/strict";
import { test } from "node:test";
import { REDACTION } from "./redaction-rules.ts";
import { createRedactor } from "./redact.ts";

const KEY = "zQ7!pass+word/with=signs&more";
const LONG = `key-${"abcdefghij0123456789".repeat(5)}`;
const secrets = new Map([
  ["MY_KEY", KEY],
  ["LONG_KEY", LONG],
  ["SHORT", "abc"],
]);
const redactor = createRedactor(secrets, true);

void test("every rule of redaction.json hides its examples and leaves its counter-examples", () => {
  const plain = createRedactor(new Map(), true);
  for (const rule of REDACTION) {
    assert.ok(rule.blocks.length > 0 && rule.allows.length > 0, `${rule.id} needs examples`);
    for (const text of rule.blocks) {
      assert.match(plain.text(text), /\[redacted\]/, `${rule.id} should hide: ${text}`);
    }
    for (const text of rule.allows) assert.equal(plain.text(text), text, rule.id);
  }
});

const spellings: Readonly<Record<string, (value: string) => string>> = {
  plain: (value) => value,
  "URL-encoded": (value) => encodeURIComponent(value),
  "URL-encoded in lower case": (value) =>
    encodeURIComponent(value).replace(/%../g, (hex) => hex.toLowerCase()),
  "JSON text": (value) => JSON.stringify({ value }),
  base64: (value) => Buffer.from(value).toString("base64"),
  base64url: (value) => Buffer.from(value).toString("base64url"),
  "base64, one byte before it": (value) => Buffer.from(`x${value}`).toString("base64"),
  "base64, two bytes before it": (value) => Buffer.from(`xy${value}yz`).toString("base64"),
  hexadecimal: (value) => Buffer.from(value).toString("hex"),
  "hexadecimal in upper case": (value) => Buffer.from(value).toString("hex").toUpperCase(),
  "hexadecimal in lines of 60": (value) =>
    Buffer.from(`head: ${value}`).toString("hex").replace(/.{60}/g, "$&\n"),
  "base64 in lines of 76": (value) =>
    Buffer.from(`header: ${value}`).toString("base64").replace(/.{76}/g, "$&\n"),
  "base64 in lines with CRLF": (value) =>
    Buffer.from(`h: ${value}`).toString("base64").replace(/.{20}/g, "$&\r\n"),
};

/** The longest run of the secret's own characters that is left, in any alignment. */
function leaks(text: string, value: string): boolean {
  const bare = text.replace(/\s/g, "");
  if (bare.includes(value)) return true;
  if (bare.toLowerCase().includes(Buffer.from(value).toString("hex"))) return true;
  for (const word of bare.split(/[^A-Za-z0-9+/=_-]+/)) {
    for (let skip = 0; skip < 4; skip++) {
      const decoded = Buffer.from(word.slice(skip), "base64").toString("latin1");
      for (let at = 0; at + 8 <= value.length; at++) {
        if (decoded.includes(value.slice(at, at + 8))) return true;
      }
    }
  }
  return false;
}

for (const [name, spell] of Object.entries(spellings)) {
  void test(`a known secret is hidden: ${name}`, () => {
    for (const value of [KEY, LONG]) {
      const text = `before ${spell(value)} after`;
      assert.ok(
        leaks(text, value) ||
          text.includes(encodeURIComponent(value)) ||
          /%../.test(text) ||
          text.includes("\\"),
        "the case must leak",
      );
      const shown = redactor.text(text);
      assert.ok(!leaks(shown, value), shown);
      assert.ok(!shown.includes(spell(value)), shown);
      assert.match(shown, /^before .*\[redacted:(?:MY|LONG)_KEY\].* after$/s);
    }
  });

  void test(`a known secret is hidden in a stream cut anywhere: ${name}`, () => {
    const text = `before ${spell(KEY)} after`;
    for (let cut = 0; cut <= text.length; cut++) {
      const stream = redactor.stream();
      const shown = stream.push(text.slice(0, cut)) + stream.push(text.slice(cut)) + stream.flush();
      assert.equal(shown, redactor.text(text), `cut at ${cut}`);
    }
    const single = redactor.stream();
    const shown = Array.from(text, (char) => single.push(char)).join("") + single.flush();
    assert.equal(shown, redactor.text(text));
  });
}

void test("patterns are hidden in streams that come character by character", () => {
  for (const rule of REDACTION) {
    for (const example of rule.blocks) {
      const text = `see: ${example}\n.`;
      const stream = redactor.stream();
      const shown = Array.from(text, (char) => stream.push(char)).join("") + stream.flush();
      assert.equal(shown, redactor.text(text), rule.id);
    }
  }
});

void test("what lies too deep to be looked into is not shown", () => {
  let nested: unknown = { key: KEY };
  for (let level = 0; level < 80; level++) nested = [nested];
  assert.doesNotMatch(JSON.stringify(redactor.value(nested)), /zQ7!/);
});

void test("ordinary text is not held back", () => {
  const stream = redactor.stream();
  assert.equal(stream.push("The build went well. "), "The build went well. ");
  assert.equal(stream.push("東京 is fine, too"), "東京 is fine, too");
  assert.equal(stream.flush(), "");
});

void test("what is held back is bounded", () => {
  const stream = redactor.stream();
  let shown = "";
  for (let i = 0; i < 300; i++)
    shown += stream.push("-----BEGIN RSA PRIVATE KEY-----\nAAAA".padEnd(1000, "A"));
  assert.ok(shown.length > 0);
});

void test("values: strings and keys, arrays, nothing else changed", () => {
  const at = new Date(0);
  assert.deepEqual(redactor.value({ a: [KEY, 1, null], [KEY]: { b: true }, at }), {
    a: ["[redacted:MY_KEY]", 1, null],
    "[redacted:MY_KEY]": { b: true },
    at,
  });
});

void test("short values and a switched-off redactor change nothing", () => {
  assert.equal(redactor.text("abc abc"), "abc abc");
  const off = createRedactor(secrets, false);
  assert.equal(off.text(KEY), KEY);
  assert.equal(off.stream().push(KEY), KEY);
});

void test("overlapping secrets: the end of one is never shown as the beginning of another", () => {
  const both = createRedactor(
    new Map([
      ["A", "abcdefghijkl"],
      ["B", "ijklmnopqrst"],
    ]),
    true,
  );
  for (const text of ["abcdefghijkl", "abcdefghijklmnopqrst"]) {
    const stream = both.stream();
    const shown = Array.from(text, (char) => stream.push(char)).join("") + stream.flush();
    assert.ok(!/[a-l]{4}/.test(shown.replace(/\[redacted:.\]/g, "")), shown);
  }
});

void test("a megabyte is redacted in well under a second of work", () => {
  const text = `${"lorem ipsum dolor sit amet, 12:34 ".repeat(30_000)}${KEY}`;
  assert.ok(redactor.text(text).endsWith("[redacted:MY_KEY]"));
});
