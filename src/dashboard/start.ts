// The order of start (dashboard.md §1.3).
import type { DashboardDeps, RunningDashboard } from "./deps.ts";

/**
 * Brings the dashboard up and returns when it answered its own request. Throws HermesError: exit 78 for a refusal
 * (`GATE_REQUIRED`, `DASHBOARD_RUNNING`), exit 1 for a busy port (`PORT_BUSY`) or a failed self-probe (`NOT_ANSWERING`).
 */
export async function startDashboard(_deps: DashboardDeps): Promise<RunningDashboard> {
  throw new Error("being built");
}
