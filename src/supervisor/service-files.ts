// The files that say what was wanted of a service and what it said of itself (container.md §6.1, §9). A reader takes missing,
// empty, binary, malformed and non-object files as "none" with one warning, never as an exception.
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { errnoOf } from "#base/errors.ts";

export type Desired = "running" | "stopped";

export interface DesiredRecord {
  readonly desired: Desired;
  /** ISO 8601; null when the file does not say. */
  readonly at: string | null;
  readonly by: string | null;
  readonly source: string | null;
}

/** `gateway_state.json` as far as the state of a service needs it. */
export interface ObservedFile {
  readonly pid: number | null;
  readonly startTime: string | null;
  readonly state: string | null;
  readonly desired: Desired | null;
  readonly exitReason: string | null;
  readonly reasons: readonly string[];
  readonly platforms: Readonly<Record<string, PlatformNote>>;
  readonly activeAgents: number;
  /** Epoch milliseconds; null when missing or unreadable. Never judged by its age. */
  readonly updatedAt: number | null;
}

export interface PlatformNote {
  readonly state: string;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly updated_at: string | null;
}

export interface LastError {
  readonly code: string;
  readonly message: string;
  readonly ways_out: readonly string[];
  readonly setting: string | null;
  readonly at: string;
  readonly pid: number;
}

export type Fields = Readonly<Record<string, unknown>>;
export type Warn = (text: string) => void;

/** Larger files are not ours. */
const MAX_BYTES = 1024 * 1024;

/** null for anything that is no JSON object; the reason goes to `warn` unless the file is only missing. */
export function readObject(path: string, warn: Warn = () => undefined): Fields | null {
  const text = readBounded(path, warn);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value))
      return value as Fields;
    warn(`${path} is not a JSON object and is ignored`);
  } catch {
    warn(`${path} is not JSON and is ignored`);
  }
  return null;
}

function readBounded(path: string, warn: Warn): string | null {
  let descriptor: number;
  try {
    // A pipe of that name must not hold anybody up.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const why = errnoOf(error);
    if (why !== "ENOENT") warn(`${path} cannot be read: ${why ?? "unknown error"}`);
    return null;
  }
  try {
    const { size } = fstatSync(descriptor);
    if (size > MAX_BYTES) {
      warn(`${path} is larger than ${MAX_BYTES} bytes and is ignored`);
      return null;
    }
    const bytes = Buffer.alloc(size);
    const length = readSync(descriptor, bytes, 0, size, 0);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, length));
  } catch (error) {
    warn(
      `${path} is not UTF-8 text and is ignored${errnoOf(error) === "EISDIR" ? " (a folder)" : ""}`,
    );
    return null;
  } finally {
    closeSync(descriptor);
  }
}

export const DESIRED_FILE = "gateway_desired.json";
export const OBSERVED_FILE = "gateway_state.json";

export function readDesired(home: string, warn?: Warn): DesiredRecord | null {
  const fields = readObject(join(home, DESIRED_FILE), warn);
  const desired = wanted(fields?.["desired"]);
  if (fields === null || desired === null) return null;
  return {
    desired,
    at: textOf(fields["at"]),
    by: textOf(fields["by"]),
    source: textOf(fields["source"]),
  };
}

/** Throws the system's error: then nothing is told to the supervisor (container.md §6.7). Unknown keys survive. */
export function writeDesired(
  home: string,
  record: { readonly desired: Desired; readonly by: string; readonly source: string },
  nowMs: number,
): void {
  const path = join(home, DESIRED_FILE);
  const kept = readObject(path) ?? {};
  const fields = { ...kept, schema: 1, ...record, at: new Date(nowMs).toISOString() };
  writeFileAtomic(path, `${JSON.stringify(fields)}\n`, { mode: 0o644 });
}

export type PlannedIntent = "stop" | "restart" | "takeover";

export const PLANNED_FILE = ".gateway-planned-stop.json";

/** Tells the gateway that its end is meant; one that cannot be written never keeps anybody from stopping (container.md §9). */
export function markPlannedStop(
  home: string,
  target: { readonly pid: number; readonly startTime: string },
  intent: PlannedIntent,
  nowMs: number,
): void {
  const marker = {
    target_pid: target.pid,
    target_start_time: target.startTime,
    stopper_pid: process.pid,
    intent,
    written_at: new Date(nowMs).toISOString(),
  };
  try {
    writeFileAtomic(join(home, PLANNED_FILE), `${JSON.stringify(marker)}\n`, { mode: 0o600 });
  } catch {
    // Then it takes it for an unplanned stop, which only changes a word in its record.
  }
}

export function readObserved(home: string, warn?: Warn): ObservedFile | null {
  const fields = readObject(join(home, OBSERVED_FILE), warn);
  if (fields === null) return null;
  return {
    pid: naturalOf(fields["pid"]),
    startTime: startTimeOf(fields["start_time"]),
    state: textOf(fields["gateway_state"]),
    desired: wanted(fields["desired_state"]),
    exitReason: textOf(fields["exit_reason"]),
    reasons: Array.isArray(fields["reasons"])
      ? fields["reasons"].filter((reason): reason is string => typeof reason === "string")
      : [],
    platforms: platformsOf(fields["platforms"]),
    activeAgents: naturalOf(fields["active_agents"]) ?? 0,
    updatedAt: stampOf(fields["updated_at"]),
  };
}

function platformsOf(value: unknown): ObservedFile["platforms"] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(
    Object.entries(value as Fields).flatMap(([name, entry]) => {
      const { state, error_code, error_message, updated_at } = (entry ?? {}) as Fields;
      if (typeof state !== "string") return [];
      const stamp = stampOf(updated_at);
      return [
        [
          name,
          {
            state,
            error_code: textOf(error_code),
            error_message: textOf(error_message),
            updated_at: stamp === null ? null : new Date(stamp).toISOString(),
          },
        ] as const,
      ];
    }),
  );
}

const ISO = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:/u;

/** ISO 8601 text or epoch seconds, whole or not (container.md §9). Date.parse alone would take "1" for a year. */
export function stampOf(value: unknown): number | null {
  const ms =
    typeof value === "number"
      ? value * 1000
      : typeof value === "string" && ISO.test(value)
        ? Date.parse(value)
        : NaN;
  return Number.isFinite(ms) && Math.abs(ms) < 8.64e15 ? ms : null;
}

export function readLastError(slotDir: string): LastError | null {
  const fields = readObject(join(slotDir, "data", "last_error.json"));
  const message = textOf(fields?.["message"]);
  if (fields === null || message === null) return null;
  const ways = fields["ways_out"];
  return {
    code: textOf(fields["code"]) ?? "UNKNOWN",
    message,
    ways_out: Array.isArray(ways)
      ? ways.filter((way): way is string => typeof way === "string")
      : [],
    setting: textOf(fields["setting"]),
    at: textOf(fields["at"]) ?? "",
    pid: naturalOf(fields["pid"]) ?? 0,
  };
}

/** Text here; a number in volumes of the Python version. */
const startTimeOf = (value: unknown): string | null =>
  typeof value === "number" ? `${value}` : textOf(value);
const wanted = (value: unknown): Desired | null =>
  value === "running" || value === "stopped" ? value : null;
const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);
const naturalOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
