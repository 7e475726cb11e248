// H9: the scan directory as this boot wants it (container.md §11). At boot nothing runs yet, so it is emptied and written anew;
// `hermes container reconcile` later only adds and removes.
import { lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "#base/errors.ts";
import type { ProcessLock } from "#base/process-lock.ts";
import { findProfiles } from "#profile/find.ts";
import type { ServiceManager } from "#supervisor/port.ts";
import { placeSlot } from "#supervisor/s6/registration.ts";
import { readDesired, readObserved, writeDesired } from "#supervisor/service-files.ts";
import { GATEWAY_LOCK } from "#supervisor/services.ts";
import type { SlotLayout } from "#supervisor/slot-files.ts";
import { slotName } from "#supervisor/slot-name.ts";
import { appendProfileLines, type BootLog } from "./boot-log.ts";
import { type FoundProfile, type Plan, planSlots, type PlanInput } from "./plan-slots.ts";

export interface ReconcileInput extends Omit<PlanInput, "profiles"> {
  readonly scandir: string;
  readonly layout: SlotLayout;
  /** Slot logs also go to the container's output. */
  readonly tee: boolean;
  readonly lock: ProcessLock;
  readonly log: BootLog;
  readonly now: () => Date;
}

/** Profiles with their stored states; entries that are none are told and skipped, never fatal. */
export function readProfiles(root: string, log: Pick<BootLog, "warn">): readonly FoundProfile[] {
  const { profiles, ignored } = findProfiles(root);
  for (const { entry, reason } of ignored) log.warn(`profiles/${entry} is skipped: ${reason}`);
  const warn = (text: string): void => log.warn(text);
  return profiles.filter(isRealFolder).map(({ name, home }) => ({
    name,
    home,
    desired: readDesired(home, warn),
    observed: readObserved(home, warn),
  }));
}

/** A link to a folder elsewhere is no profile at boot: what it leads to is not in the volume (container.md §11, 3). */
function isRealFolder({ name, home }: { readonly name: string; readonly home: string }): boolean {
  return name === "default" || lstatSync(home, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Throws the system's error when the scan directory cannot be used. A profile that fails is told and left out. */
export function reconcileAtBoot(input: ReconcileInput): Plan {
  const { root, scandir, log } = input;
  const plan = planSlots({ ...input, profiles: readProfiles(root, log) });
  empty(scandir);
  if (input.tee) writeFileSync(join(scandir, ".tee"), "");
  if (plan.writesRunning !== null) startOnCommand(plan.writesRunning, input);
  for (const { spec, down } of plan.slots) {
    try {
      if (spec.kind === "gateway" && input.role !== "dashboard")
        clearLeftovers(spec.home, input.lock);
      placeSlot(input, spec, down);
    } catch (error) {
      log.warn(`${slotName(spec)} is not registered: ${messageOf(error)}`);
    }
  }
  for (const name of plan.missing) {
    log.error(`HERMES_GATEWAY_PROFILES names "${name}", but there is no such profile`);
  }
  try {
    appendProfileLines(root, plan.lines, input.now());
  } catch (error) {
    log.warn(`logs/container-boot.log cannot be written: ${messageOf(error)}`);
  }
  return plan;
}

/** Hidden entries too: they outlive `docker restart`. */
function empty(scandir: string): void {
  mkdirSync(scandir, { recursive: true, mode: 0o755 });
  for (const name of readdirSync(scandir))
    rmSync(join(scandir, name), { recursive: true, force: true });
}

function startOnCommand({ home, name }: FoundProfile, { log, now }: ReconcileInput): void {
  try {
    writeDesired(home, { desired: "running", by: "gateway run", source: "cli" }, now().getTime());
  } catch (error) {
    log.warn(`the wish for the gateway of ${name} cannot be stored: ${messageOf(error)}`);
  }
}

/** Only what nobody holds: another container may live on this volume. */
function clearLeftovers(home: string, lock: ProcessLock): void {
  if (lock.isHeld(join(home, GATEWAY_LOCK))) return;
  for (const name of ["gateway.pid", "processes.json", ".gateway-planned-stop.json"]) {
    rmSync(join(home, name), { force: true });
  }
}

export interface LaterChange {
  readonly slot: string;
  readonly action: "add" | "remove";
}

/** Adds missing slots, down; removes those of vanished profiles. One that runs is never restarted. */
export async function reconcileLater(
  root: string,
  manager: ServiceManager,
  log: BootLog,
  dryRun: boolean,
): Promise<readonly LaterChange[]> {
  const profiles = readProfiles(root, log);
  const wanted = new Map(
    profiles.map(({ name, home }) => [
      slotName({ kind: "gateway", profile: name }),
      { name, home },
    ]),
  );
  const there = (await manager.list()).filter((slot) => slot !== "dashboard");
  const changes: LaterChange[] = [
    ...[...wanted.keys()]
      .filter((slot) => !there.includes(slot))
      .map((slot) => ({ slot, action: "add" }) as const),
    ...there
      .filter((slot) => !wanted.has(slot))
      .map((slot) => ({ slot, action: "remove" }) as const),
  ];
  if (dryRun) return changes;
  for (const { slot, action } of changes) {
    const profile = wanted.get(slot);
    if (action === "remove") await manager.unregister(slot);
    else if (profile !== undefined) {
      const spec = {
        schema: 1,
        kind: "gateway",
        profile: profile.name,
        home: profile.home,
        enabled: true,
      } as const;
      await manager.register(spec, { start: false });
    }
  }
  return changes;
}
