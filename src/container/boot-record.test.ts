import assert from "node:assert/strict";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { BOOT_RECORD, type BootRecord, readBootRecord, writeBootRecord } from "./boot-record.ts";

const RECORD: BootRecord = {
  schema: 1,
  at: "2026-05-20T10:11:12.345Z",
  role: "gateway",
  profile: "default",
  argv: ["gateway", "run"],
  version: "1.0.0",
  node: "v26.0.0",
  uid: 10_000,
  gid: 10_000,
  stop_grace: 10,
  supervised: true,
  notices: [],
  warnings: ["one"],
  steps: [{ step: "R1", ms: 1 }],
};

test("what a boot did is written for all to read, and read back", (t) => {
  const path = join(tempDir(t), "boot.json");
  assert.equal(readBootRecord(path), null);
  writeBootRecord(path, RECORD);
  assert.equal(statSync(path).mode & 0o777, 0o644);
  assert.deepEqual(readBootRecord(path), RECORD);
  assert.equal(BOOT_RECORD, "/run/hermes/boot.json");
});

const NONE: readonly string[] = [
  "",
  "{",
  "null",
  "[]",
  "3",
  '{"schema":2,"role":"gateway"}',
  '{"schema":1}',
];

for (const text of NONE) {
  test(`${JSON.stringify(text)} is no record of a boot`, (t) => {
    const path = join(tempDir(t), "boot.json");
    writeFileSync(path, text);
    assert.equal(readBootRecord(path), null);
  });
}
