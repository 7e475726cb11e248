// Who runs in a slot: `data/identity.json`, written before the service itself starts, read to evict an orphan whose supervisor
// was killed (container.md §2.7, §9.1). A pid whose start time differs is never signalled.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { processStartTime } from "#base/process-identity.ts";
import { readObject } from "./service-files.ts";

export interface SlotIdentity {
  readonly pid: number;
  readonly start_time: string;
  readonly slot: string;
  readonly home: string;
}

const pathIn = (slotDir: string): string => join(slotDir, "data", "identity.json");

export function writeIdentity(slotDir: string, slot: string, home: string): void {
  const startTime = processStartTime(process.pid) ?? "";
  const record: SlotIdentity = { pid: process.pid, start_time: startTime, slot, home };
  writeFileAtomic(pathIn(slotDir), `${JSON.stringify(record)}\n`, { mode: 0o600, volatile: true });
}

/** The process that ran here before and still lives; null when there is none, or it is not surely that one. */
export function readOrphan(slotDir: string, slot: string, home: string): SlotIdentity | null {
  const fields = readObject(pathIn(slotDir));
  const { pid, start_time: startTime } = fields ?? {};
  if (typeof pid !== "number" || typeof startTime !== "string" || startTime === "") return null;
  if (fields?.["slot"] !== slot || fields["home"] !== home || pid === process.pid) return null;
  if (processStartTime(pid) !== startTime) return null;
  return { pid, start_time: startTime, slot, home };
}

const STEP_MS = 25;
const LIMITS = { termMs: 5000, killMs: 2000 } as const;

/** TERM, after 5 s KILL to its group; resolves when it is gone. Rejects when even that does not end it. */
export async function evict(
  { pid, start_time: startTime }: SlotIdentity,
  limits: { readonly termMs: number; readonly killMs: number } = LIMITS,
): Promise<void> {
  signal(pid, "SIGTERM");
  if (await isGone(pid, startTime, limits.termMs)) return;
  signal(-pid, "SIGKILL");
  signal(pid, "SIGKILL");
  if (await isGone(pid, startTime, limits.killMs)) return;
  throw new Error(`pid ${pid}, left over in this slot, does not end`);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already, or no group of that number.
  }
}

async function isGone(pid: number, startTime: string, limitMs: number): Promise<boolean> {
  for (let waited = 0; waited < limitMs; waited += STEP_MS) {
    if (processStartTime(pid) !== startTime) return true;
    await new Promise((resolve) => {
      setTimeout(resolve, STEP_MS);
    });
  }
  return processStartTime(pid) !== startTime;
}

/** Command name of a process, for detection; null when it cannot be told. */
export function processName(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return null;
  }
}
