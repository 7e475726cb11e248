// The dashboard that runs for a home, if one does: the lock says whether, its record says which, it itself says how.
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import { processStartTime } from "#base/process-identity.ts";
import { rootOf } from "#config/homes.ts";
import {
  type DashboardState,
  isDashboardHeld,
  readDashboard,
  readDashboardRecord,
} from "#supervisor/dashboard-process.ts";
import { createProcessLock } from "#store/process-lock.ts";
import type { Context } from "../context.ts";

const STOP_MS = 8000;
const STEP_MS = 50;

export function dashboardState(root: string): Promise<DashboardState> {
  return readDashboard(root, createProcessLock());
}

const isHeld = (root: string): boolean => isDashboardHeld(root, createProcessLock());

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
