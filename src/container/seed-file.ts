// Making what is missing in the volume (container.md §3): never over anything, never through a link; each refusal is said.
import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf, messageOf } from "#base/errors.ts";
import type { BootLog } from "./boot-log.ts";

type Warn = Pick<BootLog, "warn">;

/** `path` is below `home`; its missing parents are made with it. False when it is not there afterwards. */
export function makeFolder(home: string, path: string, mode: number, log: Warn): boolean {
  const parts = path.split("/");
  return parts.every((_, index) => {
    const current = join(home, ...parts.slice(0, index + 1));
    const found = lstatSync(current, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) return refuse(`refusing to use ${current}: it is a link`, log);
    if (found?.isDirectory()) return true;
    if (found) return refuse(`refusing to use ${current}: it is no folder`, log);
    try {
      mkdirSync(current, { mode });
      // The umask may have taken bits away.
      chmodSync(current, mode);
      return true;
    } catch (error) {
      return refuse(`${current} cannot be made: ${errnoOf(error) ?? messageOf(error)}`, log);
    }
  });
}

function refuse(text: string, log: Warn): false {
  log.warn(text);
  return false;
}

/**
 * Writes `path` if nothing of that name is there: temp + fsync + rename in the same folder. Setup holds the volume's lock, so
 * nobody else seeds it in between.
 */
export function seedFile(path: string, text: string, mode: number, log: Warn): void {
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.seed`);
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) log.warn(`refusing to write through the link ${path}`);
    if (found) return;
    rmSync(temporary, { force: true });
    writeNew(temporary, text, mode);
    renameSync(temporary, path);
  } catch (error) {
    log.warn(`${path} cannot be written: ${errnoOf(error) ?? messageOf(error)}`);
    removeQuietly(temporary);
  }
}

function writeNew(path: string, text: string, mode: number): void {
  const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW;
  const file = openSync(path, flags, mode);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  chmodSync(path, mode);
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The folder takes no change at all; that was said.
  }
}
