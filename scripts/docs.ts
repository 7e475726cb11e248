// Generates docs/reference from the code's own tables; `--check` only compares and fails on drift.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./run.ts";
import { renderCliReference } from "#cli/reference.ts";
import { renderConfigReference, renderEnvReference } from "#config/reference.ts";

const pages: readonly (readonly [file: string, text: string])[] = [
  ["config.md", renderConfigReference()],
  ["environment.md", renderEnvReference()],
  ["cli.md", renderCliReference()],
];
const folder = join(ROOT, "docs", "reference");
const check = process.argv.includes("--check");
mkdirSync(folder, { recursive: true });
for (const [file, text] of pages) {
  const path = join(folder, file);
  if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
  if (check) {
    console.error(`docs/reference/${file} is not what the code says: run "npm run fix"`);
    process.exitCode = 1;
  } else {
    writeFileSync(path, text);
    console.log(`wrote docs/reference/${file}`);
  }
}
