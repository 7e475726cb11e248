// Which supervisor there is (container.md §7.1): a pure function of injected readers, any error counts as no. "Am I in a
// container?" is another question.
import { closeSync, constants, openSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ManagerKind } from "./port.ts";
import { processName } from "./identity.ts";

export interface DetectReaders {
  /** Trimmed /proc/1/comm. May throw. */
  pid1Name(): string | null;
  /** May throw. */
  isDirectory(path: string): boolean;
  /** The control FIFO of the scan directory has a reader. May throw. */
  hasReader(fifo: string): boolean;
  /** A user systemd can be asked (its bus exists). May throw. */
  hasUserBus(): boolean;
  readonly platform: NodeJS.Platform;
}

const BASE = "/run/s6/basedir";

export function detectManager(readers: DetectReaders, scandir: string): ManagerKind {
  const pid1 = attempt(() => readers.pid1Name() === "s6-svscan");
  if (pid1 && attempt(() => readers.isDirectory(BASE))) return "s6";
  if (attempt(() => readers.hasReader(join(scandir, ".s6-svscan", "control")))) return "s6-user";
  if (readers.platform === "linux" && attempt(() => readers.hasUserBus())) return "systemd";
  return "none";
}

function attempt(ask: () => boolean): boolean {
  try {
    return ask();
  } catch {
    return false;
  }
}

export const LABELS: Readonly<Record<ManagerKind, string>> = {
  s6: "s6 (container supervisor)",
  "s6-user": "s6 (user)",
  systemd: "systemd (user)",
  none: "none",
};

export function systemReaders(env: Readonly<Record<string, string | undefined>>): DetectReaders {
  return {
    pid1Name: () => processName(1),
    isDirectory: (path) => statSync(path).isDirectory(),
    hasReader,
    hasUserBus() {
      const runtime = env["XDG_RUNTIME_DIR"];
      return runtime !== undefined && statSync(join(runtime, "systemd", "private")).isSocket();
    },
    platform: process.platform,
  };
}

/** Opening a FIFO for writing without waiting fails (ENXIO) when nobody reads it. */
function hasReader(fifo: string): boolean {
  if (!statSync(fifo).isFIFO()) return false;
  closeSync(openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK));
  return true;
}
