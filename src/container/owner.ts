// Whose files the home's are (container.md §3.1). What is not ours by name is never touched: a bind mount holds foreign files.
// Links themselves are changed and never followed; only a wrong owner is touched, so a second boot changes no ctime.
import { closeSync, type Dirent, fchownSync, fstatSync, lchownSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "#base/errors.ts";
import type { Account } from "./accounts.ts";
import {
  inside,
  isRefusal,
  listFolder,
  lookInside,
  openFolder,
  openInside,
  readSmall,
  writeSmall,
} from "./folder.ts";

/** `uid:gid` of the last completed repair. */
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
  /** Entries that could not be looked at, or whose owner could not be changed. */
  readonly refused: number;
  readonly warnings: readonly string[];
}

interface Walk {
  readonly account: Account;
  /** Every own folder to its end. */
  readonly whole: boolean;
  changed: number;
  refused: number;
  /** Files left alone because they have other names, perhaps outside the volume. */
  linked: number;
  readonly warnings: string[];
}

/** `full`: every own folder whole, as `hermes container repair-owner` asks. Never throws. */
export function repairOwner(home: string, account: Account, full = false): OwnerRepair {
  const state = { account, changed: 0, refused: 0, linked: 0, warnings: [] };
  let folder: number;
  try {
    folder = openFolder(home);
  } catch (error) {
    const warning = `${home} cannot be looked at by root: ${messageOf(error)}`;
    return { changed: 0, refused: 1, warnings: [warning] };
  }
  try {
    const text = `${account.uid}:${account.gid}\n`;
    const whole = full || readSmall(folder, OWNER_MARKER) !== text;
    const walk: Walk = { ...state, whole };
    ownOpen(folder, walk);
    repairHome(folder, home, walk);
    repairProfiles(folder, home, walk);
    if (whole && walk.refused === 0) mark(folder, home, text, walk);
    return { ...walk, warnings: [...walk.warnings, ...summary(home, walk)] };
  } finally {
    closeSync(folder);
  }
}

function mark(folder: number, home: string, text: string, walk: Walk): void {
  try {
    writeSmall(folder, OWNER_MARKER, text, walk.account);
  } catch (error) {
    // Then the next boot looks at everything again. A root that may not write here had nothing to repair: no word about it.
    if (isRefusal(error)) return;
    walk.warnings.push(`${join(home, OWNER_MARKER)} cannot be written: ${messageOf(error)}`);
  }
}

function summary(home: string, { account, refused, linked }: Walk): readonly string[] {
  const lines: string[] = [];
  if (refused > 0) {
    lines.push(
      `the owner of ${refused} entries below ${home} could not be made ${account.uid}:${account.gid}; going on`,
    );
  }
  if (linked > SHOWN) {
    lines.push(`${linked - SHOWN} more files with several names below ${home} are left alone`);
  }
  return lines;
}

function repairHome(folder: number, path: string, walk: Walk): void {
  for (const name of FILES) ownEntry(folder, name, path, walk);
  for (const name of FOLDERS) repairFolder(folder, name, path, walk);
}

/** The folder and its direct children always; further down only when something was wrong or the marker differs. */
function repairFolder(parent: number, name: string, path: string, walk: Walk): void {
  const own = join(path, name);
  if (!isFolder(parent, name, own, walk)) return;
  const before = walk.changed + walk.refused;
  ownEntry(parent, name, path, walk);
  descend(parent, name, own, walk, (folder, entries) => {
    for (const entry of entries) ownEntry(folder, entry.name, own, walk);
    if (!walk.whole && walk.changed + walk.refused === before) return;
    for (const entry of entries) {
      if (entry.isDirectory()) repairTree(folder, entry.name, join(own, entry.name), walk, 0);
    }
  });
}

/** Each level holds one descriptor. */
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

function repairProfiles(folder: number, home: string, walk: Walk): void {
  const path = join(home, "profiles");
  if (!isFolder(folder, "profiles", path, walk)) return;
  ownEntry(folder, "profiles", home, walk);
  descend(folder, "profiles", path, walk, (profiles, entries) => {
    for (const { name } of entries) {
      const own = join(path, name);
      if (!isFolder(profiles, name, own, walk)) continue;
      ownEntry(profiles, name, path, walk);
      descend(profiles, name, own, walk, (profile) => repairHome(profile, own, walk));
    }
  });
}

/** False for what is not there; a link in the place of one of our folders is refused, out loud. */
function isFolder(parent: number, name: string, path: string, walk: Walk): boolean {
  try {
    const found = lookInside(parent, name);
    if (found?.isSymbolicLink()) walk.warnings.push(`refusing to follow the link ${path}`);
    return found?.isDirectory() === true;
  } catch {
    walk.refused += 1;
    return false;
  }
}

function descend(
  parent: number,
  name: string,
  path: string,
  walk: Walk,
  work: (folder: number, entries: readonly Dirent[]) => void,
): void {
  let folder: number | null = null;
  try {
    folder = openInside(parent, name);
    work(folder, listFolder(folder));
  } catch (error) {
    if (isRefusal(error)) walk.refused += 1;
    else walk.warnings.push(`${path} cannot be looked at: ${messageOf(error)}`);
  } finally {
    if (folder !== null) closeSync(folder);
  }
}

const SHOWN = 5;

function ownEntry(parent: number, name: string, folder: string, walk: Walk): void {
  const { uid, gid } = walk.account;
  try {
    const found = lookInside(parent, name);
    if (!found || (found.uid === uid && found.gid === gid)) return;
    if (found.isFile() && found.nlink > 1) {
      walk.linked += 1;
      if (walk.linked > SHOWN) return;
      const path = join(folder, name);
      walk.warnings.push(`refusing to change the owner of ${path}: it has ${found.nlink} names`);
      return;
    }
    lchownSync(inside(parent, name), uid, gid);
    walk.changed += 1;
  } catch {
    walk.refused += 1;
  }
}

function ownOpen(folder: number, walk: Walk): void {
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
