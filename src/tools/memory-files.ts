// MEMORY.md and USER.md (agent.md §9.3): entries separated by a line that holds only "§".
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "#base/errors.ts";
import { cutStart } from "#base/text.ts";

export type MemoryTarget = "memory" | "user";

const FILE_NAMES: Readonly<Record<MemoryTarget, string>> = {
  memory: "MEMORY.md",
  user: "USER.md",
};

export interface MemoryFile {
  readonly path: string;
  readonly entries: readonly string[];
  /** The whole text as it stands on disk, trimmed. */
  readonly full: string;
  /** What goes into the prompt: at most `limit` characters. */
  readonly text: string;
  /** Characters (UTF-16 units) used, of `limit`. */
  readonly used: number;
  readonly limit: number;
  /** Share used, in whole percent; over 100 when a hand-edited file is too long. */
  readonly percent: number;
  /** True: longer than the limit, `text` is cut and a notice is due. */
  readonly cut: boolean;
  /** Errno word, or why, when something is there and cannot be read. */
  readonly unreadable: string | null;
}

export function memoryPath(home: string, target: MemoryTarget): string {
  return join(home, "memories", FILE_NAMES[target]);
}

/** Reads one file in whatever shape it is. A missing one is empty; an unreadable one is empty and says so. */
export function readMemoryFile(home: string, target: MemoryTarget, limit: number): MemoryFile {
  const path = memoryPath(home, target);
  const { text, unreadable } = readText(path);
  const full = text
    .replace(/^\uFEFF/, "")
    .replaceAll("\r\n", "\n")
    .trim();
  return {
    path,
    entries: splitEntries(full),
    full,
    text: cutStart(full, limit),
    used: full.length,
    limit,
    percent: limit > 0 ? Math.round((full.length / limit) * 100) : 0,
    cut: full.length > limit,
    unreadable,
  };
}

export function splitEntries(text: string): readonly string[] {
  return text
    .split(/^[ \t]*§[ \t]*$/m)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

export function joinEntries(entries: readonly string[]): string {
  return entries.join("\n§\n");
}

function readText(path: string): { text: string; unreadable: string | null } {
  try {
    // A pipe would be waited for, a device has no end.
    const found = statSync(path);
    if (!found.isFile() && !found.isDirectory()) return { text: "", unreadable: "it is no file" };
    return { text: readFileSync(path, "utf8"), unreadable: null };
  } catch (error) {
    const errno = errnoOf(error);
    return { text: "", unreadable: errno === "ENOENT" ? null : (errno ?? "EIO") };
  }
}
