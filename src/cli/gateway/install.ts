// `hermes gateway install|uninstall` (container.md §7.4, §10.1): a unit of the user's systemd, written only when asked for.
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { profileOf } from "#config/homes.ts";
import { findProfile } from "#profile/find.ts";
import { ServiceError } from "#supervisor/port.ts";
import type { Context } from "../context.ts";
import { gatewaySlot } from "../profile-keeper.ts";
import { openServices, type Services } from "./manager.ts";

interface Change {
  readonly text: string;
  /** Path of the unit that is there now. */
  readonly unit: string | null;
}

export async function change(context: Context, verb: "install" | "uninstall"): Promise<ExitCode> {
  const { launch, io } = context;
  const services = await openServices(context);
  const { name } = findProfile(services.root, profileOf(launch.home));
  const { text, unit } = await apply(context, services, name, verb);
  const { kind, label } = services.manager;
  if (io.json) io.object({ manager: { kind, label }, unit });
  else io.line(text);
  return EXIT.ok;
}

function apply(
  context: Context,
  services: Services,
  profile: string,
  verb: "install" | "uninstall",
): Change | Promise<Change> {
  const { kind, label } = services.manager;
  switch (kind) {
    case "s6":
    case "s6-user": {
      const text = `Nothing to ${verb}: ${label} runs the gateways here. Start one: hermes gateway start`;
      return { text, unit: null };
    }
    case "systemd":
      return verb === "install"
        ? install(context, services, profile)
        : uninstall(services, profile);
    case "none":
      throw new ServiceError("no-manager", "Nothing here supervises services.", {
        slot: gatewaySlot({ name: profile }),
        fix: 'Run "hermes gateway run" in a terminal, or use the container image.',
      });
  }
}

async function install(
  { launch, io }: Context,
  { root }: Services,
  profile: string,
): Promise<Change> {
  const { unitLayout } = await import("#supervisor/open.ts");
  const { installUnit } = await import("#supervisor/systemd/install.ts");
  const { runTool } = await import("#supervisor/s6/tool.ts");
  const layout = unitLayout({ env: launch.env, root, project: launch.project });
  const unit = await installUnit(layout, runTool, { kind: "gateway", profile });
  io.note("It starts when you log in; without a login too after: loginctl enable-linger");
  return { unit, text: `Written: ${unit}. Start it now: hermes -p ${profile} gateway start` };
}

async function uninstall({ manager }: Services, profile: string): Promise<Change> {
  const slot = gatewaySlot({ name: profile });
  const isThere = (await manager.list()).includes(slot);
  await manager.unregister(slot);
  return { unit: null, text: isThere ? `The unit of ${slot} is gone.` : `${slot} has no unit.` };
}
