// A slot comes and goes while everything else runs (container.md §7.3): staged under a hidden name, renamed, rescanned,
// verified; any failure after the rename takes it away again.
import { mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { errnoOf } from "#base/errors.ts";
import { processStartTime } from "#base/process-identity.ts";
import { ServiceError, type SlotSpec } from "../port.ts";
import { type SlotLayout, writeSlotFiles } from "../slot-files.ts";
import { slotName } from "../slot-name.ts";
import type { RunTool, ToolEnd } from "./tool.ts";

export interface RegistrationDeps {
  readonly scandir: string;
  readonly layout: SlotLayout;
  readonly run: RunTool;
}

const STEP_MS = 20;
const SUPERVISED_MS = 5000;
const GONE_MS = 5000;
const FORCED_MS = 2000;

/** Rejects with `already-registered`, `not-supervised`, `permission` or `tool-failed`. */
export async function register(
  deps: RegistrationDeps,
  spec: SlotSpec,
  down: boolean,
): Promise<void> {
  const slot = slotName(spec);
  placeSlot(deps, spec, down);
  try {
    await rescan(deps, slot, "-a");
    await waitSupervised(deps, slot);
  } catch (error) {
    await unregister(deps, slot).catch(() => undefined);
    throw error;
  }
}

/** The files alone: what the boot does before any supervisor runs. */
export function placeSlot(
  { scandir, layout }: Pick<RegistrationDeps, "scandir" | "layout">,
  spec: SlotSpec,
  down: boolean,
): void {
  const slot = slotName(spec);
  const staging = join(scandir, `.new-${slot}.${process.pid}`);
  try {
    removeLeftovers(scandir);
    rmSync(staging, { recursive: true, force: true });
    writeSlotFiles(staging, spec, layout, down);
    // rename replaces an empty directory only: an existing slot makes it fail (container.md §16, 13).
    renameSync(staging, join(scandir, slot));
  } catch (error) {
    discard(staging);
    throw placeFailed(slot, spec.profile, error, scandir);
  }
}

/** The error that led here is the one to tell. */
function discard(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // The next registration sweeps it, once this process is gone.
  }
}

function placeFailed(slot: string, profile: string, error: unknown, scandir: string): ServiceError {
  switch (errnoOf(error) ?? "") {
    case "ENOTEMPTY":
    case "EEXIST":
      return new ServiceError("already-registered", `${slot} is registered already.`, {
        slot,
        profile,
      });
    case "EACCES":
    case "EPERM":
      return new ServiceError(
        "permission",
        `${scandir} cannot be written as uid ${process.getuid?.() ?? "unknown"}.`,
        { slot, profile, fix: "Run the command as the user that owns it." },
      );
    default:
      return new ServiceError("tool-failed", `${slot} cannot be written: ${String(error)}`, {
        slot,
        profile,
      });
  }
}

/** Staging directories of processes that died in between. */
function removeLeftovers(scandir: string): void {
  mkdirSync(scandir, { recursive: true, mode: 0o755 });
  for (const name of readdirSync(scandir)) {
    const found = /^\.(?:new|gone)-.+\.(\d+)$/u.exec(name);
    if (!found || processStartTime(Number(found[1])) !== null) continue;
    if (!statSync(join(scandir, name), { throwIfNoEntry: false })) continue;
    rmSync(join(scandir, name), { recursive: true, force: true });
  }
}

/** Gone and verified: no directory, no supervisor of it or of its logger. Absent is fine. */
export async function unregister(deps: RegistrationDeps, slot: string): Promise<void> {
  const { scandir, layout, run } = deps;
  const dir = join(scandir, slot);
  if (!statSync(dir, { throwIfNoEntry: false })) return;
  const limitMs = layout.timeoutKillMs + 1000;
  await run("s6-svc", ["-wD", "-T", String(limitMs), "-D", dir], limitMs + 1000);
  const gone = join(scandir, `.gone-${slot}.${process.pid}`);
  rmSync(gone, { recursive: true, force: true });
  try {
    renameSync(dir, gone);
  } catch (error) {
    throw placeFailed(slot, slot, error, scandir);
  }
  // Where no s6-svscan listens nobody has to be told; whether a supervisor is left is asked in any case.
  await run("s6-svscanctl", ["-an", scandir]);
  await endSupervisors(deps, slot, gone);
  rmSync(gone, { recursive: true, force: true });
}

async function endSupervisors(
  { run }: RegistrationDeps,
  slot: string,
  gone: string,
): Promise<void> {
  const both = [gone, join(gone, "log")];
  if (await waitUntil(GONE_MS, () => noneSupervised(run, both))) return;
  for (const dir of both) await run("s6-svc", ["-xd", dir]);
  if (await waitUntil(FORCED_MS, () => noneSupervised(run, both))) return;
  throw new ServiceError("still-supervised", `The supervisor of ${slot} does not end.`, { slot });
}

async function noneSupervised(run: RunTool, dirs: readonly string[]): Promise<boolean> {
  const ends = await Promise.all(dirs.map((dir) => run("s6-svok", [dir])));
  return ends.every(({ rc }) => rc !== 0);
}

export async function waitSupervised(
  { scandir, run }: Pick<RegistrationDeps, "scandir" | "run">,
  slot: string,
): Promise<void> {
  const both = [join(scandir, slot), join(scandir, slot, "log")];
  const isUp = await waitUntil(SUPERVISED_MS, async () => {
    const ends = await Promise.all(both.map((dir) => run("s6-svok", [dir])));
    const denied = ends.find(isDenied);
    if (denied) throw toolFailed("s6-svok", slot, denied);
    return ends.every(({ rc }) => rc === 0);
  });
  if (isUp) return;
  throw new ServiceError(
    "not-supervised",
    `${slot} exists, but no supervisor took it within ${SUPERVISED_MS / 1000} s.`,
    { slot, fix: 'Look at "hermes doctor": the supervisor of the slots may be gone.' },
  );
}

export async function rescan(
  { scandir, run }: Pick<RegistrationDeps, "scandir" | "run">,
  slot: string,
  how: "-a",
): Promise<void> {
  const end = await run("s6-svscanctl", [how, scandir]);
  if (end.rc === 0) return;
  throw toolFailed("s6-svscanctl", slot, end);
}

/** rc 100: no svscan there; 111 with "Permission denied": the wrong user (container.md §16, 3). */
export function toolFailed(
  tool: string,
  slot: string,
  end: { readonly rc: number | null; readonly stderr: string },
): ServiceError {
  const detail = { tool, rc: end.rc, stderr: end.stderr.trim() };
  const uid = process.getuid?.() ?? "unknown";
  if (isDenied(end)) {
    return new ServiceError("permission", `${slot} cannot be controlled as uid ${uid}.`, {
      slot,
      detail,
      fix: "Run the command as the user that the services belong to.",
    });
  }
  if (end.rc === 100 || end.rc === 111) {
    return new ServiceError("not-supervised", `${slot} has no supervisor: ${detail.stderr}`, {
      slot,
      detail,
    });
  }
  return new ServiceError("tool-failed", `${tool} failed for ${slot}: ${detail.stderr}`, {
    slot,
    detail,
  });
}

const isDenied = ({ rc, stderr }: Pick<ToolEnd, "rc" | "stderr">): boolean =>
  rc !== 0 && /permission denied|operation not permitted/iu.test(stderr);

async function waitUntil(limitMs: number, condition: () => Promise<boolean>): Promise<boolean> {
  const end = performance.now() + limitMs;
  for (;;) {
    if (await condition()) return true;
    if (performance.now() >= end) return false;
    await new Promise((resolve) => {
      setTimeout(resolve, STEP_MS);
    });
  }
}
