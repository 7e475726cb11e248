// Whose files the home's are (container.md §3.1). Root walks through directory descriptors, changes links themselves and never
// follows one; what is not ours by name is never touched, for a bind mount holds foreign files.
import {
  closeSync,
  constants,
  type Dirent,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
} from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { errnoOf } from "#base/errors.ts";
import type { Account } from "./accounts.ts";

export const OWNER_MARKER = ".hermes-owner";

/** Files of ours at the top of a home (agent.md §2.1, container.md §9). */
const FILES: readonly string[] = [
  OWNER_MARKER,
  ".env",
  ".gateway-planned-stop.json",
  "SOUL.md",
  "active_profile",
  "auth.json",
  "config.yaml",
  "gateway.lock",
  "gateway.pid",
  "gateway_desired.json",
  "gateway_state.json",
  "processes.json",
  "profile.yaml",
  "setup.lock",
  "state.db",
  "state.db-shm",
  "state.db-wal",
  "webhook_subscriptions.json",
];

const FOLDERS: readonly string[] = [
  "backups",
  "cache",
  "cron",
  "dashboard",
  "dashboard-themes",
  "home",
  "logs",
  "memories",
  "mcp-tokens",
  "pairing",
  "plugins",
  "run",
  "sessions",
  "skills",
  "workspace",
];

export interface OwnerRepair {
  readonly changed: number;
  /** Entries whose owner could not be changed. */
  readonly refused: number;
  readonly warnings: readonly string[];
}

interface Walk {
  readonly account: Account;
  changed: number;
  refused: number;
  readonly warnings: string[];
}

/** `full`: every own directory whole, as `hermes container repair-owner` asks. Never throws. */
export function repairOwner(home: string, account: Account, full = false): OwnerRepair {
  const walk: Walk = { account, changed: 0, refused: 0, warnings: [] };
  const whole = full || readMarker(home) !== markerText(account);
  within(home, walk, (folder) => {
    own(folder, walk);
    repairHome(folder, home, walk, whole);
    repairProfiles(folder, home, walk, whole);
  });
  if (walk.refused === 0 && walk.warnings.length === 0 && whole) writeMarker(home, account);
  if (walk.refused > 0) {
    walk.warnings.push(
      `the owner of ${walk.refused} entries below ${home} could not be set to ${account.uid}:${account.gid}; going on`,
    );
  }
  return walk;
}

function repairHome(folder: number, path: string, walk: Walk, whole: boolean): void {
  for (const name of FILES) ownEntry(folder, name, path, walk);
  for (const name of FOLDERS) repairFolder(folder, name, path, walk, whole);
}

/** The folder and its direct children always; further down only when something was wrong or the marker differs. */
function repairFolder(
  parent: number,
  name: string,
  path: string,
  walk: Walk,
  whole: boolean,
): void {
  const own = join(path, name);
  if (!isFolder(parent, name, own, walk)) return;
  const before = walk.changed + walk.refused;
  ownEntry(parent, name, path, walk);
  descend(parent, name, own, walk, (folder, entries) => {
    for (const entry of entries) ownEntry(folder, entry.name, own, walk);
    if (!whole && walk.changed + walk.refused === before) return;
    for (const entry of entries) {
      if (entry.isDirectory()) repairTree(folder, entry.name, join(own, entry.name), walk, 0);
    }
  });
}

const MAX_DEPTH = 64;

function repairTree(parent: number, name: string, path: string, walk: Walk, depth: number): void {
  if (depth > MAX_DEPTH) {
    walk.warnings.push(`refusing to go deeper than ${MAX_DEPTH} folders at ${path}`);
    return;
  }
  descend(parent, name, path, walk, (folder, entries) => {
    for (const entry of entries) {
      ownEntry(folder, entry.name, path, walk);
      if (entry.isDirectory())
        repairTree(folder, entry.name, join(path, entry.name), walk, depth + 1);
    }
  });
}

function repairProfiles(folder: number, home: string, walk: Walk, whole: boolean): void {
  const path = join(home, "profiles");
  if (!isFolder(folder, "profiles", path, walk)) return;
  ownEntry(folder, "profiles", home, walk);
  descend(folder, "profiles", path, walk, (profiles, entries) => {
    for (const { name } of entries) {
      const own = join(path, name);
      if (!isFolder(profiles, name, own, walk)) continue;
      ownEntry(profiles, name, path, walk);
      descend(profiles, name, own, walk, (profile) => repairHome(profile, own, walk, whole));
    }
  });
}

/** False for what is not there; a link in the place of one of our folders is refused, out loud. */
function isFolder(parent: number, name: string, path: string, walk: Walk): boolean {
  const found = lstatSync(`/proc/self/fd/${parent}/${name}`, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) walk.warnings.push(`refusing to follow the link ${path}`);
  return found?.isDirectory() === true;
}

function within(path: string, walk: Walk, work: (folder: number) => void): void {
  let folder: number;
  try {
    folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    walk.warnings.push(`${path} cannot be looked at: ${errnoOf(error) ?? "unknown error"}`);
    return;
  }
  try {
    work(folder);
  } finally {
    closeSync(folder);
  }
}

function descend(
  parent: number,
  name: string,
  path: string,
  walk: Walk,
  work: (folder: number, entries: readonly Dirent[]) => void,
): void {
  let folder: number;
  try {
    folder = openSync(
      `/proc/self/fd/${parent}/${name}`,
      constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
    );
  } catch (error) {
    walk.warnings.push(`${path} cannot be looked at: ${errnoOf(error) ?? "unknown error"}`);
    return;
  }
  try {
    work(folder, readdirSync(`/proc/self/fd/${folder}`, { withFileTypes: true }));
  } finally {
    closeSync(folder);
  }
}

/** Only a wrong owner is touched, so a second boot changes no ctime. */
function ownEntry(parent: number, name: string, folder: string, walk: Walk): void {
  const path = `/proc/self/fd/${parent}/${name}`;
  const { uid, gid } = walk.account;
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found || (found.uid === uid && found.gid === gid)) return;
    if (found.isFile() && found.nlink > 1) {
      walk.warnings.push(
        `refusing to change the owner of ${join(folder, name)}: it has ${found.nlink} names`,
      );
      return;
    }
    lchownSync(path, uid, gid);
    walk.changed += 1;
  } catch {
    walk.refused += 1;
  }
}

function own(folder: number, walk: Walk): void {
  const { uid, gid } = walk.account;
  try {
    const found = fstatSync(folder);
    if (found.uid === uid && found.gid === gid) return;
    fchownSync(folder, uid, gid);
    walk.changed += 1;
  } catch {
    walk.refused += 1;
  }
}

const markerText = ({ uid, gid }: Account): string => `${uid}:${gid}`;

function readMarker(home: string): string {
  try {
    const path = join(home, OWNER_MARKER);
    return lstatSync(path).isFile() ? readFileSync(path, "utf8").trim() : "";
  } catch {
    return "";
  }
}

function writeMarker(home: string, account: Account): void {
  const path = join(home, OWNER_MARKER);
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return;
    writeFileAtomic(path, `${markerText(account)}\n`, { mode: 0o644 });
    lchownSync(path, account.uid, account.gid);
  } catch {
    // Then the next boot looks at everything again.
  }
}
