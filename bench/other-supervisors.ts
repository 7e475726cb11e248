// The same faults under pm2 and supervisord: what they say, beside what a request says. pm2 comes from npm into a temporary folder,
// supervisord from the system; one that is not there is skipped by name. All traffic on loopback, everything ends by itself.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NODE } from "./measure.ts";

const PM2 = "pm2@7.0.4";
const SETTLE_MS = 8000;
const FIRST_PORT = 19_310;

/** Argument 1: the fault, argument 2: the port. */
const PROGRAM = `
const [, , fault, port] = process.argv;
const serve = () => require("http").createServer((q, s) => s.end("ok")).on("error", () => process.exit(1)).listen(port, "127.0.0.1");
if (fault === "crash-at-start") process.exit(1);
else if (fault === "refused") process.exit(78);
else if (fault === "hang-before-ready") setInterval(() => {}, 1000);
else {
  serve();
  if (fault === "crash-after-300-ms") setTimeout(() => process.exit(1), 300);
  if (fault === "hang-after-ready") setTimeout(() => process.kill(process.pid, "SIGSTOP"), 1000);
}`;

const FAULTS = [
  "none",
  "crash-at-start",
  "crash-after-300-ms",
  "hang-before-ready",
  "hang-after-ready",
  "refused",
  "port-taken",
] as const;

export async function otherSupervisors(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-others-"));
  const program = join(folder, "program.cjs");
  writeFileSync(program, PROGRAM);
  try {
    await compare("pm2", () => underPm2(folder, program));
    await compare("supervisord", () => underSupervisord(folder, program));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Under {
  /** What it says of a fault's program. */
  says(fault: string): string;
  end(): void;
}

const portOf = (fault: string): number => FIRST_PORT + FAULTS.findIndex((name) => name === fault);

async function compare(name: string, open: () => Under | string): Promise<void> {
  const holder = createServer((socket) => socket.destroy()).listen(
    portOf("port-taken"),
    "127.0.0.1",
  );
  const under = open();
  if (typeof under === "string") {
    console.log(`skipped: ${name}: ${under}`);
    holder.close();
    return;
  }
  try {
    await new Promise((resolve) => {
      setTimeout(resolve, SETTLE_MS);
    });
    for (const fault of FAULTS) {
      const answers = await fetch(`http://127.0.0.1:${portOf(fault)}/`, {
        signal: AbortSignal.timeout(1000),
      }).then(
        (answer) => answer.ok,
        () => false,
      );
      console.log(
        `${name}, ${fault}: says ${under.says(fault)}; a request ${answers ? "succeeds" : "fails"}`,
      );
    }
  } finally {
    under.end();
    holder.close();
  }
}

function underPm2(folder: string, program: string): Under | string {
  const at = join(folder, "pm2");
  const made = spawnSync("npm", ["install", "--prefix", at, "--no-audit", "--no-fund", PM2], {
    encoding: "utf8",
    timeout: 120_000,
  });
  if (made.status !== 0) return `${PM2} does not install here`;
  const env = { ...process.env, PM2_HOME: join(folder, "pm2-home") };
  const pm2 = (...words: readonly string[]): string =>
    spawnSync(NODE, [join(at, "node_modules", "pm2", "bin", "pm2"), ...words], {
      encoding: "utf8",
      env,
      timeout: 60_000,
    }).stdout;
  for (const fault of FAULTS) {
    pm2(
      "start",
      program,
      "--name",
      fault,
      "--interpreter",
      NODE,
      "--",
      fault,
      String(portOf(fault)),
    );
  }
  return {
    says(fault) {
      const list = JSON.parse(/\[\{.*\]/su.exec(pm2("jlist"))?.[0] ?? "[]") as {
        name: string;
        pm2_env: { status: string; restart_time: number };
      }[];
      const found = list.find(({ name }) => name === fault)?.pm2_env;
      return found ? `${found.status} (${found.restart_time} restarts)` : "nothing";
    },
    end: () => void pm2("kill"),
  };
}

function underSupervisord(folder: string, program: string): Under | string {
  if (spawnSync("supervisord", ["--version"]).status !== 0) return "supervisord is not installed";
  const settings = join(folder, "supervisord.conf");
  const socket = join(folder, "supervisor.sock");
  const programs = FAULTS.map(
    (fault) =>
      `[program:${fault}]\ncommand=${NODE} ${program} ${fault} ${portOf(fault)}\nautorestart=true\n`,
  );
  writeFileSync(
    settings,
    `[supervisord]\nlogfile=${folder}/log\npidfile=${folder}/pid\nchildlogdir=${folder}\n[unix_http_server]\nfile=${socket}\n` +
      "[rpcinterface:supervisor]\nsupervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface\n" +
      `[supervisorctl]\nserverurl=unix://${socket}\n${programs.join("")}`,
  );
  const started = spawnSync("supervisord", ["-c", settings], { encoding: "utf8", timeout: 30_000 });
  if (started.status !== 0) return `supervisord does not start: ${started.stderr}`;
  const control = (...words: readonly string[]): string =>
    spawnSync("supervisorctl", ["-c", settings, ...words], { encoding: "utf8", timeout: 60_000 })
      .stdout;
  return {
    says: (fault) => control("status", fault).trim().split(/\s+/u)[1] ?? "nothing",
    end() {
      // Stopped programs do not obey TERM.
      spawnSync("pkill", ["-KILL", "-f", program]);
      control("shutdown");
    },
  };
}
