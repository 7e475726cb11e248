// Which profiles are there (agent.md §8). Asked anew each time: directories come and go while we run (field-rules C12).
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, HermesError } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { nearestWords } from "#base/text.ts";
import { SOUL_FILE } from "./home.ts";
import type { ProfileRef } from "./hook.ts";
import { DEFAULT_PROFILE, isProfileName } from "./name.ts";

export interface IgnoredEntry {
  /** Name in `profiles/`, or `profiles` itself. */
  readonly entry: string;
  readonly reason: string;
}

export interface FoundProfiles {
  /** `default` first, then by name. */
  readonly profiles: readonly ProfileRef[];
  readonly ignored: readonly IgnoredEntry[];
}

export const profilesFolder = (root: string): string => join(root, "profiles");

/** Never throws: what cannot be read is listed as ignored with the reason. */
export function findProfiles(root: string): FoundProfiles {
  const profiles: ProfileRef[] = [{ name: DEFAULT_PROFILE, home: root }];
  const ignored: IgnoredEntry[] = [];
  for (const entry of entriesOf(root, ignored)) {
    const reason = reasonToIgnore(root, entry);
    if (reason === null) profiles.push({ name: entry, home: join(profilesFolder(root), entry) });
    else ignored.push({ entry, reason });
  }
  return { profiles, ignored };
}

function entriesOf(root: string, ignored: IgnoredEntry[]): string[] {
  try {
    return readdirSync(profilesFolder(root)).sort();
  } catch (cause) {
    const errno = errnoOf(cause);
    if (errno !== "ENOENT") ignored.push({ entry: "profiles", reason: `cannot be read: ${errno}` });
    return [];
  }
}

function reasonToIgnore(root: string, entry: string): string | null {
  if (entry.startsWith(".new-")) return "left over from a creation that did not finish";
  if (entry.startsWith(".gone-")) return "left over from a removal that did not finish";
  if (!isProfileName(entry) || entry === DEFAULT_PROFILE) return "not a name of a profile";
  const home = join(profilesFolder(root), entry);
  try {
    if (!statSync(home).isDirectory()) return "not a directory";
    const soul = statSync(join(home, SOUL_FILE), { throwIfNoEntry: false });
    return soul?.isFile() ? null : `has no ${SOUL_FILE}`;
  } catch (cause) {
    return `cannot be read: ${errnoOf(cause)}`;
  }
}

/** A real profile by its name. Throws `PROFILE_NOT_FOUND` (66) with the nearest names; nothing is made (D04). */
export function findProfile(root: string, text: string): ProfileRef {
  const name = text.trim().toLowerCase();
  const { profiles, ignored } = findProfiles(root);
  const found = profiles.find((profile) => profile.name === name);
  if (found !== undefined) return found;
  const names = profiles.map((profile) => profile.name);
  const half = ignored.find(({ entry }) => entry === name);
  throw new HermesError("PROFILE_NOT_FOUND", notFoundMessage(text, names, half), {
    exit: EXIT.notFound,
    fix: `Make it with "hermes profile create NAME", or choose one of: ${names.join(", ")}.`,
    data: { names },
  });
}

function notFoundMessage(
  text: string,
  names: readonly string[],
  half: IgnoredEntry | undefined,
): string {
  if (half !== undefined) return `profiles/${half.entry} is no profile: ${half.reason}`;
  const nearest = nearestWords(text, names);
  const hint = nearest.length === 0 ? "" : `; did you mean ${nearest.join(" or ")}?`;
  return `There is no profile ${JSON.stringify(text)}${hint}`;
}
