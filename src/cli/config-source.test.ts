// A configuration that changes under a process that lives on.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { openConfigSource } from "./config-source.ts";

const REFUSED = "terminal:\n  backend: docker\n";

test("an edit that cannot be honoured is thrown, and mended by the next one", (t) => {
  const home = tempDir(t);
  const source = openConfigSource({ env: {}, home });
  writeFileSync(join(home, "config.yaml"), REFUSED);
  assert.throws(() => source.loaded(), { exit: 78 });
  writeFileSync(join(home, "config.yaml"), "agent:\n  max_turns: 7\n");
  assert.equal(source.loaded().config.agent.max_turns, 7);
});

test("what serves goes on with what it has, and says so once per edit", (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, "config.yaml"), "agent:\n  max_turns: 7\n");
  const kept: unknown[] = [];
  const source = openConfigSource({ env: {}, home }, {}, (error) => kept.push(error));
  writeFileSync(join(home, "config.yaml"), REFUSED);
  assert.equal(source.loaded().config.agent.max_turns, 7);
  assert.equal(source.loaded().config.agent.max_turns, 7);
  assert.equal(kept.length, 1);
  assert.match(String(kept[0]), /terminal\.backend/u);
  writeFileSync(join(home, "config.yaml"), "agent:\n  max_turns: 9\n");
  assert.equal(source.loaded().config.agent.max_turns, 9);
  // Whoever asks for the files as they are is told.
  writeFileSync(join(home, "config.yaml"), REFUSED);
  assert.throws(() => source.reload(), { exit: 78 });
});
