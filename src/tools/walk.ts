// Walking a folder the way ripgrep does: .gitignore honoured, .git left out, links not followed.
import { existsSync, readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { Ignore } from "ignore";

/** Entries looked at in one walk. */
const MAX_ENTRIES = 300_000;

interface IgnoreRules {
  readonly folder: string;
  ignores(path: string): boolean;
}

export interface WalkOptions {
  /** Asked before each folder; true ends the walk. */
  stop(): boolean;
}

/** Regular files under `root` (absolute), sorted by name within each folder. */
export async function* walkFiles(root: string, options: WalkOptions): AsyncGenerator<string> {
  const { default: ignore } = await import("ignore");
  const rulesOf = (folder: string): readonly IgnoreRules[] => readRules(folder, ignore);
  const stack: { folder: string; rules: readonly IgnoreRules[] }[] = [
    { folder: root, rules: parentsOf(root).flatMap(rulesOf) },
  ];
  let seen = 0;
  while (stack.length > 0 && seen < MAX_ENTRIES && !options.stop()) {
    const { folder, rules } = stack.pop() ?? { folder: root, rules: [] };
    const here = [...rules, ...rulesOf(folder)];
    const folders: string[] = [];
    for (const entry of await entriesOf(folder)) {
      seen++;
      const path = join(folder, entry.name);
      if (entry.name === ".git" || isIgnored(path, entry.isDirectory(), here)) continue;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) yield path;
    }
    for (const path of folders.reverse()) stack.push({ folder: path, rules: here });
  }
}

async function entriesOf(
  folder: string,
): Promise<{ name: string; isFile(): boolean; isDirectory(): boolean }[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    // A folder that may not be read has nothing to find.
    return [];
  }
}

/** Folders above `root` up to the one that holds .git, outermost first; none outside a repository. */
function parentsOf(root: string): readonly string[] {
  const parents: string[] = [];
  for (let folder = root; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git")))
      return folder === root ? [] : [...parents.slice(1), folder].reverse();
    parents.push(folder);
    if (dirname(folder) === folder || parents.length > 64) return [];
  }
}

function readRules(folder: string, ignore: () => Ignore): readonly IgnoreRules[] {
  let text: string;
  try {
    text = readFileSync(join(folder, ".gitignore"), "utf8");
  } catch {
    return [];
  }
  const matcher = ignore().add(text);
  return [{ folder, ignores: (path) => matcher.ignores(path) }];
}

function isIgnored(path: string, isFolder: boolean, rules: readonly IgnoreRules[]): boolean {
  return rules.some((rule) => rule.ignores(relative(rule.folder, path) + (isFolder ? "/" : "")));
}
