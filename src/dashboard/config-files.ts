// Writing settings of a profile and telling everybody who has to know.
import type { PathChange } from "#config/old-spellings-write.ts";
import {
  applyConfigChanges,
  type ConfigTarget,
  replaceConfigText,
  type WriteOptions,
} from "#config/write.ts";
import { setEnvValue, unsetEnvValue } from "#config/env-write.ts";
import type { ProfileServices } from "./deps.ts";
import type { RouteServices } from "./route-services.ts";

type Writers = Pick<RouteServices, "deps" | "changes" | "snapshot">;

/** One key, dotted. Throws what the config room throws. */
export function writeSetting(
  profile: ProfileServices,
  services: Writers,
  key: string,
  value: unknown,
): Promise<void> {
  return writeSettings(profile, services, [{ path: key.split("."), value }]);
}

/** All or none; an undefined value removes the key. */
export async function writeSettings(
  profile: ProfileServices,
  services: Writers,
  changes: readonly PathChange[],
  options: WriteOptions = {},
): Promise<void> {
  await applyConfigChanges(targetOf(profile, services), changes, options);
  await afterChange(profile, services);
}

export async function writeWholeConfig(
  profile: ProfileServices,
  services: Writers,
  text: string,
  options: WriteOptions,
): Promise<void> {
  await replaceConfigText(targetOf(profile, services), text, options);
  await afterChange(profile, services);
}

export async function writeEnv(
  profile: ProfileServices,
  services: Writers,
  name: string,
  value: string,
): Promise<void> {
  await setEnvValue(targetOf(profile, services), name, value);
  await afterChange(profile, services);
}

/** False when the name is not in `.env`. */
export async function removeEnv(
  profile: ProfileServices,
  services: Writers,
  name: string,
): Promise<boolean> {
  const removed = await unsetEnvValue(targetOf(profile, services), name);
  if (removed) await afterChange(profile, services);
  return removed;
}

function targetOf(profile: ProfileServices, { deps }: Writers): ConfigTarget {
  const { lock, clock, processEnv } = deps;
  return { home: profile.home, lock, clock, processEnv };
}

async function afterChange(
  profile: ProfileServices,
  { changes, snapshot }: Writers,
): Promise<void> {
  profile.reload();
  changes.publish("config", profile.name);
  await snapshot.refresh();
}
