// `hermes slot-run SLOT` (container.md §6.2): what every slot's run script becomes. Same process from here to the service's end.
import { join } from "node:path";
import { errnoOf, HermesError, isHermesError, messageOf } from "#base/errors.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { rootOf } from "#config/homes.ts";
import { readSlotSpec } from "#supervisor/slot-files.ts";
import { parseSlotName } from "#supervisor/slot-name.ts";
import { openSlotProcess, type SlotProcess } from "#supervisor/slot-process.ts";
import { parseCommandLine, usageError } from "../command-line.ts";
import type { Context, Launch } from "../context.ts";

const READY_FD = 3;

export async function run(context: Context): Promise<ExitCode> {
  const [name = ""] = context.line.operands;
  const id = parseSlotName(name);
  const dir = process.cwd();
  const spec = readSlotSpec(dir);
  if (id === null || spec === null)
    throw usageError(`${name} is no slot of this directory (${dir}).`);
  if (spec.kind === "dashboard" && !spec.enabled) {
    context.io.note(
      "hermes: HERMES_DASHBOARD is off: the dashboard does not run. Set it to 1 and start the container anew.",
    );
    return EXIT.ok;
  }
  const launch = enter(context.launch, name, dir, spec.home);
  const slot = await openSlotProcess({
    name,
    dir,
    home: spec.home,
    readyFd: READY_FD,
    uid: process.getuid?.() ?? null,
  });
  try {
    goHome(spec.home);
    return await become({ ...context, launch }, slot, spec.kind, id.profile);
  } catch (error) {
    if (isHermesError(error) && (error.exit === EXIT.refused || error.exit === EXIT.usage))
      slot.refuse(error);
    throw error;
  } finally {
    slot.close();
  }
}

/** A home that this user may not enter is refused like a configuration that it may not read: nothing changes by trying again. */
function goHome(home: string): void {
  try {
    process.chdir(home);
  } catch (error) {
    const uid = process.getuid?.() ?? "unknown";
    throw new HermesError(
      "HOME_UNREADABLE",
      `${home} cannot be entered: ${errnoOf(error) ?? messageOf(error)}, as uid ${uid}.`,
      {
        exit: EXIT.refused,
        setting: "HERMES_HOME",
        fix: "Give this user the directory, then start the service again.",
      },
    );
  }
}

/** Environment of the service. */
function enter(launch: Launch, slot: string, dir: string, home: string): Launch {
  const set = {
    HOME: rootOf(home),
    HERMES_HOME: home,
    HERMES_SLOT: slot,
    HERMES_SLOT_DIR: dir,
    HERMES_READY_FD: String(READY_FD),
    HERMES_S6_SUPERVISED_CHILD: "1",
    ...(launch.env["HERMES_SCANDIR"] ? {} : { HERMES_SCANDIR: join(dir, "..") }),
  };
  Object.assign(launch.env, set);
  return { ...launch, home, isProfileGiven: true, env: launch.env };
}

async function become(
  context: Context,
  slot: SlotProcess,
  kind: "dashboard" | "gateway",
  profile: string,
): Promise<ExitCode> {
  if (kind === "gateway") {
    process.title =
      profile === "default" ? "hermes gateway run" : `hermes -p ${profile} gateway run`;
    const line = await parseCommandLine(["gateway", "run"]);
    const { runGatewayHere } = await import("../gateway/run.ts");
    return runGatewayHere({ ...context, line }, slot);
  }
  process.title = "hermes dashboard";
  const { dashboardWords } = await import("../dashboard/slot.ts");
  const line = await parseCommandLine(dashboardWords(context.launch.env));
  const { serve } = await import("../dashboard/serve.ts");
  return serve({ ...context, line }, slot);
}
