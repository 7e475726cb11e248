// Which journal mode a place can bear (agent.md §6.4, field-rules B10): WAL needs memory that all openers share.
import { readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";

interface Mount {
  readonly point: string;
  readonly type: string;
}

export type JournalMode = "wal" | "delete";

const UNSHARED: ReadonlySet<string> = new Set([
  "nfs",
  "nfs4",
  "cifs",
  "smb3",
  "9p",
  "virtiofs",
  "vboxsf",
  "prl_fs",
  "fakeowner",
  "fuse",
  "fuseblk",
]);

/** The text of /proc/self/mountinfo (proc(5)); lines that are none are left out. */
function parseMountinfo(text: string): readonly Mount[] {
  const mounts: Mount[] = [];
  for (const line of text.split("\n")) {
    const [left, right] = line.split(" - ");
    const point = left?.split(" ")[4];
    const type = right?.split(" ")[0];
    if (point !== undefined && type !== undefined)
      mounts.push({ point: unescapeOctal(point), type });
  }
  return mounts;
}

/** Spaces, tabs, newlines and backslashes stand as \040 and kin. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}

/** The mount that holds `path` (absolute, real): the longest mount point that is a prefix; of equals the last, which covers the others. */
function mountOf(path: string, mounts: readonly Mount[]): Mount | null {
  let best: Mount | null = null;
  for (const mount of mounts) {
    if (!isInside(path, mount.point)) continue;
    if (best === null || mount.point.length >= best.point.length) best = mount;
  }
  return best;
}

function isInside(path: string, point: string): boolean {
  return point === "/" || path === point || path.startsWith(`${point}/`);
}

function isUnshared(type: string): boolean {
  if (type === "fuse.fuse-overlayfs") return false;
  return UNSHARED.has(type) || type.startsWith("fuse.");
}

export interface Place {
  /** File system type, null where the system has no mountinfo. */
  readonly type: string | null;
  readonly journalMode: JournalMode;
  /** True when the mode follows from the file system and that is worth a warning. */
  readonly warn: boolean;
}

/** The one function that every opener uses. `setting` is `database.journal_mode`; `mountinfo` is its text, read when absent. */
export function placeOf(
  path: string,
  setting: "auto" | JournalMode,
  mountinfo: string = readMountinfo(),
): Place {
  const type = mountOf(realPathOf(path), parseMountinfo(mountinfo))?.type ?? null;
  if (setting !== "auto") return { type, journalMode: setting, warn: false };
  const unshared = type !== null && isUnshared(type);
  return { type, journalMode: unshared ? "delete" : "wal", warn: unshared };
}

function readMountinfo(): string {
  try {
    return readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return "";
  }
}

/** The real path of a file that may not exist yet: then its folder's. */
function realPathOf(path: string): string {
  for (const [known, rest] of [
    [path, ""],
    [dirname(path), basename(path)],
  ] as const) {
    try {
      return join(realpathSync(known), rest);
    } catch {
      // Not there yet: the folder decides.
    }
  }
  return path;
}
