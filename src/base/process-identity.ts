// Who a process is. A pid alone is not enough: the kernel reuses it (field-rules C05).
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

export interface ProcessIdentity {
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat (clock ticks since boot), as text. Empty where the system has no /proc. */
  readonly startTime: string;
  readonly host: string;
}

/** Start time of a live process, or null when it is gone, a zombie, or cannot be told. */
export function processStartTime(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The command name (field 2) may hold spaces and parentheses: fields are counted from its last ")".
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return null;
    return fields[19] ?? null;
  } catch {
    return null;
  }
}

export function ownIdentity(): ProcessIdentity {
  return {
    pid: process.pid,
    startTime: processStartTime(process.pid) ?? "",
    host: hostname(),
  };
}

/** False when the process is surely gone; an identity of another host cannot be judged and counts as alive. */
export function isAlive(identity: ProcessIdentity): boolean {
  if (identity.host !== hostname()) return true;
  const startTime = processStartTime(identity.pid);
  if (startTime !== null) return identity.startTime === "" || startTime === identity.startTime;
  if (identity.startTime !== "") return false;
  try {
    process.kill(identity.pid, 0);
    return true;
  } catch {
    return false;
  }
}
