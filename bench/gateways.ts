// Gateways in a container (issue 5): killed → ready again, profiles registered, the boot with a hundred of them, memory of idle ones.
import { spawnSync } from "node:child_process";
import { median, pssMb, report } from "./measure.ts";

const IMAGE = process.env["HERMES_TEST_IMAGE"] ?? "hermes:test";
const KILLS = 10;
const PROFILES = 100;
const SETTLE_S = 5;
const LIMIT_MS = 300_000;

interface End {
  readonly code: number | null;
  readonly out: string;
}

function docker(...args: readonly string[]): End {
  const { status, stdout } = spawnSync("docker", args, { encoding: "utf8", timeout: LIMIT_MS });
  return { code: status, out: stdout.trim() };
}

/** A shell line inside, as hermes; its stdout. */
function sh(id: string, line: string): string {
  const { code, out } = docker("exec", "--user", "hermes", id, "sh", "-c", line);
  if (code !== 0) throw new Error(`${line}: exit ${code}: ${out}`);
  return out;
}

/** Milliseconds that a line takes inside, without the engine's own part. */
const timed = (id: string, line: string): number =>
  Number(sh(id, `s=$(date +%s%N); ${line}; e=$(date +%s%N); echo $(((e - s) / 1000000))`));

const waitReady = (slot: string, not = "none"): string =>
  `n=0; until set -- $(/command/s6-svstat -o ready,pid /run/service/${slot}); [ "$1" = true ] && [ "$2" != ${not} ]; do n=$((n + 1)); [ $n -lt 20000 ] || exit 1; done`;

export async function gateways(): Promise<void> {
  if (docker("image", "inspect", IMAGE).code !== 0) {
    console.log(`skipped: no engine, or no image ${IMAGE}`);
    return;
  }
  const open = ["--env", "HERMES_DASHBOARD=1", "--env", "HERMES_DASHBOARD_INSECURE=1"];
  const { out: id } = docker("run", "--detach", ...open, IMAGE, "gateway", "run");
  try {
    sh(id, waitReady("gateway-default"));
    sh(id, waitReady("dashboard"));
    killed(id);
    memory(id);
    register(id);
    boot(id);
  } finally {
    docker("rm", "--force", "--volumes", id);
  }
}

/** Deaths far enough apart are no crash loop: the back-off is taken away, as an explicit start does. */
function killed(id: string): void {
  const times = Array.from({ length: KILLS }, () => {
    const slot = "/run/service/gateway-default";
    sh(id, `rm -f ${slot}/data/backoff`);
    const pid = sh(id, `/command/s6-svstat -o pid ${slot}`);
    // s6 itself lets a second pass after a start before the next one.
    sh(id, "sleep 1.2");
    return timed(id, `kill -9 ${pid}; ${waitReady("gateway-default", pid)}`);
  });
  report("kill -9 of a gateway → ready again", { "median ms": median(times), goal: "<= 600" });
}

function memory(id: string): void {
  for (const name of ["a", "b"]) {
    sh(id, `hermes profile create ${name} --no-alias && hermes -p ${name} gateway start`);
  }
  sh(id, `sleep ${SETTLE_S}`);
  // As the host sees them: a container's root may not look into the memory of another user.
  const rows = docker("top", id, "-eo", "pid,args").out.split("\n");
  const pss = (title: RegExp): readonly number[] =>
    rows.filter((row) => title.test(row)).map((row) => pssMb(Number(row.trim().split(" ")[0])));
  const dashboards = pss(/hermes dashboard$/u);
  const gatewaysMb = pss(/hermes (?:-p \w+ )?gateway run$/u);
  report("idle, one dashboard and three gateways", {
    "dashboard, PSS MB": median(dashboards),
    "a gateway, PSS MB": median(gatewaysMb),
    processes: dashboards.length + gatewaysMb.length,
    "all, PSS MB": [...dashboards, ...gatewaysMb].reduce((sum, mb) => sum + mb, 0),
  });
}

function register(id: string): void {
  const one = timed(id, "hermes profile create p0 --no-alias >/dev/null");
  const many = timed(
    id,
    `for i in $(seq ${PROFILES - 1}); do hermes profile create p$i --no-alias >/dev/null; done`,
  );
  report("profile create, with its slot", {
    "one, ms": one,
    [`${PROFILES - 1} one after the other, ms each`]: many / (PROFILES - 1),
  });
}

function boot(id: string): void {
  const started = performance.now();
  docker("restart", id);
  const back = performance.now() - started;
  const all = `n=0; until [ $(ls -d /run/service/gateway-*/supervise/control 2>/dev/null | wc -l) -ge ${PROFILES + 3} ]; do n=$((n + 1)); [ $n -lt 20000 ] || exit 1; done`;
  sh(id, all);
  sh(id, waitReady("gateway-default"));
  report(`docker restart with ${PROFILES + 3} profiles`, {
    "the engine's part, ms": back,
    "until all are supervised and the default is ready, ms": performance.now() - started,
  });
}
