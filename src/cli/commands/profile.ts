// `hermes profile` (agent.md §8).
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { rootOf, profileOf } from "#config/homes.ts";
import { activeProfilePath, readActiveName, useProfile } from "#profile/active.ts";
import { findProfile } from "#profile/find.ts";
import { listProfiles, summarise, type ProfileSummary } from "#profile/list.ts";
import type { ServiceState } from "#protocol/http-status.ts";
import type { Context } from "../context.ts";

type Action = (context: Context) => ExitCode | Promise<ExitCode>;
const changes = () => import("../profile/changes.ts");
const archives = () => import("../profile/archives.ts");

/** What changes something is loaded when it is asked for: looking stays quick. */
const ACTIONS: Readonly<Record<string, Action>> = {
  list,
  use,
  show,
  create: async (context) => (await changes()).create(context),
  rename: async (context) => (await changes()).rename(context),
  delete: async (context) => (await changes()).remove(context),
  repair: async (context) => (await changes()).repair(context),
  describe: async (context) => (await changes()).describe(context),
  alias: async (context) => (await changes()).alias(context),
  export: async (context) => (await archives()).exportOne(context),
  import: async (context) => (await archives()).importOne(context),
};

export async function run(context: Context): Promise<ExitCode> {
  const action = ACTIONS[context.line.path[1] ?? ""];
  if (!action) throw new Error(`no action for ${context.line.path.join(" ")}`);
  return action(context);
}

async function list(context: Context): Promise<ExitCode> {
  const { launch, io } = context;
  const { profiles, ignored, unknownActive } = listProfiles(rootOf(launch.home));
  if (io.json) {
    const states = await gatewayStates(context, profiles);
    io.object({ profiles: profiles.map((entry, index) => asJson(entry, states[index] ?? null)) });
  } else {
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

/** One process looks at all of them; asking costs a call per slot, so only `--json` and `show` do. */
async function gatewayStates(
  context: Context,
  profiles: readonly ProfileSummary[],
): Promise<readonly ServiceState[]> {
  const { openServices } = await import("../gateway/manager.ts");
  const services = await openServices(context);
  const bodies = await Promise.all(profiles.map((profile) => services.gateway(profile)));
  return bodies.map(({ state }) => state);
}

function asJson(
  entry: ProfileSummary,
  gateway: ServiceState | null,
): Readonly<Record<string, unknown>> {
  return {
    name: entry.name,
    path: entry.home,
    active: entry.isActive,
    description: entry.description,
    model: entry.model,
    gateway,
    skills: entry.skillCount,
    has_env: entry.hasEnv,
    has_soul: entry.hasSoul,
  };
}

function modelName({ model }: ProfileSummary): string {
  if (model === null) return "(config.yaml cannot be read)";
  return model.id === "" ? model.provider : `${model.provider}:${model.id}`;
}

function use({ launch, line, io }: Context): ExitCode {
  const { name, home } = useProfile(rootOf(launch.home), line.operands[0] ?? "");
  if (io.json) io.object({ name, path: home });
  else io.line(`hermes without -p means ${name} from now on.`);
  return EXIT.ok;
}

async function show(context: Context): Promise<ExitCode> {
  const { launch, line, io } = context;
  const root = rootOf(launch.home);
  const found = findProfile(root, line.operands[0] ?? profileOf(launch.home));
  const entry = summarise(found, readActiveName(root));
  const [gateway = null] = await gatewayStates(context, [entry]);
  if (io.json) io.object({ profile: asJson(entry, gateway) });
  else {
    io.line(`name         ${entry.name}${entry.isActive ? " (active)" : ""}`);
    io.line(`home         ${entry.home}`);
    io.line(`model        ${modelName(entry)}`);
    io.line(`gateway      ${gateway ?? "unknown"}`);
    if (entry.description !== "") io.line(`description  ${entry.description}`);
  }
  return EXIT.ok;
}
