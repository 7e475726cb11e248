// Steps R2, R3, R4 and R6 (container.md §3): what only root can do, before it becomes hermes.
import { existsSync, lchownSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { errnoOf, HermesError, messageOf } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import {
  type Account,
  type AccountFiles,
  joinGroups,
  readAccount,
  USER,
  writeAccount,
} from "./accounts.ts";
import { type Boot, timed } from "./boot.ts";
import type { BootLog } from "./boot-log.ts";
import { shareCompiled } from "./compiled.ts";
import type { ContainerEnv } from "./environment.ts";
import { repairOwner } from "./owner.ts";

/** R2 to R4. */
export async function rootSteps(boot: Boot): Promise<Account> {
  const { deps, env, log, routing } = boot;
  const { paths } = deps;
  if (routing.role === "instant") return readAccount(paths);
  const account = await timed(boot, "R2", () => remap(paths, env));
  shareCompiled(paths.compiled, account.uid);
  await timed(boot, "R3", () => shareGroups(boot));
  await timed(boot, "R4", () => {
    ownHome(boot, account);
    for (const path of [paths.runtime, paths.scandir]) ownFolder(path, account, log);
  });
  return account;
}

function remap(paths: AccountFiles, { uid, gid }: ContainerEnv): Account {
  const now = readAccount(paths);
  const wanted = { uid: uid ?? now.uid, gid: gid ?? now.gid };
  if (wanted.uid === now.uid && wanted.gid === now.gid) return now;
  try {
    writeAccount(paths, wanted);
    return wanted;
  } catch (error) {
    throw new HermesError(
      "REMAP_FAILED",
      `HERMES_UID and HERMES_GID ask for ${wanted.uid}:${wanted.gid}, but ${paths.passwd} cannot be written: ${errnoOf(error) ?? messageOf(error)}.`,
      {
        exit: EXIT.refused,
        setting: "HERMES_UID",
        fix: `Start without --read-only, or give the volume to ${now.uid}:${now.gid} and leave both out.`,
      },
    );
  }
}

function shareGroups({ deps, env, log }: Boot): void {
  const gids = new Set((process.getgroups?.() ?? []).filter((gid) => gid !== 0));
  if (env.dockerSocket) {
    for (const path of deps.paths.sockets) {
      const found = lstatSync(path, { throwIfNoEntry: false });
      if (found?.isSocket() && found.gid !== 0) gids.add(found.gid);
    }
  }
  if (gids.size === 0) return;
  try {
    for (const name of joinGroups(deps.paths, [...gids]))
      log.info(`${USER} is a member of ${name}`);
  } catch (error) {
    log.warn(`${USER} could not join groups ${[...gids].join(", ")}: ${messageOf(error)}`);
  }
}

function ownHome({ env, log }: Boot, account: Account): void {
  try {
    if (!existsSync(env.home)) {
      // Its parents are for everybody to pass through.
      mkdirSync(dirname(env.home), { recursive: true, mode: 0o755 });
      mkdirSync(env.home, { mode: 0o750 });
      lchownSync(env.home, account.uid, account.gid);
    }
  } catch (error) {
    log.warn(`${env.home} cannot be made: ${errnoOf(error) ?? messageOf(error)}`);
    return;
  }
  const { warnings, changed } = repairOwner(env.home, account);
  for (const warning of warnings) log.warn(warning);
  if (changed > 0)
    log.info(`${changed} entries of ${env.home} now belong to ${account.uid}:${account.gid}`);
}

function ownFolder(path: string, { uid, gid }: Account, log: BootLog): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o755 });
    const found = lstatSync(path);
    if (found.isDirectory() && (found.uid !== uid || found.gid !== gid)) lchownSync(path, uid, gid);
  } catch (error) {
    log.warn(`${path} cannot be given to ${USER}: ${errnoOf(error) ?? messageOf(error)}`);
  }
}

/** Hooks of derived images. Throws BOOT_HOOK (1) naming the one that failed. */
export function runHooks({ deps, log }: Boot): void {
  for (const path of listHooks(deps.paths.hooks, log)) {
    const code = deps.runHook(path);
    if (code === 0) continue;
    throw new HermesError("BOOT_HOOK", `${path} failed with code ${code}.`, {
      fix: "Correct the script, or take it out of the image.",
    });
  }
}

/** In name order. What others could have written is not run. */
function listHooks(folder: string, log: BootLog): readonly string[] {
  let names: readonly string[];
  try {
    names = readdirSync(folder).sort();
  } catch {
    return [];
  }
  return names
    .map((name) => join(folder, name))
    .filter((path) => {
      const found = lstatSync(path);
      const isSafe = found.isFile() && found.uid === 0 && (found.mode & 0o022) === 0;
      if (!isSafe)
        log.warn(`${path} is skipped: it must be a file of root that nobody else can write`);
      return isSafe;
    });
}
