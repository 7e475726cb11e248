// The files of a gateway in its home (container.md §9), as the gateway itself reads and writes them.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import type { Clock } from "#base/clock.ts";
import type { ProcessIdentity } from "#base/process-identity.ts";
import {
  markPlannedStop,
  OBSERVED_FILE,
  PLANNED_FILE,
  type PlannedIntent,
  readDesired,
  readObject,
} from "#supervisor/service-files.ts";
import type { GatewayFiles } from "./deps.ts";

const MARKER_LIFE_MS = 60_000;

export function gatewayFiles(home: string, clock: Clock): GatewayFiles {
  const path = (name: string): string => join(home, name);
  return {
    writeObserved(record) {
      const kept = readObject(path(OBSERVED_FILE));
      writeJson(path(OBSERVED_FILE), { ...kept, ...record }, 0o644);
    },
    writePid(record) {
      rmSync(path("gateway.pid"), { force: true });
      writeFileSync(path("gateway.pid"), `${JSON.stringify(record)}\n`, {
        flag: "wx",
        mode: 0o600,
      });
    },
    removePid: () => rmSync(path("gateway.pid"), { force: true }),
    readRunning() {
      const { pid, start_time: startTime, host, home: of } = readObject(path("gateway.pid")) ?? {};
      if (typeof pid !== "number" || typeof startTime !== "string") return null;
      return { pid, startTime, host: textOr(host) ?? "", home: textOr(of) ?? "" };
    },
    holder(fromLock) {
      const record = readObject(path("gateway.pid"));
      const since = record?.["started_at"];
      const isSame = record?.["pid"] === fromLock?.pid;
      return {
        pid: fromLock?.pid ?? numberOr(record?.["pid"]),
        host: fromLock?.host ?? textOr(record?.["host"]),
        since: isSame || fromLock === null ? textOr(since) : null,
      };
    },
    desired: () => readDesired(home)?.desired ?? null,
    markPlanned: (target, intent) => markPlannedStop(home, target, intent, clock.now()),
    takePlanned(self) {
      const marker = readObject(path(PLANNED_FILE));
      rmSync(path(PLANNED_FILE), { force: true });
      return marker === null ? null : plannedFor(marker, self, clock.now());
    },
  };
}

function plannedFor(
  marker: Readonly<Record<string, unknown>>,
  self: ProcessIdentity,
  nowMs: number,
): PlannedIntent | null {
  if (marker["target_pid"] !== self.pid || marker["target_start_time"] !== self.startTime) {
    return null;
  }
  const age = nowMs - Date.parse(textOr(marker["written_at"]) ?? "");
  if (!(age <= MARKER_LIFE_MS)) return null;
  const { intent } = marker;
  return intent === "stop" || intent === "restart" || intent === "takeover" ? intent : null;
}

function writeJson(path: string, value: unknown, mode: number): void {
  writeFileAtomic(path, `${JSON.stringify(value)}\n`, { mode });
}

const textOr = (value: unknown): string | null => (typeof value === "string" ? value : null);
const numberOr = (value: unknown): number | null => (typeof value === "number" ? value : null);
