// The dashboard of a home, in a slot or in somebody's terminal: the lock says whether one runs, its record says which, it itself
// says how (field-rules C05: old files prove nothing).
import { join } from "node:path";
import type { ProcessLock } from "#base/process-lock.ts";
import { readObject } from "./service-files.ts";

export interface DashboardRecord {
  readonly pid: number;
  readonly start_time: string;
  readonly host: string;
  readonly url: string;
}

export type DashboardState =
  | { readonly state: "stopped"; readonly record: null; readonly reason: null }
  | {
      readonly state: "starting" | "ready" | "unknown";
      readonly record: DashboardRecord | null;
      readonly reason: string | null;
    };

const ASK_MS = 1000;

/** null when there is none or it is not ours to read. A record alone proves nothing: ask the lock. */
export function readDashboardRecord(root: string): DashboardRecord | null {
  const value = readObject(
    join(root, "dashboard", "dashboard.json"),
  ) as Partial<DashboardRecord> | null;
  return typeof value?.pid === "number" && typeof value.url === "string" && URL.canParse(value.url)
    ? (value as DashboardRecord)
    : null;
}

export const isDashboardHeld = (root: string, lock: ProcessLock): boolean =>
  lock.isHeld(join(root, "dashboard", "dashboard.lock"));

/** Asks the lock, then the process itself, for at most a second. */
export async function readDashboard(root: string, lock: ProcessLock): Promise<DashboardState> {
  if (!isDashboardHeld(root, lock)) return { state: "stopped", record: null, reason: null };
  const record = readDashboardRecord(root);
  if (record === null) return { state: "starting", record, reason: null };
  const isUp = await asksHealth(record.url);
  return { state: isUp ? "ready" : "unknown", record, reason: isUp ? null : "does not answer" };
}

/** `GET /api/health` of a dashboard's own address: 200 within the limit? No proxy, no cookie, own Host. */
export async function asksHealth(url: string, limitMs = ASK_MS): Promise<boolean> {
  if (!url.startsWith("http://") || !URL.canParse(url)) return false;
  const { get } = await import("node:http");
  return new Promise((resolve) => {
    const request = get(
      `${url.replace(/\/$/u, "")}/api/health`,
      { agent: false, signal: AbortSignal.timeout(limitMs) },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    request.on("error", () => resolve(false));
  });
}
