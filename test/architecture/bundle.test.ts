// What the bundler makes of our imports (decision 2026-11-30-lazy-packages).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "node:test";
import { sourceFiles, stripComments } from "./imports.ts";

const root = join(import.meta.dirname, "..", "..");
const src = join(root, "src");
const LAZY = /const \{(?<names>[^}]*)\} = await import\(\s*"(?<name>[^".#][^":]*)"\s*\)/gu;

/**
 * With code splitting a CommonJS package that is imported by `await import("name")` has only `default` in the bundle:
 * named exports are undefined there although they work from source. A file of ours that imports it statically, and is
 * itself imported lazily, works in both.
 */
test("packages imported lazily by name are ES modules", async () => {
  const wrong: string[] = [];
  for (const file of sourceFiles(src).filter((name) => !name.endsWith(".test.ts"))) {
    const text = stripComments(readFileSync(join(src, file), "utf8"));
    for (const match of text.matchAll(LAZY)) {
      const name = match.groups?.["name"] ?? "";
      if (/^\s*default\s*:/u.test(match.groups?.["names"] ?? "") || isModule(name)) continue;
      wrong.push(`src/${file}: await import("${name}")`);
    }
  }
  assert.deepEqual(wrong, []);
});

function isModule(name: string): boolean {
  const url = import.meta.resolve(name);
  if (url.startsWith("node:") || url.endsWith(".mjs")) return true;
  if (url.endsWith(".cjs")) return false;
  const manifest = findPackageJSON(url, pathToFileURL(join(root, "package.json")));
  if (manifest === undefined) return false;
  const { type } = JSON.parse(readFileSync(manifest, "utf8")) as { type?: string };
  return type === "module";
}
