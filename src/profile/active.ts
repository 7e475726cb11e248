// Which profile a plain `hermes` means: `active_profile` of the root home, asked at each request (field-rules C12).
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { readText } from "#config/files.ts";
import { findProfile } from "./find.ts";
import type { ProfileRef } from "./hook.ts";
import { DEFAULT_PROFILE } from "./name.ts";

export const activeProfilePath = (root: string): string => join(root, "active_profile");

/** The name that is written down, real or not; `default` without a file or with an empty one. */
export function readActiveName(root: string): string {
  const file = readText(activeProfilePath(root));
  const name = file.state === "text" ? file.text.trim().toLowerCase() : "";
  return name === "" ? DEFAULT_PROFILE : name;
}

/** The active profile. Throws `PROFILE_NOT_FOUND` when the written name is none. */
export function activeProfile(root: string): ProfileRef {
  return findProfile(root, readActiveName(root));
}

/** `profile use`: checks that it is real, then writes it down. */
export function useProfile(root: string, text: string): ProfileRef {
  const profile = findProfile(root, text);
  mkdirSync(root, { recursive: true, mode: 0o750 });
  writeFileAtomic(activeProfilePath(root), `${profile.name}\n`, { mode: 0o640 });
  return profile;
}
