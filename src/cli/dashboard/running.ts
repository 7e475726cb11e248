// The dashboard that runs for a home, if one does: the lock says whether, its record says which, it itself says how.
import { join } from "node:path";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import { processStartTime } from "#base/process-identity.ts";
import { rootOf } from "#config/homes.ts";
import { readDashboardRecord, type DashboardRecord } from "#dashboard/home-lock.ts";
import { createProcessLock } from "#store/process-lock.ts";
import type { Context } from "../context.ts";

const ASK_MS = 500;
const STOP_MS = 8000;
const STEP_MS = 50;

export type DashboardState =
  | { readonly state: "stopped"; readonly record: null; readonly reason: null }
  | {
      readonly state: "starting" | "ready" | "unknown";
      readonly record: DashboardRecord | null;
      readonly reason: string | null;
    };

/** Asks the lock, then the process itself. Old files prove nothing (field-rules C05). */
export async function dashboardState(root: string): Promise<DashboardState> {
  if (!isHeld(root)) return { state: "stopped", record: null, reason: null };
  const record = readDashboardRecord(root);
  if (record === null) return { state: "starting", record, reason: null };
  const isUp = await answers(record.url);
  return { state: isUp ? "ready" : "unknown", record, reason: isUp ? null : "does not answer" };
}

function isHeld(root: string): boolean {
  return createProcessLock().isHeld(join(root, "dashboard", "dashboard.lock"));
}

async function answers(url: string): Promise<boolean> {
  const { get } = await import("node:http");
  return new Promise((resolve) => {
    const request = get(
      `${url.replace(/\/$/, "")}/api/health`,
      { timeout: ASK_MS, agent: false },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    request.on("timeout", () => request.destroy(new Error("no answer")));
    request.on("error", () => resolve(false));
  });
}

export async function printStatus({ launch, io }: Context): Promise<ExitCode> {
  const found = await dashboardState(rootOf(launch.home));
  const { state, record, reason } = found;
  if (io.json) io.object({ state, reason, url: record?.url ?? null, pid: record?.pid ?? null });
  else if (record === null) io.line(`dashboard: ${state}`);
  else
    io.line(
      `dashboard: ${state}${reason === null ? "" : ` (${reason})`}, ${record.url}, pid ${record.pid}`,
    );
  return state === "ready" ? EXIT.ok : EXIT.failed;
}

/** Ends the one that runs, by the identity in its record; a pid that was given to another process is left alone. */
export async function stopRunning({ launch, io }: Context): Promise<ExitCode> {
  const root = rootOf(launch.home);
  if (!isHeld(root)) {
    if (io.json) io.object({ stopped: false });
    else io.line("No dashboard runs for this home.");
    return EXIT.ok;
  }
  const record = readDashboardRecord(root);
  const startTime = record === null ? null : processStartTime(record.pid);
  if (record === null || startTime !== record.start_time) {
    throw new HermesError(
      "NOT_OURS",
      "The dashboard of this home runs where it cannot be seen from here.",
      {
        fix: "Stop it on the machine or in the container that started it.",
      },
    );
  }
  process.kill(record.pid, "SIGTERM");
  for (let waited = 0; waited < STOP_MS; waited += STEP_MS) {
    if (!isHeld(root)) {
      if (io.json) io.object({ stopped: true, pid: record.pid });
      else io.line(`Stopped (pid ${record.pid}).`);
      return EXIT.ok;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, STEP_MS);
    });
  }
  throw new HermesError("STOP_TIMEOUT", `Pid ${record.pid} still runs after ${STOP_MS / 1000} s.`);
}
