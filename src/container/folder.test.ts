import assert from "node:assert/strict";
import {
  closeSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { errnoOf } from "#base/errors.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { openFolder, openInside, readSmall, writeSmall } from "./folder.ts";

const US = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };

function open(t: TestContext): { readonly path: string; readonly folder: number } {
  const path = tempDir(t);
  const folder = openFolder(path);
  t.after(() => closeSync(folder));
  return { path, folder };
}

test("a link put in a folder's place between two looks is not entered", (t) => {
  const { path, folder } = open(t);
  mkdirSync(join(path, "real"));
  symlinkSync("real", join(path, "link"));
  closeSync(openInside(folder, "real"));
  assert.throws(
    () => openInside(folder, "link"),
    (error) => ["ELOOP", "ENOTDIR"].includes(errnoOf(error) ?? ""),
  );
});

test("a small file is read only where it is one itself", (t) => {
  const { path, folder } = open(t);
  writeFileSync(join(path, "file"), "1:2\n");
  symlinkSync("file", join(path, "link"));
  mkdirSync(join(path, "folder"));
  assert.deepEqual(
    ["file", "link", "folder", "none"].map((name) => readSmall(folder, name)),
    ["1:2\n", "", "", ""],
  );
});

test("a written file takes a link's place and leaves nothing else", (t) => {
  const { path, folder } = open(t);
  writeFileSync(join(path, "victim"), "as it was");
  symlinkSync("victim", join(path, "mark"));
  symlinkSync("victim", join(path, `mark.${process.pid}.tmp`));
  writeSmall(folder, "mark", "1:2\n", US);
  assert.ok(lstatSync(join(path, "mark")).isFile());
  assert.equal(readFileSync(join(path, "mark"), "utf8"), "1:2\n");
  assert.equal(readFileSync(join(path, "victim"), "utf8"), "as it was");
  assert.deepEqual(readdirSync(path).sort(), ["mark", "victim"]);
});
