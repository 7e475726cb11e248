// `profile repair`: the hook once more, for profiles that were copied in or whose service is missing (container.md §10.1).
import { findProfile, findProfiles } from "./find.ts";
import { runHook, type HookOutcome, type ProfileHook, type ProfileRef } from "./hook.ts";

export interface Repaired {
  readonly profile: ProfileRef;
  readonly hook: HookOutcome;
}

/** One profile, or all of them; one that fails does not keep the others. Throws `PROFILE_NOT_FOUND`. */
export async function repairProfiles(
  root: string,
  name: string | undefined,
  hook: ProfileHook,
): Promise<readonly Repaired[]> {
  const profiles = name === undefined ? findProfiles(root).profiles : [findProfile(root, name)];
  const repaired: Repaired[] = [];
  for (const profile of profiles) {
    repaired.push({ profile, hook: await runHook(hook, { kind: "found", profile }) });
  }
  return repaired;
}
