// Profiles as the dashboard changes them: the same steps and the same hook as on the command line (product.md D8, agent.md §8).
import { existsSync } from "node:fs";
import { join } from "node:path";
import { HermesError } from "#base/errors.ts";
import type { CloneRequest } from "#profile/clone.ts";
import { createProfile, taken } from "#profile/create.ts";
import { writeDescription } from "#profile/description.ts";
import { findProfile, profilesFolder } from "#profile/find.ts";
import type { HookOutcome, ProfileRef } from "#profile/hook.ts";
import { useProfile } from "#profile/active.ts";
import { DEFAULT_PROFILE, parseProfileName } from "#profile/name.ts";
import { removableProfile, removeProfile } from "#profile/remove.ts";
import { renameProfile } from "#profile/rename.ts";
import { repairProfiles } from "#profile/repair.ts";
import type { CreateProfileBody, CreateProfileInput } from "#protocol/http-status.ts";
import { openManager } from "#supervisor/open.ts";
import type { ProfileDirectory } from "#dashboard/deps.ts";
import { aliasPlace } from "../alias-place.ts";
import type { Workspace } from "../compose.ts";
import type { Context } from "../context.ts";
import { gatewayRuns, gatewaySlot, profileHook, profileKeeper } from "../profile-keeper.ts";
import { reservedWords } from "../registry.ts";

type Changes = Pick<
  ProfileDirectory,
  "create" | "change" | "remove" | "register" | "use" | "homeOf"
>;

/** `forget(home)` closes what the dashboard holds open of a profile. */
export function profileChanges(
  { launch }: Context,
  { lock }: Workspace,
  root: string,
  forget: (home: string) => Promise<void>,
): Changes {
  const open = () => openManager({ env: launch.env, project: launch.project, root, lock });
  /** What is said of the service is asked of its supervisor, not taken from what was done. */
  const bodyOf = async (profile: ProfileRef, hook: HookOutcome): Promise<CreateProfileBody> => {
    const manager = open();
    const isRegistered =
      manager.canRegister && (await manager.facts(gatewaySlot(profile))).registered;
    const service = { registered: isRegistered, detail: hook.ok ? null : hook.message };
    const made = { name: profile.name, path: profile.home, service };
    return hook.ok ? { ok: true, ...made } : { ok: false, code: "partial", ...made };
  };
  const keeper = (by: string) => profileKeeper(open(), { lock, by, source: "dashboard" });
  const alias = () => aliasPlace(launch);

  /** Never the root home, nor the one that this dashboard was started for. */
  function movable(name: string): ProfileRef {
    const profile = removableProfile(root, name);
    if (launch.isProfileGiven && profile.home === launch.home) {
      throw new HermesError("PROFILE_FIXED", `This dashboard was started for ${name}.`, {
        fix: "Start it without -p, or use the command line.",
      });
    }
    return profile;
  }

  /** Throws what would refuse the rename, while nothing is touched yet. */
  async function renamable(name: string, newName: string): Promise<ProfileRef> {
    const to = parseProfileName(newName, reservedWords());
    const from = movable(name);
    const home = join(profilesFolder(root), to);
    if (existsSync(home)) throw taken(to, home);
    if (await gatewayRuns(open(), lock, from)) {
      throw new HermesError("GATEWAY_RUNNING", `The gateway of ${name} runs.`, {
        fix: "Stop it first.",
      });
    }
    return from;
  }

  return {
    async create(input) {
      const name = parseProfileName(input.name, reservedWords());
      const clone = cloneOf(launch.env, root, input);
      const skills = input.no_skills !== true;
      const { profile, hook } = await createProfile(
        { root, name, skills, ...(clone === null ? {} : { clone }) },
        profileHook(open()),
      );
      return bodyOf(profile, hook);
    },
    async change(name, { new_name: newName, description }) {
      const describe = ({ home }: ProfileRef): void => {
        if (description !== undefined) writeDescription(home, description);
      };
      if (newName === undefined) {
        const profile = findProfile(root, name);
        describe(profile);
        return bodyOf(profile, { ok: true });
      }
      const from = await renamable(name, newName);
      // Everything that can be refused was asked before: this ends the conversations of that profile.
      await forget(from.home);
      const to = parseProfileName(newName, reservedWords());
      const input = { root, from: name, to, alias: alias() };
      const { profile, hook } = await renameProfile(input, keeper("profile rename"));
      describe(profile);
      return bodyOf(profile, hook);
    },
    async remove(name) {
      const { home } = movable(name);
      await forget(home);
      const input = { root, name, alias: alias() };
      const { profile, hook } = await removeProfile(input, keeper("profile delete"));
      return bodyOf(profile, hook);
    },
    async register(name) {
      const [repaired] = await repairProfiles(root, name, profileHook(open()));
      const { profile, hook } = repaired ?? {
        profile: findProfile(root, name),
        hook: { ok: true },
      };
      return bodyOf(profile, hook);
    },
    use: (name) => void useProfile(root, name),
    homeOf: (name) => findProfile(root, name).home,
  };
}

function cloneOf(
  env: Context["launch"]["env"],
  root: string,
  { clone_from: from, clone_from_default: fromDefault }: CreateProfileInput,
): CloneRequest | null {
  const wanted = from ?? (fromDefault === true ? DEFAULT_PROFILE : undefined);
  if (wanted === undefined) return null;
  const source = findProfile(root, wanted);
  return { source, all: false, sourceEnv: source.name === DEFAULT_PROFILE ? env : {} };
}
