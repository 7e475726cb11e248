// `profile delete`: stop and unregister, verified; alias; tree; active profile (agent.md §8, container.md §10.1).
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { HermesError, messageOf } from "#base/errors.ts";
import { randomHex } from "#base/ids.ts";
import { activeProfilePath, readActiveName } from "./active.ts";
import { removeAlias, type AliasPlace } from "./alias.ts";
import { findProfile, profilesFolder } from "./find.ts";
import { runHook, type HookOutcome, type ProfileKeeper, type ProfileRef } from "./hook.ts";
import { DEFAULT_PROFILE } from "./name.ts";
import { fixed } from "./rename.ts";

export interface RemoveInput {
  readonly root: string;
  readonly name: string;
  readonly alias: AliasPlace | null;
}

/** What may be asked about before anything is changed. Throws `PROFILE_NOT_FOUND` (66), `PROFILE_FIXED` (64). */
export function removableProfile(root: string, name: string): ProfileRef {
  const profile = findProfile(root, name);
  if (profile.name === DEFAULT_PROFILE) throw fixed("deleted");
  return profile;
}

/** Throws `PROFILE_NOT_DELETED` when its gateway does not stop: then everything is still there. */
export async function removeProfile(
  input: RemoveInput,
  keeper: ProfileKeeper,
): Promise<{ readonly profile: ProfileRef; readonly hook: HookOutcome }> {
  const { root, alias } = input;
  const profile = removableProfile(root, input.name);
  try {
    await keeper.leave(profile);
  } catch (cause) {
    throw new HermesError(
      "PROFILE_NOT_DELETED",
      `Profile ${profile.name} was kept, because its gateway did not stop: ${messageOf(cause)}`,
      { fix: `Stop it (hermes -p ${profile.name} gateway stop), then repeat this.`, cause },
    );
  }
  if (alias !== null) removeAlias(alias, profile.name);
  removeTree(root, profile);
  if (readActiveName(root) === profile.name) rmSync(activeProfilePath(root), { force: true });
  return { profile, hook: await runHook(keeper.hook, { kind: "removed", profile }) };
}

/** Out of sight first: a removal that stops half-way must not leave half a profile under its name. */
function removeTree(root: string, { name, home }: ProfileRef): void {
  const gone = join(profilesFolder(root), `.gone-${name}-${randomHex(8)}`);
  renameSync(home, gone);
  rmSync(gone, { recursive: true, force: true });
}
