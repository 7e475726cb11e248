// What the boot of this container did: `/run/hermes/boot.json`, written by setup, read by status, doctor and `probe --self`
// (container.md §3, H0 and H10).
import { readFileSync } from "node:fs";
import { writeFileAtomic } from "#base/atomic-file.ts";

/** What the container's command line turned out to be (container.md §4). */
export type Role =
  | "command"
  | "serve"
  | "instant"
  | "gateway"
  | "gateway-foreground"
  | "dashboard"
  | "supervise";

export interface BootStep {
  /** `R1` … `H10`. */
  readonly step: string;
  readonly ms: number;
}

export interface BootRecord {
  readonly schema: 1;
  /** ISO 8601. */
  readonly at: string;
  readonly role: Role;
  /** Profile of the command (`-p X gateway run`); `default` otherwise. */
  readonly profile: string;
  /** Secrets are hidden. */
  readonly argv: readonly string[];
  readonly version: string;
  readonly node: string;
  readonly uid: number;
  readonly gid: number;
  readonly stop_grace: number;
  /** PID 1 is ours: slots run. */
  readonly supervised: boolean;
  readonly notices: readonly string[];
  readonly warnings: readonly string[];
  readonly steps: readonly BootStep[];
}

export const BOOT_RECORD_NAME = "boot.json";
export const BOOT_RECORD = `/run/hermes/${BOOT_RECORD_NAME}`;

export function writeBootRecord(path: string, record: BootRecord): void {
  writeFileAtomic(path, `${JSON.stringify(record)}\n`, { mode: 0o644, volatile: true });
}

/** null: not in our container, or the file is not whole. */
export function readBootRecord(path: string = BOOT_RECORD): BootRecord | null {
  try {
    const value = JSON.parse(readFileSync(path, "utf8")) as Partial<BootRecord> | null;
    return value?.schema === 1 && typeof value.role === "string" ? (value as BootRecord) : null;
  } catch {
    return null;
  }
}
