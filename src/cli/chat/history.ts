// Typed lines of one profile, newest last: cache/cli_history, JSON lines, 500 of them, secrets redacted (agent.md §10).
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";

export const HISTORY_LIMIT = 500;

export interface History {
  /** Newest first, as readline wants it. */
  readonly entries: readonly string[];
  /** Never throws: a history that cannot be kept is no reason to lose the message. */
  add(text: string): void;
}

export function openHistory(path: string, redact: (text: string) => string): History {
  const entries = readEntries(path);
  if (entries.length > HISTORY_LIMIT) rewrite(path, entries.slice(-HISTORY_LIMIT));
  return {
    entries: entries.slice(-HISTORY_LIMIT).reverse(),
    add(text) {
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        appendFileSync(path, line(redact(text)), { mode: 0o600 });
      } catch {
        // Kept in memory by readline for this run.
      }
    },
  };
}

function readEntries(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((entry) => {
    try {
      const value: unknown = JSON.parse(entry);
      return typeof value === "string" ? [value] : [];
    } catch {
      return [];
    }
  });
}

function rewrite(path: string, entries: readonly string[]): void {
  try {
    writeFileAtomic(path, entries.map(line).join(""), { mode: 0o600 });
  } catch {
    // It is cut the next time.
  }
}

/** One line per entry: readline edits single lines. */
function line(text: string): string {
  return `${JSON.stringify(text.replaceAll(/\s*\n\s*/g, " "))}\n`;
}
