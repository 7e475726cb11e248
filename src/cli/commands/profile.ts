// `hermes profile` (agent.md §8).
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { rootOf, profileOf } from "#config/homes.ts";
import { activeProfilePath, readActiveName, useProfile } from "#profile/active.ts";
import { createProfile } from "#profile/create.ts";
import { findProfile } from "#profile/find.ts";
import { noHook } from "#profile/hook.ts";
import { listProfiles, summarise, type ProfileSummary } from "#profile/list.ts";
import { parseProfileName } from "#profile/name.ts";
import { ensureHome } from "../compose.ts";
import { textOption, type Context } from "../context.ts";
import { reservedWords } from "../registry.ts";

type Action = (context: Context) => ExitCode | Promise<ExitCode>;
const ACTIONS: Readonly<Record<string, Action>> = { list, create, use, show };

export async function run(context: Context): Promise<ExitCode> {
  const action = ACTIONS[context.line.path[1] ?? ""];
  if (!action) throw new Error(`no action for ${context.line.path.join(" ")}`);
  return action(context);
}

function list({ launch, io }: Context): ExitCode {
  const { profiles, ignored, unknownActive } = listProfiles(rootOf(launch.home));
  if (io.json) io.object({ profiles: profiles.map(asJson) });
  else {
    const width = Math.max(...profiles.map((entry) => entry.name.length));
    for (const entry of profiles) {
      io.line(
        `${entry.isActive ? "*" : " "} ${entry.name.padEnd(width)}  ${modelName(entry)}  ${entry.description}`.trimEnd(),
      );
    }
  }
  for (const { entry, reason } of ignored) io.note(`ignored: profiles/${entry}: ${reason}`);
  if (unknownActive !== null) {
    io.note(
      `${activeProfilePath(rootOf(launch.home))} names ${unknownActive}, which is no profile.`,
    );
  }
  return EXIT.ok;
}

function asJson(entry: ProfileSummary): Readonly<Record<string, unknown>> {
  return {
    name: entry.name,
    path: entry.home,
    active: entry.isActive,
    description: entry.description,
    model: entry.model,
    gateway: null,
    skills: entry.skillCount,
    has_env: entry.hasEnv,
    has_soul: entry.hasSoul,
  };
}

function modelName({ model }: ProfileSummary): string {
  if (model === null) return "(config.yaml cannot be read)";
  return model.id === "" ? model.provider : `${model.provider}:${model.id}`;
}

async function create({ launch, line, io }: Context): Promise<ExitCode> {
  const root = rootOf(launch.home);
  const name = parseProfileName(line.operands[0] ?? "", reservedWords());
  const description = textOption(line.options, "description");
  await ensureHome({ home: root, env: launch.env });
  const { profile, hook } = await createProfile(
    { root, name, ...(description === undefined ? {} : { description }) },
    noHook,
  );
  if (io.json) io.object({ name, path: profile.home, hook });
  else
    io.line(
      `Profile ${name} is in ${profile.home}. Use it: hermes -p ${name}, or hermes profile use ${name}`,
    );
  if (hook.ok) return EXIT.ok;
  io.note(`hermes: ${hook.message}`);
  return EXIT.partial;
}

function use({ launch, line, io }: Context): ExitCode {
  const { name, home } = useProfile(rootOf(launch.home), line.operands[0] ?? "");
  if (io.json) io.object({ name, path: home });
  else io.line(`hermes without -p means ${name} from now on.`);
  return EXIT.ok;
}

function show({ launch, line, io }: Context): ExitCode {
  const root = rootOf(launch.home);
  const found = findProfile(root, line.operands[0] ?? profileOf(launch.home));
  const entry = summarise(found, readActiveName(root));
  if (io.json) io.object({ profile: asJson(entry) });
  else {
    io.line(`name         ${entry.name}${entry.isActive ? " (active)" : ""}`);
    io.line(`home         ${entry.home}`);
    io.line(`model        ${modelName(entry)}`);
    if (entry.description !== "") io.line(`description  ${entry.description}`);
  }
  return EXIT.ok;
}
