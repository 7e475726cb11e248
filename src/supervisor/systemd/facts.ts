// Facts of a unit: what systemd says, and what the process itself says of being ready (container.md §7.4).
import { join } from "node:path";
import { processStartTime } from "#base/process-identity.ts";
import { asksHealth, readDashboardRecord } from "../dashboard-process.ts";
import type { SlotFacts } from "../port.ts";
import type { RunTool } from "../s6/tool.ts";
import { type LastError, type ObservedFile, readObserved } from "../service-files.ts";
import type { SlotId } from "../slot-name.ts";
import { factsOfUnit, parseUnitStatus, PROPERTIES, type UnitStatus } from "./status.ts";
import { unitName } from "./unit.ts";

/** States in which a gateway has settled (agent.md §7.3). */
const SETTLED: readonly (string | null)[] = ["running", "degraded", "draining"];

/** Never rejects: the unit is there, and a manager that cannot be asked supervises it no more. `home`: of the service's profile. */
export async function readUnit(
  run: RunTool,
  root: string,
  id: SlotId,
  home: string,
): Promise<SlotFacts> {
  const end = await run("systemctl", [
    "--user",
    "show",
    `--property=${PROPERTIES.join(",")}`,
    unitName(id),
  ]);
  const now = { wallMs: Date.now(), monotonicMs: Number(process.hrtime.bigint() / 1_000_000n) };
  const status = parseUnitStatus(end.rc === 0 ? end.stdout : "", now);
  const observed = id.kind === "gateway" ? readObserved(home) : null;
  const facts = factsOfUnit(status, {
    id,
    home,
    nowMs: now.wallMs,
    ready: await isReady(status, root, observed),
    lastError: lastErrorOf(status, observed),
  });
  return end.rc === 0 ? facts : { ...facts, registered: true };
}

async function isReady(
  { pid }: UnitStatus,
  root: string,
  observed: ObservedFile | null,
): Promise<boolean> {
  if (pid === null) return false;
  if (observed !== null) {
    const isIts = observed.pid === pid && observed.startTime === processStartTime(pid);
    return isIts && SETTLED.includes(observed.state);
  }
  const record = readDashboardRecord(root);
  return record?.pid === pid && (await asksHealth(record.url));
}

/** What the gateway wrote before it gave up, when it was this life that wrote it. */
function lastErrorOf({ startedAt }: UnitStatus, observed: ObservedFile | null): LastError | null {
  const { state, exitReason, updatedAt, pid } = observed ?? {};
  if (state !== "startup_failed" || exitReason == null || updatedAt == null) return null;
  if (startedAt === null || updatedAt < startedAt) return null;
  return {
    code: "STARTUP_FAILED",
    message: exitReason,
    ways_out: [],
    setting: null,
    at: new Date(updatedAt).toISOString(),
    pid: pid ?? 0,
  };
}

/** Output of a unit goes to the journal; the service's own log is this file. */
export function unitLog(id: SlotId, root: string, home: string): string {
  return id.kind === "dashboard"
    ? join(root, "logs", "gui.log")
    : join(home, "logs", "gateway.log");
}
