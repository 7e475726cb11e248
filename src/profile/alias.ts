// `~/.local/bin/<name>`: a profile as a command of its own (agent.md §8). Marked as ours; nothing else is ever replaced.
import {
  accessSync,
  chmodSync,
  constants,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { HermesError } from "#base/errors.ts";

const MARK = "# Made by hermes: alias of profile ";

export interface AliasPlace {
  /** `~/.local/bin`, absolute. */
  readonly folder: string;
  /** PATH of whoever asks. */
  readonly searchPath: string;
  /** The words that start this program, absolute. */
  readonly command: readonly string[];
}

/** Returns its path. Throws `ALIAS_TAKEN` for a name that is another file or another program on PATH. */
export function makeAlias(place: AliasPlace, root: string, name: string): string {
  const path = join(place.folder, name);
  if (isThere(path) && !isOurs(path, name)) throw aliasTaken(name, path);
  const other = programOnPath(place, name);
  if (other !== null) throw aliasTaken(name, other);
  mkdirSync(place.folder, { recursive: true, mode: 0o755 });
  rmSync(path, { force: true });
  writeFileSync(path, scriptOf(place, root, name), { flag: "wx", mode: 0o755 });
  chmodSync(path, 0o755);
  return path;
}

/** False when there is none of ours. */
export function removeAlias(place: AliasPlace, name: string): boolean {
  if (!hasAlias(place, name)) return false;
  rmSync(join(place.folder, name));
  return true;
}

export function hasAlias(place: AliasPlace, name: string): boolean {
  return isOurs(join(place.folder, name), name);
}

function scriptOf({ command }: AliasPlace, root: string, name: string): string {
  const words = command.map(quote).join(" ");
  return `#!/bin/sh\n${MARK}${name}\nHERMES_HOME=${quote(root)} exec ${words} -p ${name} "$@"\n`;
}

const quote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

function isOurs(path: string, name: string): boolean {
  try {
    return lstatSync(path).isFile() && readFileSync(path, "utf8").includes(`\n${MARK}${name}\n`);
  } catch {
    return false;
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function programOnPath({ folder, searchPath }: AliasPlace, name: string): string | null {
  const folders = searchPath.split(delimiter).filter((entry) => entry !== "" && entry !== folder);
  return folders.map((entry) => join(entry, name)).find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return lstatSync(path).isFile() || lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function aliasTaken(name: string, path: string): HermesError {
  return new HermesError(
    "ALIAS_TAKEN",
    `${path} exists and is no alias of ours: "${name}" would hide or replace it`,
    {
      fix: `Use the profile as "hermes -p ${name}".`,
    },
  );
}
