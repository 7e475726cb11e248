// `profile rename`: stop, move, register anew, start again; a failure goes back (agent.md §8, container.md §10.1).
import { existsSync } from "node:fs";
import { join } from "node:path";
import { HermesError, messageOf } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { readActiveName, useProfile } from "./active.ts";
import { hasAlias, makeAlias, removeAlias, type AliasPlace } from "./alias.ts";
import { taken } from "./create.ts";
import { findProfile, profilesFolder } from "./find.ts";
import type { HookOutcome, ProfileKeeper, ProfileRef } from "./hook.ts";
import { moveTree } from "./move-tree.ts";
import { DEFAULT_PROFILE, type ProfileName } from "./name.ts";

export interface RenameInput {
  readonly root: string;
  readonly from: string;
  readonly to: ProfileName;
  /** null: this machine has no place for aliases. */
  readonly alias: AliasPlace | null;
}

export interface RenamedProfile {
  readonly profile: ProfileRef;
  readonly wasRunning: boolean;
  /** Not ok: renamed, but a step after it failed (exit 3). */
  readonly hook: HookOutcome;
}

/** Throws `PROFILE_NOT_FOUND`, `PROFILE_FIXED`, `PROFILE_EXISTS`, or why it was taken back. */
export async function renameProfile(
  input: RenameInput,
  keeper: ProfileKeeper,
): Promise<RenamedProfile> {
  const from = findProfile(input.root, input.from);
  if (from.name === DEFAULT_PROFILE) throw fixed("renamed");
  const to: ProfileRef = { name: input.to, home: join(profilesFolder(input.root), input.to) };
  if (existsSync(to.home)) throw taken(to.name, to.home);
  const { wasRunning } = await keeper.leave(from);
  try {
    moveTree(from.home, to.home);
  } catch (cause) {
    await restore(keeper, from, wasRunning);
    throw notRenamed(from, cause);
  }
  try {
    await keeper.hook({ kind: "renamed", from, to });
  } catch (cause) {
    moveTree(to.home, from.home);
    await restore(keeper, from, wasRunning);
    throw notRenamed(from, cause);
  }
  return { profile: to, wasRunning, hook: await after(input, from, to, wasRunning, keeper) };
}

/** The rename is made: what fails now is partial. */
async function after(
  { root, alias }: RenameInput,
  from: ProfileRef,
  to: ProfileRef,
  wasRunning: boolean,
  keeper: ProfileKeeper,
): Promise<HookOutcome> {
  try {
    if (readActiveName(root) === from.name) useProfile(root, to.name);
    if (alias !== null && hasAlias(alias, from.name)) {
      removeAlias(alias, from.name);
      makeAlias(alias, root, to.name);
    }
    if (wasRunning) await keeper.start(to);
    return { ok: true };
  } catch (cause) {
    const repeat = `"hermes -p ${to.name} gateway start" starts its gateway, "hermes profile alias ${to.name}" makes its alias.`;
    return { ok: false, message: `Renamed to ${to.name}, but: ${messageOf(cause)}. ${repeat}` };
  }
}

async function restore(
  keeper: ProfileKeeper,
  from: ProfileRef,
  wasRunning: boolean,
): Promise<void> {
  try {
    await keeper.hook({ kind: "found", profile: from });
    if (wasRunning) await keeper.start(from);
  } catch {
    // The cause of the failed rename is the one to tell; `profile repair` registers it again.
  }
}

export function fixed(what: string): HermesError {
  return new HermesError(
    "PROFILE_FIXED",
    `The profile default is the root home: it cannot be ${what}.`,
    {
      exit: EXIT.usage,
      fix: "Make a profile of its own: hermes profile create NAME --clone.",
    },
  );
}

function notRenamed(from: ProfileRef, cause: unknown): HermesError {
  return new HermesError(
    "PROFILE_NOT_RENAMED",
    `Profile ${from.name} keeps its name: ${messageOf(cause)}`,
    { fix: "Nothing was changed. Repeat it when that is mended.", cause },
  );
}
