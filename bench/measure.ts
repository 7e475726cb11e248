// Measuring: medians over runs, exit status beside each figure; a program that died counts for nothing.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "..");
export const NODE = process.execPath;
export const LAUNCHER = join(ROOT, "bin", "hermes.mjs");

/** Unset: costs older Nodes 30 ms a start. */
export function benchEnv(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _dropped, ...rest } = process.env;
  return { ...rest, NO_COLOR: "1", ...extra };
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export interface Timed {
  readonly medianMs: number;
  /** Distinct exit codes of the runs. */
  readonly exits: readonly (number | null)[];
}

/** Runs a program `runs` times one after the other, after one run that warms the caches. */
export function timeCommand(args: readonly string[], env: NodeJS.ProcessEnv, runs: number): Timed {
  const times: number[] = [];
  const exits = new Set<number | null>();
  for (let run = 0; run <= runs; run++) {
    const started = performance.now();
    const result = spawnSync(NODE, args, { env, stdio: ["ignore", "ignore", "ignore"] });
    if (run === 0) continue;
    times.push(performance.now() - started);
    exits.add(result.status);
  }
  return { medianMs: median(times), exits: [...exits] };
}

export interface Server {
  readonly child: ChildProcess;
  readonly url: string;
  /** From exec to the first 200. */
  readonly readyMs: number;
  stop(): Promise<void>;
}

/** Starts the dashboard on a port of the kernel's choice and waits for its first 200. */
export async function startDashboard(
  home: string,
  extra: Record<string, string> = {},
): Promise<Server> {
  const started = performance.now();
  const child = spawn(NODE, [LAUNCHER, "dashboard", "--no-open", "--port", "0"], {
    env: benchEnv({ HERMES_HOME: home, ...extra }),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const url = await startLine(child);
  const response = await fetch(`${url}/api/status`);
  if (response.status !== 200) throw new Error(`/api/status answered ${response.status}`);
  const readyMs = performance.now() - started;
  return {
    child,
    url,
    readyMs,
    async stop() {
      child.kill("SIGTERM");
      if (child.exitCode === null) await new Promise((resolve) => child.once("exit", resolve));
    },
  };
}

function startLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const url = /http:\/\/[^\s]+:\d+/u.exec(text)?.[0];
      if (url !== undefined) resolve(url);
    });
    child.once("exit", (code) =>
      reject(new Error(`the dashboard ended with ${code} before it was ready`)),
    );
  });
}

/** Proportional set size in MB: shared pages counted once over all processes. */
export function pssMb(pid: number): number {
  const line = /^Pss:\s+(\d+) kB$/mu.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"));
  return Number(line?.[1] ?? Number.NaN) / 1024;
}

export function report(name: string, figures: Readonly<Record<string, string | number>>): void {
  const parts = Object.entries(figures).map(
    ([key, value]) => `${key} ${typeof value === "number" ? Math.round(value * 100) / 100 : value}`,
  );
  console.log(`${name}: ${parts.join(", ")}`);
}
