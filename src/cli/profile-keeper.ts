// The one hook of profiles, wired to whatever supervises services (product.md D8, container.md §10.1).
import { join } from "node:path";
import { HermesError } from "#base/errors.ts";
import type { ProcessLock } from "#base/process-lock.ts";
import { loadConfig } from "#config/load.ts";
import type { ProfileHook, ProfileKeeper, ProfileRef } from "#profile/hook.ts";
import { GATEWAY_LOCK } from "#supervisor/services.ts";
import { ServiceError, type ServiceManager, type SlotSpec } from "#supervisor/port.ts";
import { slotName } from "#supervisor/slot-name.ts";

export interface KeeperOptions {
  readonly lock: ProcessLock;
  readonly by: string;
  readonly source: "cli" | "dashboard" | "api";
}

/** Beyond the drain: what a stop may take (agent.md §8). */
const STOP_MARGIN_MS = 5000;
const START_MS = 15_000;

function stopMs({ home }: ProfileRef): number {
  try {
    const { config } = loadConfig({ processEnv: {}, home, remember: false });
    return config.agent.restart_drain_timeout * 1000 + STOP_MARGIN_MS;
  } catch {
    // A broken configuration must not keep a gateway from being stopped.
    return 2 * STOP_MARGIN_MS;
  }
}

export const gatewaySpec = ({ name, home }: ProfileRef): SlotSpec => ({
  schema: 1,
  kind: "gateway",
  profile: name,
  home,
  enabled: true,
});

export const gatewaySlot = ({ name }: { readonly name: string }): string =>
  slotName({ kind: "gateway", profile: name });

export function profileKeeper(manager: ServiceManager, options: KeeperOptions): ProfileKeeper {
  const control = { by: options.by, source: options.source };
  return {
    hook: profileHook(manager),
    async leave(profile) {
      const slot = gatewaySlot(profile);
      const wasRunning = await gatewayRuns(manager, options.lock, profile);
      if (wasRunning) await manager.stop(slot, { ...control, waitMs: stopMs(profile) });
      await manager.unregister(slot);
      if (isHeld(options.lock, profile)) throw stillHeld(profile);
      return { wasRunning };
    },
    async start(profile) {
      await manager.start(gatewaySlot(profile), { ...control, waitMs: START_MS });
    },
  };
}

/** Registers down (D8), which is nothing to do where nothing registers services; a unit goes with its profile all the same. */
export function profileHook(manager: ServiceManager): ProfileHook {
  return async (change) => {
    switch (change.kind) {
      case "created":
      case "found":
        return registerDown(manager, change.profile);
      case "removed":
        return manager.unregister(gatewaySlot(change.profile));
      case "renamed":
        await manager.unregister(gatewaySlot(change.from));
        return registerDown(manager, change.to);
    }
  };
}

async function registerDown(manager: ServiceManager, profile: ProfileRef): Promise<void> {
  if (!manager.canRegister) return;
  try {
    await manager.register(gatewaySpec(profile), { start: false });
  } catch (error) {
    const isThere = error instanceof ServiceError && error.serviceCode === "already-registered";
    if (!isThere) throw error;
  }
}

/** Whether its gateway is wanted up, or runs where nothing supervises. */
export async function gatewayRuns(
  manager: ServiceManager,
  lock: ProcessLock,
  profile: ProfileRef,
): Promise<boolean> {
  if (!manager.canRegister) return isHeld(lock, profile);
  const facts = await manager.facts(gatewaySlot(profile));
  return facts.up || facts.wantedUp;
}

function isHeld(lock: ProcessLock, { home }: ProfileRef): boolean {
  return lock.isHeld(join(home, GATEWAY_LOCK));
}

/** Another container on this volume, or a gateway that somebody runs in a terminal. */
function stillHeld({ name, home }: ProfileRef): HermesError {
  return new HermesError("GATEWAY_RUNNING", `a gateway still holds ${home}`, {
    fix: `Stop it where it was started; "hermes -p ${name} gateway status" says where.`,
  });
}
