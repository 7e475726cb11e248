// What to do so that a setting of the gate takes effect: it is read at the start only.
import { join } from "node:path";
import { createProcessLock } from "#store/process-lock.ts";

export function isDashboardRunning(root: string): boolean {
  return createProcessLock().isHeld(join(root, "dashboard", "dashboard.lock"));
}

export function afterRestart(root: string): string {
  return isDashboardRunning(root)
    ? "The dashboard that runs takes it at its next start."
    : "It takes effect when the dashboard is started.";
}
