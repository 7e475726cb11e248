// A dashboard and a gateway with its API server on real s6, as a user who is not root: where faults are inflicted, and where
// what is true is asked from s6 and from the services' own ports, not from anything that is under test.
import { execFile, type ChildProcess, spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { TestContext } from "node:test";
import { otherUid } from "./as-other-user.ts";
import { type CliResult, LAUNCHER, PROJECT, startCli } from "./cli.ts";
import { freePort } from "./free-port.ts";
import { ask } from "./http.ts";
import { tempDir } from "./temp-dir.ts";
import { until } from "./until.ts";

export const GATEWAY = "gateway-default";
export const DASHBOARD = "dashboard";
/** Dies every ten seconds from the start on. */
export const FLAKY = "gateway-flaky";
/** config.yaml of the ring. */
export const SETTINGS = "model:\n  provider: demo\n  default: demo\n";
export const TOKEN = "local-token-0123456789abcdef";

const KEY = "truth-0123456789abcdef";
const ANSWER_MS = 1000;
const FIELDS = "up,wantedup,ready,pid";

/** As s6 itself says. */
export interface Raw {
  readonly up: boolean;
  readonly wantedUp: boolean;
  readonly ready: boolean;
  readonly pid: number;
  readonly deaths: number;
}

export interface TruthRing {
  readonly home: string;
  readonly scandir: string;
  readonly uid: number;
  readonly dashboardUrl: string;
  readonly gatewayUrl: string;
  readonly gatewayPort: number;
  readonly dashboardPort: number;
  readonly tree: ChildProcess;
  /** How the process of a slot fails from its next start on; null: not at all. */
  play(slot: string, how: string | null): void;
  /** Every hermes sees the clock so much off. */
  shiftClock(ms: number): void;
  run(...args: string[]): Promise<CliResult>;
  raw(slot: string): Promise<Raw>;
  tool(name: string, ...args: string[]): Promise<string>;
  /** Does a real request to this service succeed? */
  answers(slot: typeof GATEWAY | typeof DASHBOARD): Promise<boolean>;
  /** Waits until s6 says ready, with another process than `not`, and a real request succeeds. */
  up(slot: typeof GATEWAY | typeof DASHBOARD, not?: number): Promise<number>;
}

export async function openTruthRing(
  t: TestContext,
  { dashboard = true, webDist }: { readonly dashboard?: boolean; readonly webDist?: string } = {},
): Promise<TruthRing> {
  let end = async (): Promise<unknown> => null;
  // Before the directory's own removal: hooks run in the order in which they were set.
  t.after(() => end());
  const folder = tempDir(t, "hermes-truth");
  const uid = otherUid ?? 0;
  if (webDist !== undefined) chmodSync(webDist, 0o755);
  chmodSync(folder, 0o755);
  for (const name of ["scan", "home", "plays", "compiled"]) {
    mkdirSync(join(folder, name));
    chownSync(join(folder, name), uid, uid);
  }
  const [home, scandir, plays] = ["home", "scan", "plays"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const [gatewayPort, dashboardPort] = [await freePort(), await freePort()];
  const dotEnv = `API_SERVER_KEY=${KEY}\nAPI_SERVER_PORT=${gatewayPort}\n`;
  writeFileSync(join(home, ".env"), dotEnv, { mode: 0o600 });
  chownSync(join(home, ".env"), uid, uid);
  writeFileSync(join(home, "config.yaml"), SETTINGS);
  writeFileSync(join(home, "gateway_desired.json"), '{"schema":1,"desired":"running"}');
  for (const name of ["config.yaml", "gateway_desired.json"]) chownSync(join(home, name), uid, uid);
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    HERMES_HOME: home,
    HERMES_SCANDIR: scandir,
    HERMES_DASHBOARD: dashboard ? "1" : "0",
    HERMES_DASHBOARD_HOST: "127.0.0.1",
    HERMES_DASHBOARD_PORT: String(dashboardPort),
    HERMES_DASHBOARD_SESSION_TOKEN: TOKEN,
    ...(webDist === undefined ? {} : { HERMES_WEB_DIST: webDist }),
    NODE_OPTIONS: `--import=${pathToFileURL(join(PROJECT, "test/fixtures/fault-play.mjs")).href}`,
    PLAYS: plays,
    // Dozens of programs are started: the second one of each kind costs half.
    NODE_COMPILE_CACHE: join(folder, "compiled"),
    LANG: "C.UTF-8",
    TZ: "UTC",
  };
  const tree = spawn(process.execPath, ["--conditions=hermes-source", LAUNCHER, "supervise"], {
    env,
    uid,
    gid: uid,
    cwd: "/",
    stdio: ["ignore", "ignore", "inherit"],
  });
  end = () => endTree(tree, scandir, uid);
  const tool: TruthRing["tool"] = (name, ...args) =>
    new Promise((resolve) => {
      // Not as root: s6-svdt makes the tally that is not there yet, and its supervisor could not write it.
      const options = { encoding: "utf8", timeout: 5000, uid, gid: uid, cwd: "/" } as const;
      execFile(name, args, options, (_, stdout) => resolve(stdout));
    });
  const urls = {
    [GATEWAY]: `http://127.0.0.1:${gatewayPort}/v1/models`,
    [DASHBOARD]: `http://127.0.0.1:${dashboardPort}/api/health`,
  };
  const raw: TruthRing["raw"] = async (slot) => {
    const dir = join(scandir, slot);
    const [words, deaths] = await Promise.all([
      tool("s6-svstat", "-o", FIELDS, dir),
      tool("s6-svdt", dir),
    ]);
    const [isUp, wantedUp, ready, pid] = words.trim().split(" ");
    return {
      up: isUp === "true",
      wantedUp: wantedUp === "true",
      ready: ready === "true",
      pid: Number(pid),
      deaths: deaths.split("\n").filter((line) => line !== "").length,
    };
  };
  const answers: TruthRing["answers"] = async (slot) => {
    const headers = { authorization: `Bearer ${KEY}` };
    const answer = ask(urls[slot], { headers }).then(
      ({ status }) => status === 200,
      () => false,
    );
    const late = new Promise<boolean>((resolve) => {
      setTimeout(() => resolve(false), ANSWER_MS).unref();
    });
    return Promise.race([answer, late]);
  };
  return {
    home,
    scandir,
    uid,
    tree,
    gatewayPort,
    dashboardPort,
    gatewayUrl: urls[GATEWAY],
    dashboardUrl: `http://127.0.0.1:${dashboardPort}`,
    play(slot, how) {
      if (how === null) rmSync(join(plays, slot), { force: true });
      else writeFileSync(join(plays, slot), how);
    },
    shiftClock: (ms) => writeFileSync(join(plays, "clock"), String(ms)),
    run: (...args) => startCli(args, { home, env, uid, cwd: "/" }).ended,
    raw,
    tool,
    answers,
    up: (slot, not = 0) =>
      until(
        `${slot} is up`,
        async () => {
          const { ready, pid } = await raw(slot);
          return ready && pid !== not && (await answers(slot)) ? pid : null;
        },
        30_000,
      ),
  };
}

/** TERM ends the slots, then their supervisors; where s6-svscan was killed they are ended one by one. */
async function endTree(tree: ChildProcess, scandir: string, uid: number): Promise<void> {
  if (tree.exitCode === null && tree.signalCode === null) {
    const ended = new Promise((resolve) => tree.once("exit", resolve));
    tree.kill("SIGTERM");
    await ended;
    return;
  }
  const run = (name: string, ...args: string[]): Promise<unknown> =>
    new Promise((resolve) => {
      execFile(name, args, { timeout: 5000, uid, gid: uid, cwd: "/" }, resolve);
    });
  for (const slot of [GATEWAY, DASHBOARD, FLAKY]) {
    const dir = join(scandir, slot);
    await run("s6-svc", "-xd", "-wD", "-T", "4000", dir);
    await run("s6-svc", "-xd", join(dir, "log"));
  }
}
