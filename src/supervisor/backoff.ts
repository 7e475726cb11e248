// The delay after a death, as the finish script leaves it in `data/backoff`: "n uptime", by the system's uptime because
// clocks jump (container.md §6.2, §6.4).
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Backoff {
  readonly n: number;
  /** Epoch milliseconds before which the slot does not start again. */
  readonly until: number;
}

export function readBackoff(dir: string, nowMs: number): Backoff | null {
  try {
    const text = readFileSync(join(dir, "data", "backoff"), "utf8");
    const uptime = Number(readFileSync("/proc/uptime", "utf8").split(" ", 1)[0]);
    return parseBackoff(text, uptime, nowMs);
  } catch {
    return null;
  }
}

export function parseBackoff(text: string, uptimeSeconds: number, nowMs: number): Backoff | null {
  const found = /^(\d{1,9}) (\d{1,12})\s*$/u.exec(text);
  if (!found) return null;
  const [n, until] = [Number(found[1]), Number(found[2])];
  return { n, until: Math.round(nowMs + (until - uptimeSeconds) * 1000) };
}
