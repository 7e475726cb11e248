import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { shareCompiled } from "./compiled.ts";

test("root's compiled form is found under the uid of hermes; a second boot changes nothing", (t) => {
  const folder = tempDir(t);
  for (const name of ["v26.1.0-x64-abc-0", "v26.1.0-x64-abc-10000"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "v26.1.0-x64-abc-0", "1a2b"), "compiled");
  for (const uid of [99, 99, 10_000, 0]) shareCompiled(folder, uid);
  assert.deepEqual(readdirSync(folder).sort(), [
    "v26.1.0-x64-abc-0",
    "v26.1.0-x64-abc-10000",
    "v26.1.0-x64-abc-99",
  ]);
  assert.equal(readlinkSync(join(folder, "v26.1.0-x64-abc-99")), "v26.1.0-x64-abc-0");
  assert.deepEqual(readdirSync(join(folder, "v26.1.0-x64-abc-99")), ["1a2b"]);
  assert.deepEqual(readdirSync(join(folder, "v26.1.0-x64-abc-10000")), [], "what is there stays");
});

test("a folder that is not there is none", (t) => {
  const folder = join(tempDir(t), "missing");
  shareCompiled(folder, 99);
  assert.deepEqual(readdirSync(join(folder, "..")), []);
});
