import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { changeText, type TextChange } from "./home-writer.ts";

function change(path: string, run: TextChange["change"]): TextChange {
  return { path, mode: 0o640, backupDir: join(path, "..", "backups"), change: run };
}

test("an editor that saved in between is not overwritten: the change starts over from its text", (t) => {
  const path = join(tempDir(t), "config.yaml");
  writeFileSync(path, "one\n");
  let calls = 0;
  const isWritten = changeText(
    change(path, (before) => {
      calls++;
      if (calls === 1) writeFileSync(path, "saved by an editor\n");
      return `${before}two\n`;
    }),
  );
  assert.deepEqual([isWritten, calls], [true, 2]);
  assert.equal(readFileSync(path, "utf8"), "saved by an editor\ntwo\n");
});

test("a file that never rests is given up after three tries, as the other left it", (t) => {
  const path = join(tempDir(t), "config.yaml");
  let calls = 0;
  const restless = change(path, () => {
    writeFileSync(path, `${++calls}\n`);
    return "mine\n";
  });
  assert.throws(() => changeText(restless), { code: "CONFIG_CHANGED" });
  assert.deepEqual([calls, readFileSync(path, "utf8")], [3, "3\n"]);
});

test("no change is no write", (t) => {
  const path = join(tempDir(t), "config.yaml");
  assert.equal(changeText(change(path, () => null)), false);
  writeFileSync(path, "same\n");
  assert.equal(changeText(change(path, (before) => before)), false);
});
