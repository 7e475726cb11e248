// The container on a real engine (product.md §4): run → first 200, beside the floor of a bare server in the same image; kill -9 of a
// ready slot → ready again; docker stop with the dashboard and five gateways. Needs DOCKER_HOST and HERMES_TEST_IMAGE.
import { spawnSync } from "node:child_process";
import { request } from "node:http";
import { median, report } from "./measure.ts";

const IMAGE = process.env["HERMES_TEST_IMAGE"] ?? "hermes:test";
const RUNS = 10;
const STOPS = 20;
const PORT = "127.0.0.1::9119";
// The gate is not what is measured.
const OPEN = ["--env", "HERMES_DASHBOARD=1", "--env", "HERMES_DASHBOARD_INSECURE=1"];
const BARE = `require("http").createServer((q,s)=>s.end("ok")).listen(9119,"0.0.0.0")`;
const LIMIT_MS = 30_000;

function docker(...args: readonly string[]): {
  readonly code: number | null;
  readonly out: string;
} {
  const { status, stdout } = spawnSync("docker", args, { encoding: "utf8", timeout: 60_000 });
  return { code: status, out: stdout.trim() };
}

export async function container(): Promise<void> {
  if (docker("image", "inspect", IMAGE).code !== 0) {
    console.log(`skipped: no engine, or no image ${IMAGE}`);
    return;
  }
  const [floor, started]: [number[], number[]] = [[], []];
  for (let run = 0; run <= RUNS; run++) {
    const bare = await firstAnswer(["--entrypoint", "node"], ["-e", BARE], "/");
    const ours = await firstAnswer(OPEN, ["sleep", "300"], "/api/status");
    // The first of each warms the engine up.
    if (run === 0) continue;
    floor.push(bare);
    started.push(ours);
  }
  report("docker run → /api/status 200", {
    "median ms": median(started),
    goal: "<= 700",
    "bare server in the same image, ms": median(floor),
    "image MB": Number(docker("image", "inspect", "--format", "{{.Size}}", IMAGE).out) / 1e6,
  });
  await again();
  await stops();
}

async function firstAnswer(
  opts: readonly string[],
  args: readonly string[],
  path: string,
): Promise<number> {
  const started = performance.now();
  const { out: id } = docker("run", "--detach", "--publish", PORT, ...opts, IMAGE, ...args);
  try {
    const port = Number(/:(\d+)$/mu.exec(docker("port", id, "9119").out)?.[1]);
    while ((await statusOf(port, path)) !== 200) {
      if (performance.now() - started > LIMIT_MS) throw new Error(`no 200 from ${path}`);
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    }
    return performance.now() - started;
  } finally {
    docker("rm", "--force", "--volumes", id);
  }
}

function statusOf(port: number, path: string): Promise<number> {
  return new Promise((resolve) => {
    const asked = request(
      { host: "127.0.0.1", port, path, agent: false, timeout: 1000 },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      },
    );
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => resolve(0));
    asked.end();
  });
}

/** Timed inside the container by one shell loop: `docker exec` itself costs more than what is measured. */
async function again(): Promise<void> {
  const { out: id } = docker("run", "--detach", "--publish", PORT, ...OPEN, IMAGE, "sleep", "300");
  const times: number[] = [];
  const line =
    "cd /run/service/dashboard; old=$(/command/s6-svstat -o pid .); a=$(date +%s%3N); kill -9 $old; " +
    'until [ "$(/command/s6-svstat -o ready,pid . | tr -d " ")" != "false-1" ] && [ "$(/command/s6-svstat -o ready .)" = true ] && [ "$(/command/s6-svstat -o pid .)" != "$old" ]; do sleep 0.01; done; ' +
    "echo $(( $(date +%s%3N) - a ))";
  try {
    for (let run = 0; run < RUNS; run++) {
      docker(
        "exec",
        "--user",
        "hermes",
        id,
        "sh",
        "-c",
        'cd /run/service/dashboard; rm -f data/backoff; until [ "$(/command/s6-svstat -o ready .)" = true ]; do sleep 0.05; done; sleep 1.2',
      );
      times.push(Number(docker("exec", "--user", "hermes", id, "sh", "-c", line).out));
    }
  } finally {
    docker("rm", "--force", "--volumes", id);
  }
  report("kill -9 of a ready slot → ready again", { "median ms": median(times), goal: "<= 600" });
}

async function stops(): Promise<void> {
  const { out: id } = docker("run", "--detach", ...OPEN, IMAGE, "sleep", "300");
  const hermes = (...words: readonly string[]): void =>
    void docker("exec", "--user", "hermes", id, "hermes", ...words);
  const codes = new Set<string>();
  const times: number[] = [];
  try {
    for (const name of ["a", "b", "c", "d"]) hermes("profile", "create", name);
    hermes("gateway", "start", "--all", "--wait", "60");
    for (let run = 0; run < STOPS; run++) {
      const started = performance.now();
      docker("stop", id);
      times.push(performance.now() - started);
      codes.add(docker("inspect", "--format", "{{.State.ExitCode}}", id).out);
      docker("start", id);
      hermes("gateway", "start", "--all", "--wait", "60");
    }
  } finally {
    docker("rm", "--force", "--volumes", id);
  }
  report("docker stop, dashboard and five gateways", {
    "median ms": median(times),
    "worst ms": Math.max(...times),
    goal: "<= 3000",
    codes: [...codes].join(" "),
  });
}
