// Folders by descriptor (container.md §3.1): root looks at and changes entries through `/proc/self/fd/N/name`, so nobody can put
// a link in the way between two looks. Names are "binary" text, one character per byte: any bytes pass through.
import {
  closeSync,
  constants,
  type Dirent,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from "node:fs";
import { errnoOf } from "#base/errors.ts";
import type { Account } from "./accounts.ts";

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

/** Path of an entry of an open folder. */
export const inside = (folder: number, name: string): Buffer =>
  Buffer.from(`/proc/self/fd/${folder}/${name}`, "latin1");

export function openFolder(path: string): number {
  return openSync(Buffer.from(path, "utf8"), FOLDER);
}

/** Throws ELOOP or ENOTDIR for a link. */
export function openInside(folder: number, name: string): number {
  return openSync(inside(folder, name), FOLDER | constants.O_NOFOLLOW);
}

/** null: not there. */
export function lookInside(folder: number, name: string): Stats | null {
  return lstatSync(inside(folder, name), { throwIfNoEntry: false }) ?? null;
}

export function listFolder(folder: number): readonly Dirent[] {
  return readdirSync(`/proc/self/fd/${folder}`, { withFileTypes: true, encoding: "latin1" });
}

const SMALL = 64;

/** First bytes of a regular file; "" when there is none, or it is a link. */
export function readSmall(folder: number, name: string): string {
  let file: number;
  try {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    file = openSync(inside(folder, name), flags);
  } catch {
    return "";
  }
  try {
    const bytes = Buffer.alloc(SMALL);
    return bytes.toString("latin1", 0, readSync(file, bytes, 0, SMALL, 0));
  } catch {
    return "";
  } finally {
    closeSync(file);
  }
}

/** Temp + fsync + rename in the folder itself: a link of that name is replaced, never followed. Throws the system's error. */
export function writeSmall(folder: number, name: string, text: string, owner: Account): void {
  const temporary = inside(folder, `${name}.${process.pid}.tmp`);
  rmSync(temporary, { force: true });
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const file = openSync(temporary, flags, 0o644);
  try {
    writeSync(file, text);
    fchownSync(file, owner.uid, owner.gid);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, inside(folder, name));
}

/** Errors of a file system or capability set that does not let us: counted, never fatal (field-rules B05). */
export function isRefusal(error: unknown): boolean {
  return ["EPERM", "EACCES", "EROFS", "ENOTSUP", "EINVAL"].includes(errnoOf(error) ?? "");
}
