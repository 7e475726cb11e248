// Writing a file so that a reader sees the old text or the new one, never half of it.
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { errnoOf } from "./errors.ts";

export interface WriteOptions {
  /** Mode of a file that does not exist yet. An existing file keeps its mode and owner. */
  readonly mode: number;
  /** Where the old text is copied before a file that cannot be renamed over (a bind-mounted file) is written in place. */
  readonly backupDir?: string;
  /**
   * True: not flushed to the disk. For what says who runs now: no start waits for a disk, and after a loss of power, when the
   * file may be empty, nobody runs.
   */
  readonly volatile?: boolean;
}

/**
 * Replaces `path` by temp + fsync + rename in the same directory (agent.md §2.1), unless `volatile`. A symlink is written at its target.
 * Where rename answers EBUSY the file is written in place, after a copy to `backupDir`. A failure leaves the old file
 * and no temporary file behind, and throws the system's error.
 */
export function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  options: WriteOptions,
): void {
  const target = resolveLink(path);
  const old = statOrNull(target);
  const temporary = join(
    dirname(target),
    `.${basename(target)}.${randomBytes(6).toString("hex")}.tmp`,
  );
  try {
    write(temporary, data, old ? old.mode & 0o7777 : options.mode, options.volatile !== true);
    if (old) keepOwner(temporary, old);
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    if (errnoOf(error) !== "EBUSY") throw error;
    writeInPlace(target, data, options);
  }
  if (options.volatile !== true) syncDirectory(dirname(target));
}

function writeInPlace(target: string, data: string | Uint8Array, options: WriteOptions): void {
  if (options.backupDir !== undefined) {
    mkdirSync(options.backupDir, { recursive: true, mode: 0o750 });
    copyFileSync(target, join(options.backupDir, `${basename(target)}.before-write`));
  }
  write(target, data, null, true);
}

function write(
  path: string,
  data: string | Uint8Array,
  mode: number | null,
  flushes: boolean,
): void {
  const descriptor = mode === null ? openSync(path, "w") : openSync(path, "wx", mode);
  try {
    const bytes = typeof data === "string" ? Buffer.from(data, "utf8") : data;
    for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
    if (flushes) fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  // The umask may have taken bits away from open's mode.
  if (mode !== null) chmodSync(path, mode);
}

function keepOwner(path: string, old: { uid: number; gid: number }): void {
  try {
    chownSync(path, old.uid, old.gid);
  } catch {
    // Without CAP_CHOWN the file simply becomes ours, as any editor's save would.
  }
}

function resolveLink(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return path;
    throw error;
  }
}

function statOrNull(path: string): { mode: number; uid: number; gid: number } | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

function syncDirectory(path: string): void {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch {
    return;
  }
  try {
    fsyncSync(descriptor);
  } catch {
    // Some file systems refuse fsync on a directory; the rename itself is still atomic.
  } finally {
    closeSync(descriptor);
  }
}
