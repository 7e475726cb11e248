import assert from "node:assert/strict";
import { appendFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { LogFollower, readLastLines } from "./log-reader.ts";

test("the last lines are taken across rotated files, oldest first", (t) => {
  const path = join(tempDir(t), "agent.log");
  writeFileSync(`${path}.2`, "1\n2\n");
  writeFileSync(`${path}.1`, "3\n4\n");
  writeFileSync(path, "5\n6\n");
  assert.deepEqual(readLastLines(path, 3, {}), ["4", "5", "6"]);
  assert.deepEqual(readLastLines(path, 50, {}), ["1", "2", "3", "4", "5", "6"]);
  assert.deepEqual(readLastLines(join(path, "nothing"), 5, {}), []);
});

test("following: whole lines once, over a rotation, and a truncated file from its start", (t) => {
  const path = join(tempDir(t), "agent.log");
  writeFileSync(path, "old\n");
  const follower = new LogFollower(path, {});
  assert.deepEqual(follower.read(), []);
  appendFileSync(path, "one\nha");
  assert.deepEqual(follower.read(), ["one"]);
  appendFileSync(path, "lf\nlast before rotation\n");
  renameSync(path, `${path}.1`);
  writeFileSync(path, "first after\n");
  assert.deepEqual(follower.read(), ["half", "last before rotation", "first after"]);
  writeFileSync(path, "cut\n");
  assert.deepEqual(follower.read(), ["cut"]);
});

test("a file that does not exist yet is followed from its first line", (t) => {
  const path = join(tempDir(t), "gui.log");
  const follower = new LogFollower(path, { search: "keep" });
  assert.deepEqual(follower.read(), []);
  writeFileSync(path, "keep me\ndrop me\n");
  assert.deepEqual(follower.read(), ["keep me"]);
});
