// `profile create`: built aside, renamed into place, then the hook (agent.md §8).
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, HermesError } from "#base/errors.ts";
import { randomHex, type RandomBytes } from "#base/ids.ts";
import { writeDescription } from "./description.ts";
import { profilesFolder } from "./find.ts";
import { ensureHome } from "./home.ts";
import { runHook, type HookOutcome, type ProfileHook, type ProfileRef } from "./hook.ts";
import type { ProfileName } from "./name.ts";

export interface NewProfile {
  readonly root: string;
  readonly name: ProfileName;
  readonly description?: string;
  readonly random?: RandomBytes;
}

export interface CreatedProfile {
  readonly profile: ProfileRef;
  /** Not ok: the profile is there, a later step failed (exit 3). */
  readonly hook: HookOutcome;
}

/** Throws `PROFILE_EXISTS`; a failure on the way leaves nothing behind. */
export async function createProfile(input: NewProfile, hook: ProfileHook): Promise<CreatedProfile> {
  const { root, name, description, random } = input;
  const folder = profilesFolder(root);
  const home = join(folder, name);
  if (existsSync(home)) throw taken(name, home);
  mkdirSync(folder, { recursive: true, mode: 0o750 });
  const fresh = join(folder, `.new-${randomHex(12, random)}`);
  try {
    ensureHome(fresh);
    if (description !== undefined) writeDescription(fresh, description);
    moveIntoPlace(fresh, home, name);
  } catch (cause) {
    rmSync(fresh, { recursive: true, force: true });
    throw cause;
  }
  const profile: ProfileRef = { name, home };
  return { profile, hook: await runHook(hook, { kind: "created", profile }) };
}

function moveIntoPlace(fresh: string, home: string, name: string): void {
  try {
    renameSync(fresh, home);
  } catch (cause) {
    const errno = errnoOf(cause);
    if (errno === "ENOTEMPTY" || errno === "EEXIST" || errno === "ENOTDIR") throw taken(name, home);
    throw cause;
  }
}

function taken(name: string, home: string): HermesError {
  return new HermesError("PROFILE_EXISTS", `There is already a profile ${name} in ${home}`, {
    fix: "Choose another name.",
  });
}
