// CLI start-up as a ratio to a bare node (product.md §4): --version ≤ 1.3, --help ≤ 1.5, status ≤ 4.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { benchEnv, LAUNCHER, report, startDashboard, timeCommand, median } from "./measure.ts";

const RUNS = 15;

export async function startup(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const env = benchEnv({ HERMES_HOME: home });
  try {
    const bare = timeCommand(["-e", "0"], env, RUNS);
    report("node -e 0", { "median ms": bare.medianMs, exit: bare.exits.join("/") });
    for (const [words, goal] of [
      ["--version", 1.3],
      ["--help", 1.5],
      ["status", 4],
    ] as const) {
      const timed = timeCommand([LAUNCHER, words], env, RUNS);
      report(`hermes ${words}`, {
        "median ms": timed.medianMs,
        "ratio to bare node": timed.medianMs / bare.medianMs,
        goal: `<= ${goal}`,
        exit: timed.exits.join("/"),
      });
    }
    const ready: number[] = [];
    for (let run = 0; run < 10; run++) {
      const server = await startDashboard(home);
      ready.push(server.readyMs);
      await server.stop();
    }
    report("hermes dashboard, exec to first 200", {
      "median ms of 10": median(ready),
      goal: "<= 200",
    });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}
