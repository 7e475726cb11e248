// Whole outputs that were too long for the model: files under cache/tool-output/, ≤ 10 MB each, kept 7 days (agent.md §5.1).
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import type { Clock } from "#base/clock.ts";
import { randomHex } from "#base/ids.ts";

export const SPILL_LIMIT_BYTES = 10 * 1024 * 1024;
const KEEP_MS = 7 * 24 * 3600 * 1000;

export function spillDirectory(home: string): string {
  return join(home, "cache", "tool-output");
}

/** Writes `text` (already redacted) 0600 and returns the path. Throws the system's error. */
export function spill(home: string, text: string, clock: Clock): string {
  const path = newSpillPath(home, clock, "txt");
  const bytes = Buffer.from(text, "utf8");
  writeFileAtomic(path, bytes.subarray(0, SPILL_LIMIT_BYTES), { mode: 0o600 });
  return path;
}

/** A fresh path in the spill folder, which is made, after old files are gone. */
export function newSpillPath(home: string, clock: Clock, extension: "txt" | "log"): string {
  const folder = spillDirectory(home);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeOld(folder, clock.now() - KEEP_MS);
  const stamp = new Date(clock.now()).toISOString().replace(/[-:]|\.\d+/g, "");
  return join(folder, `${stamp}-${randomHex(8)}.${extension}`);
}

function removeOld(folder: string, before: number): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    try {
      if (statSync(path).mtimeMs < before) rmSync(path, { force: true });
    } catch {
      // Another process of this home removed it first.
    }
  }
}
