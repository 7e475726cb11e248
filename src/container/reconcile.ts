// H9: the scan directory as this boot wants it (container.md §11). At boot nothing runs yet, so it is emptied and written anew;
// `hermes container reconcile` later only adds and removes.
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { messageOf } from "#base/errors.ts";
import type { ProcessLock } from "#base/process-lock.ts";
import { findProfiles } from "#profile/find.ts";
import type { ProfileRef } from "#profile/hook.ts";
import type { ServiceManager, SlotSpec } from "#supervisor/port.ts";
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
  const isReal = (profile: ProfileRef): boolean => {
    if (isRealFolder(profile)) return true;
    log.warn(
      `profiles/${profile.name} is skipped: it is a link, and where it leads is not this volume`,
    );
    return false;
  };
  return profiles.filter(isReal).map(({ name, home }) => ({
    name,
    home,
    desired: readDesired(home, warn),
    observed: readObserved(home, warn),
  }));
}

/** A link to a folder elsewhere is no profile at boot: what it leads to is not in the volume (container.md §11, 3). */
function isRealFolder({ name, home }: ProfileRef): boolean {
  return name === "default" || lstatSync(home, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Throws the system's error when the scan directory cannot be used. A profile that fails is told and left out. */
export function reconcileAtBoot(input: ReconcileInput): Plan {
  const { root, scandir, log } = input;
  const plan = planSlots({ ...input, profiles: readProfiles(root, log) });
  empty(scandir);
  if (input.tee) writeFileSync(join(scandir, ".tee"), "");
  if (plan.writesRunning !== null) startOnCommand(plan.writesRunning, input);
  const failed = new Set<string>();
  for (const { spec, down } of plan.slots) {
    if (spec.kind === "gateway" && input.role !== "dashboard") clearLeftovers(spec.home, input);
    try {
      placeSlot(input, spec, down);
    } catch (error) {
      if (spec.kind === "gateway") failed.add(spec.profile);
      log.warn(`${slotName(spec)} is not registered: ${messageOf(error)}`);
    }
  }
  const lines = plan.lines.map((line) =>
    failed.has(line.profile) ? { ...line, action: "skipped" as const, reason: "failed" } : line,
  );
  for (const name of plan.missing) {
    log.error(`HERMES_GATEWAY_PROFILES names "${name}", but there is no such profile`);
  }
  try {
    appendProfileLines(root, lines, input.now());
  } catch (error) {
    log.warn(`logs/container-boot.log cannot be written: ${messageOf(error)}`);
  }
  return { ...plan, lines };
}

/** Hidden entries too: they outlive `docker restart`. */
function empty(scandir: string): void {
  mkdirSync(scandir, { recursive: true, mode: 0o755 });
  for (const name of readdirSync(scandir))
    rmSync(join(scandir, name), { recursive: true, force: true });
  accessSync(scandir, constants.W_OK | constants.X_OK);
}

function startOnCommand({ home, name }: FoundProfile, { log, now }: ReconcileInput): void {
  try {
    writeDesired(home, { desired: "running", by: "gateway run", source: "cli" }, now().getTime());
  } catch (error) {
    log.warn(`the wish for the gateway of ${name} cannot be stored: ${messageOf(error)}`);
  }
}

const LEFTOVERS: readonly string[] = [
  "gateway.pid",
  "processes.json",
  ".gateway-planned-stop.json",
];

/** Only what nobody holds: another container may live on this volume. Most homes have none, and then no lock is asked. */
function clearLeftovers(home: string, { lock, log }: ReconcileInput): void {
  const there = LEFTOVERS.map((name) => join(home, name)).filter((path) => existsSync(path));
  if (there.length === 0 || lock.isHeld(join(home, GATEWAY_LOCK))) return;
  for (const path of there) {
    try {
      rmSync(path);
    } catch (error) {
      log.warn(`${path} of an earlier gateway stays: ${messageOf(error)}`);
    }
  }
}

export interface LaterChange {
  readonly slot: string;
  readonly action: "add" | "remove";
}

export interface LaterInput {
  readonly root: string;
  /** HERMES_DASHBOARD of this container. */
  readonly dashboard: boolean;
  readonly manager: Pick<ServiceManager, "list" | "register" | "unregister">;
  readonly log: Pick<BootLog, "warn">;
  readonly dryRun: boolean;
}

/** Adds missing slots, down; removes those of vanished profiles. One that runs is never restarted. */
export async function reconcileLater(input: LaterInput): Promise<readonly LaterChange[]> {
  const { manager, dryRun } = input;
  const wanted = new Map(wantedSlots(input).map((spec) => [slotName(spec), spec]));
  const there = await manager.list();
  const missing = [...wanted].filter(([slot]) => !there.includes(slot));
  const vanished = there.filter((slot) => !wanted.has(slot));
  if (!dryRun) {
    for (const slot of vanished) await manager.unregister(slot);
    for (const [, spec] of missing) await manager.register(spec, { start: false });
  }
  return [
    ...missing.map(([slot]) => ({ slot, action: "add" }) as const),
    ...vanished.map((slot) => ({ slot, action: "remove" }) as const),
  ];
}

function wantedSlots({ root, dashboard, log }: LaterInput): readonly SlotSpec[] {
  return [
    { schema: 1, kind: "dashboard", profile: "default", home: root, enabled: dashboard },
    ...readProfiles(root, log).map(({ name, home }): SlotSpec => ({
      schema: 1,
      kind: "gateway",
      profile: name,
      home,
      enabled: true,
    })),
  ];
}
