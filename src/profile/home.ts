// The folders and first files of a home (agent.md §2.1). Nothing that is there is changed, whatever its mode.
import { chmodSync, closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, HermesError, isNoRoom } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { NEW_CONFIG_TEXT } from "#config/seed.ts";

/** Folders of a home with the modes of new ones. */
export const HOME_FOLDERS: readonly (readonly [name: string, mode: number])[] = [
  ["memories", 0o750],
  ["sessions", 0o750],
  ["skills", 0o750],
  ["logs", 0o750],
  ["cron", 0o750],
  ["workspace", 0o750],
  ["home", 0o750],
  ["cache", 0o700],
];

/** Its presence marks a real profile; seeded once. */
export const SOUL_FILE = "SOUL.md";

/** First files of a home, each written once. */
export const HOME_FILES: readonly (readonly [name: string, mode: number, text: string])[] = [
  [
    SOUL_FILE,
    0o640,
    "You are Hermes, an assistant with hands on this machine. Be direct, exact and kind. Say what you did, and say so\n" +
      "when you do not know something.\n",
  ],
  ["config.yaml", 0o640, NEW_CONFIG_TEXT],
  [
    ".env",
    0o600,
    '# Secrets of this profile, one NAME=VALUE per line, for example OPENROUTER_API_KEY=…; or use "hermes config set".\n',
  ],
];

/**
 * Makes what is missing. `homeMode` (`HERMES_HOME_MODE`) is forced on the home itself. Throws `HOME_NOT_WRITABLE` (78, or 1 when the disk is full)
 * naming path, errno and uid.
 */
export function ensureHome(home: string, homeMode?: number): void {
  try {
    makeFolder(home, 0o750);
    if (homeMode !== undefined) chmodSync(home, homeMode);
    for (const [name, mode] of HOME_FOLDERS) makeFolder(join(home, name), mode);
    for (const [name, mode, text] of HOME_FILES) seed(join(home, name), mode, text);
  } catch (cause) {
    const errno = errnoOf(cause) ?? "unknown error";
    const uid = process.getuid?.() ?? "?";
    throw new HermesError("HOME_NOT_WRITABLE", `${home} cannot be set up: ${errno} as uid ${uid}`, {
      exit: isNoRoom(cause) ? EXIT.failed : EXIT.refused,
      setting: "HERMES_HOME",
      fix: isNoRoom(cause)
        ? "Make room on its disk."
        : "Give this user the directory, or set HERMES_HOME to one that it may write.",
      cause,
    });
  }
}

/** Octal text of `HERMES_HOME_MODE`; null when it is none. */
export function parseMode(text: string): number | null {
  return /^0?[0-7]{3}$/.test(text.trim()) ? Number.parseInt(text, 8) : null;
}

function makeFolder(path: string, mode: number): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  mkdirSync(path, { recursive: true, mode });
  // The umask may have taken bits away.
  chmodSync(path, mode);
}

function seed(path: string, mode: number, text: string): void {
  let descriptor: number;
  try {
    descriptor = openSync(path, "wx", mode);
  } catch (cause) {
    // A dangling link or a directory of that name is the owner's business too.
    if (errnoOf(cause) === "EEXIST") return;
    throw cause;
  }
  try {
    writeSync(descriptor, text);
    chmodSync(path, mode);
  } catch (cause) {
    // Half a file would count as the owner's own at every later start.
    rmSync(path, { force: true });
    throw cause;
  } finally {
    closeSync(descriptor);
  }
}
