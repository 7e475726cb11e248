import assert from "node:assert/strict";
import { test } from "node:test";
import { createReplay } from "./pty-replay.ts";

test("what fits is kept whole, also a first line without an end", () => {
  const replay = createReplay(100);
  replay.push(Buffer.from("one"));
  replay.push(Buffer.from(" two\nthree"));
  assert.equal(replay.bytes().toString(), "one two\nthree");
});

test("more than fits: the last of it, from the first whole line on", () => {
  const replay = createReplay(100);
  for (let n = 100; n < 200; n++) replay.push(Buffer.from(`line ${n}\n`));
  const text = replay.bytes().toString();
  assert.ok(text.length <= 100 && text.length > 80, `${text.length} bytes`);
  assert.match(text, /^line \d{3}\n/);
  assert.match(text, /line 199\n$/);
  replay.push(Buffer.from("end"));
  assert.match(replay.bytes().toString(), /^line \d{3}\n[^]*end$/);
});

test("one chunk that is larger than everything", () => {
  const replay = createReplay();
  replay.push(Buffer.alloc(1024 * 1024, "x"));
  assert.equal(replay.bytes().length, 256 * 1024);
});
