// One dashboard per home (dashboard.md §1.3, step 4): a lock that the kernel frees, and a record of who holds it.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { HermesError } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { ownIdentity } from "#base/process-identity.ts";
import type { ProcessLock } from "#base/process-lock.ts";
import { type DashboardRecord, readDashboardRecord } from "#supervisor/dashboard-process.ts";

export interface HomeLock {
  /** Writes `dashboard.json`, once the real port is known. */
  record(url: string): void;
  release(): void;
}

/** Throws DASHBOARD_RUNNING (exit 78) at once, naming pid, URL and host of the other one, which is left alone. */
export function takeHomeLock(home: string, lock: ProcessLock): HomeLock {
  const folder = join(home, "dashboard");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const attempt = lock.take(join(folder, "dashboard.lock"), "dashboard");
  if (!attempt.held) throw alreadyRunning(home, readDashboardRecord(home), attempt.holder?.pid);
  const path = join(folder, "dashboard.json");
  return {
    record(url) {
      const { pid, startTime, host } = ownIdentity();
      const record: DashboardRecord = { pid, start_time: startTime, host, url };
      writeFileAtomic(path, `${JSON.stringify(record)}\n`, { mode: 0o600, volatile: true });
    },
    release() {
      rmSync(path, { force: true });
      attempt.lock.release();
    },
  };
}

function alreadyRunning(home: string, record: DashboardRecord | null, pid?: number): HermesError {
  const who = record
    ? `pid ${record.pid} on ${record.host}, ${record.url}`
    : `pid ${pid ?? "unknown"}`;
  return new HermesError("DASHBOARD_RUNNING", `A dashboard already runs for ${home}: ${who}.`, {
    exit: EXIT.refused,
    fix: "Use that one, or stop it with `hermes dashboard --stop`.",
    ...(record ? { data: { ...record } } : {}),
  });
}
