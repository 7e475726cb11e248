// Authenticated `GET /api/auth/me` beside a bare Hono server, asked in turns (product.md §4: rate ≥ 0.8 of bare Hono).
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "undici";
import { benchEnv, median, NODE, percentile, report, startDashboard } from "./measure.ts";

const ROUNDS = 5;
const ASKS = 4000;
const CONNECTIONS = 8;
/** Clock ticks per second of /proc/<pid>/stat on Linux. */
const TICKS = 100;

interface Round {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly cpuMicros: number;
}

export async function authenticated(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const bare = spawn(NODE, [join(import.meta.dirname, "bare-hono.ts")], {
    env: benchEnv(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<string>((resolve) => {
    bare.stdout.setEncoding("utf8").once("data", (line: string) => resolve(line.trim()));
  });
  const server = await startDashboard(home, {
    HERMES_DASHBOARD_PUBLIC_URL: "http://agent.example.org",
    HERMES_DASHBOARD_BASIC_AUTH_USERNAME: "bench",
    HERMES_DASHBOARD_BASIC_AUTH_PASSWORD: "only for this bench",
  });
  try {
    const cookie = await login(server.url);
    const targets = [
      {
        name: "bare",
        pid: bare.pid ?? 0,
        origin: `http://127.0.0.1:${port}`,
        path: "/",
        headers: {},
      },
      {
        name: "gate",
        pid: server.child.pid ?? 0,
        origin: server.url,
        path: "/api/auth/me",
        headers: { cookie },
      },
    ] as const;
    const rounds: Record<"bare" | "gate", Round[]> = { bare: [], gate: [] };
    for (let round = 0; round <= ROUNDS; round++) {
      for (const target of targets) {
        const figures = await ask(target);
        // The first round warms both up.
        if (round > 0) rounds[target.name].push(figures);
      }
    }
    const of = (name: "bare" | "gate", key: keyof Round): number =>
      median(rounds[name].map((round) => round[key]));
    report("authenticated GET /api/auth/me", {
      "requests/s": of("gate", "perSecond"),
      "bare Hono": of("bare", "perSecond"),
      ratio: of("gate", "perSecond") / of("bare", "perSecond"),
      goal: ">= 0.8",
      "server CPU µs": of("gate", "cpuMicros"),
      "bare CPU µs": of("bare", "cpuMicros"),
      "CPU goal": "<= 17 where bare is 13.4",
      "p99 ms": of("gate", "p99Ms"),
    });
  } finally {
    bare.kill();
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

async function login(url: string): Promise<string> {
  const response = await fetch(`${url}/auth/password-login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ provider: "basic", username: "bench", password: "only for this bench" }),
  });
  if (response.status !== 200)
    throw new Error(`login answered ${response.status}: ${await response.text()}`);
  const cookies = response.headers.getSetCookie().map((line) => line.split(";")[0] ?? "");
  return cookies.find((line) => line.startsWith("hermes_session_at=")) ?? "";
}

async function ask(target: {
  readonly pid: number;
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}): Promise<Round> {
  const pool = new Pool(target.origin, { connections: CONNECTIONS });
  const times: number[] = [];
  const cpu = cpuTicks(target.pid);
  const started = performance.now();
  const worker = async (): Promise<void> => {
    for (let n = 0; n < ASKS / CONNECTIONS; n++) {
      const begun = performance.now();
      const { statusCode, body } = await pool.request({
        path: target.path,
        method: "GET",
        headers: target.headers,
      });
      await body.dump();
      if (statusCode !== 200) throw new Error(`${target.path} answered ${statusCode}`);
      times.push(performance.now() - begun);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  const seconds = (performance.now() - started) / 1000;
  const cpuMicros = (((cpuTicks(target.pid) - cpu) / TICKS) * 1e6) / ASKS;
  await pool.close();
  return { perSecond: ASKS / seconds, p99Ms: percentile(times, 0.99), cpuMicros };
}

/** User and system time of a process: fields 14 and 15. */
function cpuTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}
