// Proportional memory of one idle dashboard beside a bare Hono server on the same Node, both running (product.md §4).
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { benchEnv, NODE, pssMb, report, startDashboard } from "./measure.ts";

const SETTLE_MS = 3000;

export async function memory(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const bare = spawn(NODE, [join(import.meta.dirname, "bare-hono.ts")], {
    env: benchEnv(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const server = await startDashboard(home);
  try {
    await fetch(`${server.url}/`);
    // Idle means idle: the collector and lazy work after the start get their time.
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    report("idle dashboard", {
      "PSS MB": pssMb(server.child.pid ?? 0),
      goal: "<= 60",
      "bare Hono beside it, PSS MB": pssMb(bare.pid ?? 0),
    });
  } finally {
    bare.kill();
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}
