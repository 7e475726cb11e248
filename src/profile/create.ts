// `profile create`: built aside, renamed into place, then the hook (agent.md §8).
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { errnoOf, HermesError } from "#base/errors.ts";
import { randomHex, type RandomBytes } from "#base/ids.ts";
import { cloneInto, type AssignedPort, type CloneRequest } from "./clone.ts";
import { writeDescription } from "./description.ts";
import { profilesFolder } from "./find.ts";
import { ensureHome } from "./home.ts";
import { runHook, type HookOutcome, type ProfileHook, type ProfileRef } from "./hook.ts";
import type { ProfileName } from "./name.ts";

export interface NewProfile {
  readonly root: string;
  readonly name: ProfileName;
  readonly description?: string;
  readonly clone?: CloneRequest;
  /** False: without the skills of the source. */
  readonly skills?: boolean;
  readonly random?: RandomBytes;
}

export interface CreatedProfile {
  readonly profile: ProfileRef;
  /** Not ok: the profile is there, a later step failed (exit 3). */
  readonly hook: HookOutcome;
  /** Ports that the clone's servers got in place of the source's. */
  readonly ports: readonly AssignedPort[];
}

/** Throws `PROFILE_EXISTS`; a failure on the way leaves nothing behind. */
export async function createProfile(input: NewProfile, hook: ProfileHook): Promise<CreatedProfile> {
  const { root, description, clone, skills = true } = input;
  return buildProfile(input, hook, (fresh) => {
    ensureHome(fresh);
    const ports = clone === undefined ? [] : cloneInto(fresh, root, { ...clone, skills });
    if (description !== undefined) writeDescription(fresh, description);
    return Promise.resolve(ports);
  });
}

/** Everything that makes a profile goes this way: `fill` makes the directory, the rest is the same. */
export async function buildProfile(
  { root, name, random }: Pick<NewProfile, "root" | "name" | "random">,
  hook: ProfileHook,
  fill: (fresh: string) => Promise<readonly AssignedPort[]>,
): Promise<CreatedProfile> {
  const folder = profilesFolder(root);
  const home = join(folder, name);
  if (existsSync(home)) throw taken(name, home);
  mkdirSync(folder, { recursive: true, mode: 0o750 });
  const fresh = join(folder, `.new-${randomHex(12, random)}`);
  let ports: readonly AssignedPort[];
  try {
    ports = await fill(fresh);
    moveIntoPlace(fresh, home, name);
  } catch (cause) {
    rmSync(fresh, { recursive: true, force: true });
    throw cause;
  }
  const profile: ProfileRef = { name, home };
  return { profile, ports, hook: await runHook(hook, { kind: "created", profile }) };
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

export function taken(name: string, home: string): HermesError {
  return new HermesError("PROFILE_EXISTS", `There is already a profile ${name} in ${home}`, {
    fix: "Choose another name.",
  });
}
