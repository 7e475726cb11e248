// Moving a directory, also where rename is not possible: another file system, or a lower layer of an overlay.
import { cpSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "#base/errors.ts";
import { randomHex } from "#base/ids.ts";

/** `to` must not exist. A failure leaves the old tree where it was and nothing at `to`. */
export function moveTree(from: string, to: string, rename: typeof renameSync = renameSync): void {
  try {
    rename(from, to);
  } catch (cause) {
    if (errnoOf(cause) !== "EXDEV") throw cause;
    copyThenRemove(from, to);
  }
}

function copyThenRemove(from: string, to: string): void {
  const fresh = join(dirname(to), `.new-${randomHex(12)}`);
  try {
    cpSync(from, fresh, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    renameSync(fresh, to);
  } catch (cause) {
    rmSync(fresh, { recursive: true, force: true });
    throw cause;
  }
  // Out of sight first: a removal that stops half-way must not leave half a profile under its name.
  const gone = join(dirname(from), `.gone-${basename(from)}-${randomHex(8)}`);
  try {
    renameSync(from, gone);
    rmSync(gone, { recursive: true, force: true });
  } catch {
    rmSync(from, { recursive: true, force: true });
  }
}
