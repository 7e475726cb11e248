// The service manager of this machine, and who judges services, as the commands ask for them.
import type { ProcessLock } from "#base/process-lock.ts";
import { rootOf } from "#config/homes.ts";
import type { ProfileRef } from "#profile/hook.ts";
import type { ServiceBody } from "#protocol/http-status.ts";
import type { ServiceManager } from "#supervisor/port.ts";
import type { Context } from "../context.ts";
import { gatewaySlot } from "../profile-keeper.ts";

export interface Services {
  readonly manager: ServiceManager;
  readonly root: string;
  readonly lock: ProcessLock;
  /** The one truth about the gateway of a profile, registered or not (product.md D4). */
  gateway(profile: ProfileRef): Promise<ServiceBody>;
}

export async function openServices({
  launch,
  io,
}: Pick<Context, "launch"> & { readonly io: { note(text: string): void } }): Promise<Services> {
  const { createProcessLock } = await import("#store/process-lock.ts");
  const { openManager } = await import("#supervisor/open.ts");
  const { judgeSlot, judgeUnit, unsupervisedService } = await import("#supervisor/services.ts");
  const lock = createProcessLock();
  const root = rootOf(launch.home);
  const warned = new Set<string>();
  const warn = (text: string): void => {
    if (!warned.has(text)) io.note(`warning: ${text}`);
    warned.add(text);
  };
  const deps = { root, lock, warn };
  const manager = openManager({ env: launch.env, project: launch.project, ...deps });
  return {
    manager,
    root,
    lock,
    async gateway(profile) {
      const slot = gatewaySlot(profile);
      if (manager.canRegister) return judgeSlot(deps, await manager.facts(slot));
      const hasUnit = (await manager.list()).includes(slot);
      return hasUnit
        ? judgeUnit(deps, await manager.facts(slot))
        : unsupervisedService(deps, profile.name, profile.home);
    },
  };
}
