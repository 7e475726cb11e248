// The files of a slot (container.md §6.1), written by registration at run time and by reconciliation at boot alike.
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SlotSpec } from "./port.ts";

export interface SlotLayout {
  /** Directory with `slot/run`, `slot/finish` and `slot/log-run`; absolute. */
  readonly libexec: string;
  /** Milliseconds between TERM and KILL (container.md §2.5). */
  readonly timeoutKillMs: number;
}

/**
 * Writes everything of a slot into `dir`, which must not exist. `down` leaves it waiting for an explicit start. The scripts
 * are links into the install tree: no generated shell, and a noexec scan directory does no harm (container.md §16, 11).
 */
export function writeSlotFiles(
  dir: string,
  spec: SlotSpec,
  { libexec, timeoutKillMs }: SlotLayout,
  down: boolean,
): void {
  mkdirSync(dir, { mode: 0o755 });
  for (const name of ["log", "data"]) mkdirSync(join(dir, name), { mode: 0o755 });
  for (const [link, script] of [
    ["run", "run"],
    ["finish", "finish"],
    ["log/run", "log-run"],
  ] as const) {
    symlinkSync(join(libexec, "slot", script), join(dir, link));
  }
  const files: readonly (readonly [string, string])[] = [
    ["notification-fd", "3\n"],
    ["log/notification-fd", "3\n"],
    ["timeout-kill", `${timeoutKillMs}\n`],
    ["flag-timeout-killpg", ""],
    ["data/spec.json", `${JSON.stringify(spec)}\n`],
    ...(down ? ([["down", ""]] as const) : []),
  ];
  for (const [name, text] of files) writeFileSync(join(dir, name), text, { flag: "wx" });
}

/** null: missing, or not written by us. */
export function readSlotSpec(dir: string): SlotSpec | null {
  try {
    const value = JSON.parse(readFileSync(join(dir, "data", "spec.json"), "utf8")) as unknown;
    return isSpec(value) ? value : null;
  } catch {
    return null;
  }
}

function isSpec(value: unknown): value is SlotSpec {
  const spec = value as Partial<SlotSpec> | null;
  return (
    typeof spec === "object" &&
    spec?.schema === 1 &&
    (spec.kind === "dashboard" || spec.kind === "gateway") &&
    typeof spec.profile === "string" &&
    typeof spec.home === "string" &&
    typeof spec.enabled === "boolean"
  );
}

/**
 * An explicit start or restart begins without the delay of earlier deaths (container.md §6.7), which also say nothing about
 * it: three crashes of a minute ago do not make a gateway that was repaired and started crash-looping.
 */
export function beginAnew(dir: string, nowMs: number): void {
  rmSync(join(dir, "data", "backoff"), { force: true });
  try {
    writeFileSync(join(dir, "data", "asked"), `${nowMs}\n`);
  } catch {
    // A full disk must not keep anybody from starting; the state then needs ten seconds more to settle.
  }
}

/** Epoch milliseconds of the last explicit start; null: there was none, or it is not ours to read. */
export function readAsked(dir: string): number | null {
  try {
    const text = readFileSync(join(dir, "data", "asked"), "utf8").trim();
    return /^\d{1,15}$/u.test(text) ? Number(text) : null;
  } catch {
    return null;
  }
}

/** A respawned supervisor leaves it down; for where `s6-svc -D` would end it too soon (container.md §6.1). */
export function markDown(dir: string): void {
  writeFileSync(join(dir, "down"), "");
}
