// `hermes profile create|rename|delete|repair|describe|alias` (agent.md §8, container.md §10.1).
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { messageOf } from "#base/errors.ts";
import { profileOf, rootOf } from "#config/homes.ts";
import { makeAlias, removeAlias } from "#profile/alias.ts";
import type { AssignedPort, CloneRequest } from "#profile/clone.ts";
import { createProfile } from "#profile/create.ts";
import { writeDescription } from "#profile/description.ts";
import { findProfile } from "#profile/find.ts";
import type { HookOutcome, ProfileKeeper } from "#profile/hook.ts";
import { DEFAULT_PROFILE, parseProfileName } from "#profile/name.ts";
import { removableProfile, removeProfile } from "#profile/remove.ts";
import { renameProfile } from "#profile/rename.ts";
import { repairProfiles } from "#profile/repair.ts";
import { aliasPlace } from "../alias-place.ts";
import { ensureHome } from "../compose.ts";
import { confirm } from "../confirm.ts";
import { flagOption, textOption, type Context } from "../context.ts";
import { openServices } from "../gateway/manager.ts";
import { profileKeeper } from "../profile-keeper.ts";
import { reservedWords } from "../registry.ts";

export async function openKeeper(context: Context, by: string): Promise<ProfileKeeper> {
  const { manager, lock } = await openServices(context);
  return profileKeeper(manager, { lock, by, source: "cli" });
}

export async function create(context: Context): Promise<ExitCode> {
  const { launch, line, io } = context;
  const root = rootOf(launch.home);
  const name = parseProfileName(line.operands[0] ?? "", reservedWords());
  const description = textOption(line.options, "description");
  const clone = cloneRequest(context, root);
  await ensureHome({ home: root, env: launch.env });
  const { hook } = await openKeeper(context, "profile create");
  const made = await createProfile(
    {
      root,
      name,
      skills: line.options["skills"] !== false,
      ...(description === undefined ? {} : { description }),
      ...(clone === null ? {} : { clone }),
    },
    hook,
  );
  const { profile, ports } = made;
  const alias = line.options["alias"] === false ? null : aliasFor(context, root, name);
  if (io.json) io.object({ name, path: profile.home, hook: made.hook, ports, alias });
  else {
    io.line(
      `Profile ${name} is in ${profile.home}. Use it: hermes -p ${name}, or hermes profile use ${name}`,
    );
    printPorts(context, ports);
  }
  return ended(context, made.hook);
}

function cloneRequest({ launch, line }: Context, root: string): CloneRequest | null {
  const from = textOption(line.options, "cloneFrom");
  const all = flagOption(line.options, "cloneAll");
  if (from === undefined && !all && !flagOption(line.options, "clone")) return null;
  const source = findProfile(root, from ?? profileOf(launch.home));
  return { source, all, sourceEnv: source.name === DEFAULT_PROFILE ? launch.env : {} };
}

/** A name that is taken is no failure of the profile: it is said, and `-p NAME` works anyway. */
function aliasFor({ launch, io }: Context, root: string, name: string): string | null {
  try {
    return makeAlias(aliasPlace(launch), root, name);
  } catch (error) {
    io.note(`No alias: ${messageOf(error)}.`);
    return null;
  }
}

export function printPorts({ io }: Context, ports: readonly AssignedPort[]): void {
  for (const { platform, port } of ports)
    io.line(`${platform} of the new profile has port ${port}.`);
}

export function ended({ io }: Context, hook: HookOutcome): ExitCode {
  if (hook.ok) return EXIT.ok;
  io.note(`hermes: ${hook.message}`);
  return EXIT.partial;
}

export async function rename(context: Context): Promise<ExitCode> {
  const { launch, line, io } = context;
  const [from = "", to = ""] = line.operands;
  const renamed = await renameProfile(
    {
      root: rootOf(launch.home),
      from,
      to: parseProfileName(to, reservedWords()),
      alias: aliasPlace(launch),
    },
    await openKeeper(context, "profile rename"),
  );
  const { profile, hook } = renamed;
  if (io.json) io.object({ name: profile.name, path: profile.home, hook });
  else io.line(`The profile is called ${profile.name} now; it is in ${profile.home}.`);
  return ended(context, hook);
}

export async function remove(context: Context): Promise<ExitCode> {
  const { launch, line, io } = context;
  const root = rootOf(launch.home);
  const { name, home } = removableProfile(root, line.operands[0] ?? "");
  await confirm(
    context,
    `Delete profile ${name} with everything in ${home}?`,
    `hermes profile delete ${name} -y`,
  );
  const { hook } = await removeProfile(
    { root, name, alias: aliasPlace(launch) },
    await openKeeper(context, "profile delete"),
  );
  if (io.json) io.object({ name, path: home, deleted: true, hook });
  else io.line(`Profile ${name} is deleted.`);
  return ended(context, hook);
}

export async function repair(context: Context): Promise<ExitCode> {
  const { launch, line, io } = context;
  const { hook } = await openKeeper(context, "profile repair");
  const repaired = await repairProfiles(rootOf(launch.home), line.operands[0], hook);
  const profiles = repaired.map((entry) => ({
    name: entry.profile.name,
    ok: entry.hook.ok,
    message: entry.hook.ok ? null : entry.hook.message,
  }));
  if (io.json) io.object({ profiles });
  for (const { name, ok, message } of profiles) {
    if (!ok) io.note(`hermes: ${message}`);
    else if (!io.json) io.line(`${name}: ok`);
  }
  return profiles.every(({ ok }) => ok) ? EXIT.ok : EXIT.partial;
}

export function describe({ launch, line, io }: Context): ExitCode {
  const [name = "", ...words] = line.operands;
  const profile = findProfile(rootOf(launch.home), name);
  const description = words.join(" ").trim();
  writeDescription(profile.home, description);
  if (io.json) io.object({ name: profile.name, description });
  else io.line(`${profile.name}: ${description}`);
  return EXIT.ok;
}

export function alias({ launch, line, io }: Context): ExitCode {
  const root = rootOf(launch.home);
  const place = aliasPlace(launch);
  if (flagOption(line.options, "remove")) {
    const name = (line.operands[0] ?? "").trim().toLowerCase();
    const removed = removeAlias(place, name);
    if (io.json) io.object({ name, removed });
    else io.line(removed ? `${name} is no command any more.` : `${name} had no alias of ours.`);
    return EXIT.ok;
  }
  const { name } = findProfile(root, line.operands[0] ?? "");
  const path = makeAlias(place, root, name);
  if (io.json) io.object({ name, path });
  else io.line(`${path} starts hermes -p ${name}.`);
  return EXIT.ok;
}
