// What the boot says: one line each on stderr, and `$HOME0/logs/container-boot.log` with one line per profile (container.md §3).
import { appendFileSync, renameSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";

export type BootLevel = "info" | "warn" | "error";

export interface BootLog {
  info(text: string): void;
  /** Kept for boot.json, too. */
  warn(text: string): void;
  /** Kept, too. */
  error(text: string): void;
  readonly warnings: readonly string[];
}

/** `showInfo`: the role or HERMES_BOOT_LOG asks for it, and stderr is no terminal. */
export function createBootLog(
  showInfo: boolean,
  write: (line: string) => void = toStderr,
): BootLog {
  const warnings: string[] = [];
  const say = (level: BootLevel, text: string): void =>
    write(`[boot] ${level} ${text.replaceAll(/\s*\n\s*/gu, "; ")}\n`);
  return {
    warnings,
    info: (text) => (showInfo ? say("info", text) : undefined),
    warn(text) {
      warnings.push(text);
      say("warn", text);
    },
    error(text) {
      warnings.push(text);
      say("error", text);
    },
  };
}

function toStderr(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // A closed stderr must not stop a boot.
  }
}

export interface ProfileLine {
  readonly profile: string;
  /** As stored before; null when nothing was. */
  readonly priorState: string | null;
  readonly action: "started" | "registered" | "skipped" | "missing";
  readonly desired: "running" | "stopped" | null;
  readonly reason: string;
}

const MAX_BYTES = 256 * 1024;
export const BOOT_LOG = "container-boot.log";

/** Appends all lines at once, rotating first. Throws the system's error when the log cannot be written. */
export function appendProfileLines(home: string, lines: readonly ProfileLine[], now: Date): void {
  const path = join(home, "logs", BOOT_LOG);
  try {
    if (statSync(path).size >= MAX_BYTES) renameSync(path, `${path}.1`);
  } catch {
    // Nothing to rotate, or no right to: appending decides.
  }
  appendFileSync(path, lines.map((line) => profileLine(line, now)).join(""), { mode: 0o640 });
}

/** `2026-05-20T10:11:12+0000 profile=default prior_state=running action=started desired=running reason=desired` */
export function profileLine(
  { profile, priorState, action, desired, reason }: ProfileLine,
  now: Date,
): string {
  const stamp = `${now.toISOString().slice(0, 19)}+0000`;
  const words = [
    `profile=${word(profile)}`,
    `prior_state=${word(priorState ?? "none")}`,
    `action=${action}`,
    `desired=${desired ?? "none"}`,
    `reason=${reason}`,
  ];
  return `${stamp} ${words.join(" ")}\n`;
}

/** Names and states come from the environment and from files: they must not make up words or lines of their own. */
function word(text: string): string {
  return text.replaceAll(/[^\w.-]/gu, "?").slice(0, MAX_WORD);
}

const MAX_WORD = 64;
