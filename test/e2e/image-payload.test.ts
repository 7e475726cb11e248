// The image's install tree (container.md §1.1): the same commit gives the same bytes, and nothing of the machine that built it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { environment, PROJECT } from "../kit/cli.ts";
import { tempDir } from "../kit/temp-dir.ts";

/** Returns the folder that stands for `/opt/hermes`. */
function build(t: TestContext): string {
  const out = join(tempDir(t, "hermes-payload"), "payload");
  const script = join(PROJECT, "scripts", "image-payload.ts");
  const made = spawnSync(process.execPath, [script, "--out", out], {
    env: environment({ home: PROJECT, env: { SOURCE_DATE_EPOCH: "1700000000" } }),
    encoding: "utf8",
  });
  assert.equal(made.status, 0, made.stdout + made.stderr);
  return join(out, "opt", "hermes");
}

function* entries(folder: string): Generator<string> {
  yield folder;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* entries(path);
    else yield path;
  }
}

test("two builds of one commit are the same; times, modes and programs are fixed", (t) => {
  const [one, two] = [build(t), build(t)];
  const digest = (tree: string) => readFileSync(join(tree, "share", "payload.sha256"), "utf8");
  assert.match(digest(one), /^[0-9a-f]{64}\n$/u);
  assert.equal(digest(one), digest(two));
  for (const path of entries(one)) {
    const found = lstatSync(path);
    assert.equal(found.mtimeMs, 1_700_000_000_000, path);
    if (!found.isSymbolicLink()) assert.equal(found.mode & 0o7022, 0, path);
    assert.doesNotMatch(path, /\.cache|\.test\.|\.log$/u);
  }
  for (const name of ["node", "npm", "npx"]) assert.ok(existsSync(join(one, "bin", name)), name);
  const version = spawnSync(join(one, "bin", "node"), ["--version"], { encoding: "utf8" });
  assert.equal(version.stdout, readFileSync(join(one, "share", "node-version"), "utf8"));
});
