// Paths that go on from what is typed, for Tab.
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Whole words that could take the place of `word`; a folder ends with a slash. */
export function completePath(word: string): string[] {
  const folder = word.endsWith("/") ? word : dirname(word);
  const start = word.endsWith("/") ? "" : basename(word);
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.name.startsWith(start))
      .slice(0, 100)
      .map((entry) => {
        const shown = word.includes("/") ? join(folder, entry.name) : entry.name;
        return entry.isDirectory() ? `${shown}/` : shown;
      });
  } catch {
    return [];
  }
}
