// Units come and go by explicit commands (container.md §7.4): the file, then systemd looks again.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { messageOf } from "#base/errors.ts";
import { ServiceError } from "../port.ts";
import type { RunTool } from "../s6/tool.ts";
import { type SlotId, slotName } from "../slot-name.ts";
import { renderUnit, unitName, type UnitLayout, whoseUnit } from "./unit.ts";

/** Longer than TimeoutStopSec of our units. */
const STOP_MS = 15_000;

/** Writes the unit, or writes it anew, and has it start at login; nothing is started now. Returns its path. */
export async function installUnit(layout: UnitLayout, run: RunTool, id: SlotId): Promise<string> {
  const slot = slotName(id);
  const path = join(layout.directory, unitName(id));
  if (whoseUnit(layout, id) === "foreign") {
    throw new ServiceError("already-registered", `${path} belongs to another home.`, {
      slot,
      fix: "Uninstall it there, or delete the file, and try again.",
    });
  }
  try {
    mkdirSync(layout.directory, { recursive: true, mode: 0o755 });
    writeFileAtomic(path, renderUnit(id, layout), { mode: 0o644 });
  } catch (error) {
    throw new ServiceError("permission", `${path} cannot be written: ${messageOf(error)}`, {
      slot,
    });
  }
  await systemctl(run, slot, ["daemon-reload"]);
  await systemctl(run, slot, ["enable", unitName(id)]);
  return path;
}

/** Stops the service and takes its unit away; false: there was none. Throws for one of another home. */
export async function removeUnit(layout: UnitLayout, run: RunTool, id: SlotId): Promise<boolean> {
  const slot = slotName(id);
  const path = join(layout.directory, unitName(id));
  switch (whoseUnit(layout, id)) {
    case "none":
      return false;
    case "foreign":
      throw new ServiceError("not-registered", `${path} belongs to another home and stays.`, {
        slot,
      });
    case "ours":
      await systemctl(run, slot, ["disable", "--now", unitName(id)], STOP_MS);
      rmSync(path, { force: true });
      await systemctl(run, slot, ["daemon-reload"]);
      return true;
  }
}

/** Rejects with `not-supervised` when there is no user manager to ask, else with `tool-failed`. */
export async function systemctl(
  run: RunTool,
  slot: string,
  words: readonly string[],
  limitMs?: number,
): Promise<void> {
  const end = await run("systemctl", ["--user", ...words], limitMs);
  if (end.rc === 0) return;
  const stderr = end.stderr.trim();
  const detail = { tool: "systemctl", rc: end.rc, stderr };
  if (/failed to connect to bus/iu.test(stderr)) {
    throw new ServiceError("not-supervised", `The user's systemd does not answer: ${stderr}`, {
      slot,
      detail,
      fix: 'Log in as that user, or keep it running with "loginctl enable-linger".',
    });
  }
  throw new ServiceError("tool-failed", `systemctl failed for ${slot}: ${stderr}`, {
    slot,
    detail,
  });
}
