// Faults of the truth matrix (issue 5): how each is inflicted on a service, and what is true then.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, chownSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { processStartTime } from "#base/process-identity.ts";
import { PROJECT } from "./cli.ts";
import type { Fault } from "./truth-matrix.ts";
import type { Truth } from "./truth-observers.ts";
import { DASHBOARD, FLAKY, GATEWAY, SETTINGS, type TruthRing } from "./truth-ring.ts";
import { until } from "./until.ts";

export const WELL: Truth = {
  gateway: "ready",
  dashboard: "ready",
  word: "running",
  healthy: true,
};
const REFUSED = "terminal:\n  backend: docker\n";
const DAY_MS = 86_400_000;

const kill = async (ring: TruthRing, slot: string, signal: NodeJS.Signals): Promise<number> => {
  const { pid } = await ring.raw(slot);
  assert.ok(pid > 0, `${slot} runs`);
  process.kill(pid, signal);
  return pid;
};

/** What runs dies, and from now on starts like this; returns after so many deaths in all. */
const crash =
  (slot: string, how: string | null, deaths: number) =>
  async (ring: TruthRing): Promise<void> => {
    ring.play(slot, how);
    const before = (await ring.raw(slot)).deaths;
    await kill(ring, slot, "SIGKILL");
    await until(
      `${slot} died ${deaths} times`,
      async () => (await ring.raw(slot)).deaths >= before + deaths,
      30_000,
    );
  };

const file = (ring: TruthRing, name: string, content: string): void => {
  const path = join(ring.home, name);
  rmSync(path, { force: true, recursive: true });
  writeFileSync(path, content);
  chownSync(path, ring.uid, ring.uid);
};

/** Programs and listeners of a fault, ended by its undo. */
let helper: ChildProcess | Server | null = null;

export function endHelper(): void {
  if (helper !== null && "kill" in helper) helper.kill("SIGKILL");
  else helper?.close();
  helper = null;
}

/** A live process that is no gateway of ours. */
function foreign(): { readonly pid: number; readonly start_time: string | null } {
  helper = spawn("sleep", ["120"], { stdio: "ignore" });
  const pid = helper.pid ?? 0;
  return { pid, start_time: processStartTime(pid) };
}

/** Somebody else listens there. */
async function occupy(port: number): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  helper = server;
  await until(
    "the port is free",
    () =>
      new Promise<boolean>((resolve) => {
        server.once("error", () => resolve(false));
        server.listen(port, "127.0.0.1", () => resolve(true));
      }),
  );
}

export const FAULTS: readonly Fault[] = [
  { name: "nothing wrong", inflict: async () => undefined, truth: WELL, heals: true },
  {
    name: "clean stop",
    async inflict(ring) {
      assert.equal((await ring.run("gateway", "stop")).code, 0);
    },
    truth: { ...WELL, gateway: "stopped", word: "stopped" },
  },
  {
    name: "killed, not back yet",
    inflict: crash(GATEWAY, "hang", 1),
    truth: { ...WELL, gateway: "starting", word: "starting", healthy: false },
  },
  {
    name: "kill -9 of the process",
    async inflict(ring) {
      await ring.up(GATEWAY, await kill(ring, GATEWAY, "SIGKILL"));
    },
    truth: WELL,
  },
  {
    name: "crash at start",
    inflict: crash(GATEWAY, "exit 3", 3),
    truth: { ...WELL, gateway: "crash-looping", word: "startup_failed", healthy: false },
  },
  {
    name: "crash after 300 ms",
    inflict: crash(GATEWAY, "exit 3 300", 3),
    truth: { ...WELL, gateway: "crash-looping", word: "startup_failed", healthy: false },
  },
  {
    name: "hang before ready",
    async inflict(ring) {
      ring.play(GATEWAY, "hang");
      const pid = await kill(ring, GATEWAY, "SIGTERM");
      await until("it hangs", async () => {
        const now = await ring.raw(GATEWAY);
        return now.up && now.pid !== pid;
      });
    },
    truth: { ...WELL, gateway: "starting", word: "starting", healthy: false },
  },
  {
    name: "hang after ready",
    async inflict(ring) {
      await kill(ring, GATEWAY, "SIGSTOP");
    },
    truth: { ...WELL, gateway: "unknown", word: null, healthy: false },
    heals: true,
    async undo(ring) {
      await kill(ring, GATEWAY, "SIGCONT");
    },
  },
  {
    name: "the dashboard hangs after ready",
    async inflict(ring) {
      await kill(ring, DASHBOARD, "SIGSTOP");
    },
    truth: { ...WELL, dashboard: "unknown" },
    heals: true,
    async undo(ring) {
      await kill(ring, DASHBOARD, "SIGCONT");
    },
  },
  {
    name: "kill -9 of its supervisor",
    async inflict(ring) {
      const { pid } = await ring.raw(GATEWAY);
      process.kill(parentOf(pid), "SIGKILL");
      await ring.up(GATEWAY, pid);
    },
    truth: WELL,
  },
  {
    name: "port taken",
    async inflict(ring) {
      ring.play(GATEWAY, "hang");
      const pid = await kill(ring, GATEWAY, "SIGKILL");
      await occupy(ring.gatewayPort);
      ring.play(GATEWAY, null);
      await until("the one that hangs is there", async () => {
        const now = await ring.raw(GATEWAY);
        return now.pid > 0 && now.pid !== pid;
      });
      const next = await kill(ring, GATEWAY, "SIGKILL");
      await until(
        "it runs without its port",
        async () => {
          const now = await ring.raw(GATEWAY);
          return now.ready && now.pid !== next;
        },
        30_000,
      );
    },
    truth: { ...WELL, gateway: "degraded", word: "degraded" },
    undo: endHelper,
  },
  {
    name: "a refused configuration is written, while it runs",
    inflict: async (ring) => file(ring, "config.yaml", REFUSED),
    truth: WELL,
    heals: true,
    undo: (ring) => file(ring, "config.yaml", SETTINGS),
  },
  {
    name: "config refused",
    async inflict(ring) {
      file(ring, "config.yaml", REFUSED);
      await kill(ring, GATEWAY, "SIGTERM");
      await until("it is down", async () => !(await ring.raw(GATEWAY)).wantedUp);
    },
    truth: { ...WELL, gateway: "refused", word: "startup_failed", healthy: false },
    undo: (ring) => file(ring, "config.yaml", SETTINGS),
  },
  {
    name: "home unreadable, while it runs",
    async inflict({ home }) {
      chmodSync(home, 0o000);
    },
    truth: WELL,
    heals: true,
    undo: ({ home }) => chmodSync(home, 0o755),
  },
  {
    name: "home unreadable at a start",
    async inflict(ring) {
      chmodSync(ring.home, 0o000);
      await kill(ring, GATEWAY, "SIGTERM");
      await until("it is down", async () => !(await ring.raw(GATEWAY)).wantedUp);
    },
    truth: { ...WELL, gateway: "refused", word: "startup_failed", healthy: false },
    undo: ({ home }) => chmodSync(home, 0o755),
  },
  {
    name: "the clock jumps a day ahead",
    inflict: async (ring) => ring.shiftClock(DAY_MS),
    truth: WELL,
    heals: true,
  },
  {
    name: "the clock jumps a day back",
    inflict: async (ring) => ring.shiftClock(-DAY_MS),
    truth: WELL,
    heals: true,
  },
  {
    name: "crashes while the clock jumps",
    async inflict(ring) {
      await crash(GATEWAY, "exit 3", 3)(ring);
      ring.shiftClock(DAY_MS);
    },
    truth: { ...WELL, gateway: "crash-looping", word: "startup_failed", healthy: false },
  },
  {
    name: "stale pid file of a live foreign process",
    async inflict(ring) {
      await ring.run("gateway", "stop");
      const record = { ...foreign(), kind: "hermes-gateway", gateway_state: "running" };
      file(ring, "gateway.pid", JSON.stringify(record));
      file(ring, "gateway_state.json", JSON.stringify(record));
    },
    truth: { ...WELL, gateway: "stopped", word: "stopped" },
    undo: endHelper,
  },
  {
    name: "state file from another namespace, while it runs",
    async inflict(ring) {
      const record = { pid: 52, start_time: "1", kind: "hermes-gateway", gateway_state: "stopped" };
      file(ring, "gateway_state.json", JSON.stringify(record));
      file(
        ring,
        "gateway.pid",
        JSON.stringify({ ...record, host: "elsewhere", home: "/opt/data" }),
      );
    },
    truth: WELL,
  },
  {
    name: "pid file removed, while it runs",
    async inflict({ home }) {
      rmSync(join(home, "gateway.pid"), { force: true });
      rmSync(join(home, "gateway_state.json"), { force: true });
    },
    truth: WELL,
  },
  {
    name: "held by a gateway of another host",
    async inflict(ring) {
      await ring.run("gateway", "stop");
      const holder = spawn(
        process.execPath,
        [
          "--conditions=hermes-source",
          join(PROJECT, "test", "fixtures", "lock-holder.ts"),
          join(ring.home, "gateway.lock"),
        ],
        { uid: ring.uid, gid: ring.uid, cwd: PROJECT, stdio: ["pipe", "pipe", "inherit"] },
      );
      helper = holder;
      let said = "";
      holder.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
      await until("the home is held", () => said.includes("held"));
      const record = { pid: 7, start_time: "1", kind: "hermes-gateway", gateway_state: "running" };
      file(ring, "gateway.pid", JSON.stringify({ ...record, host: "elsewhere", home: ring.home }));
      file(ring, "gateway_state.json", JSON.stringify(record));
    },
    truth: { ...WELL, gateway: "unknown", word: null },
    undo: endHelper,
  },
  {
    name: "wanted down but running",
    async inflict(ring) {
      ring.play(GATEWAY, "stay");
      await ring.up(GATEWAY, await kill(ring, GATEWAY, "SIGKILL"));
      await ring.tool("s6-svc", "-d", join(ring.scandir, GATEWAY));
      await until("s6 was told", async () => !(await ring.raw(GATEWAY)).wantedUp);
    },
    truth: { ...WELL, gateway: "stopping", word: "draining", healthy: false },
  },
  {
    name: "desired stopped in the file only, while it runs",
    inflict: async (ring) => file(ring, "gateway_desired.json", '{"schema":1,"desired":"stopped"}'),
    truth: WELL,
  },
  {
    name: "zombie: it died, and its supervisor does not see it",
    async inflict(ring) {
      const { pid } = await ring.raw(GATEWAY);
      const supervisor = parentOf(pid);
      process.kill(supervisor, "SIGSTOP");
      stopped = supervisor;
      process.kill(pid, "SIGKILL");
      await until("it is a zombie", () => / Z /u.test(statOf(pid)));
    },
    truth: { ...WELL, gateway: "unknown", word: null, healthy: false },
    undo() {
      process.kill(stopped, "SIGCONT");
    },
  },
  {
    name: "the dashboard crashes at start",
    inflict: crash(DASHBOARD, "exit 3", 3),
    truth: { ...WELL, dashboard: "crash-looping" },
  },
  {
    name: "the dashboard's port taken",
    async inflict(ring) {
      ring.play(DASHBOARD, "hang");
      const pid = await kill(ring, DASHBOARD, "SIGKILL");
      await occupy(ring.dashboardPort);
      await until("the one that hangs is there", async () => {
        const now = await ring.raw(DASHBOARD);
        return now.pid > 0 && now.pid !== pid;
      });
      await crash(DASHBOARD, null, 3)(ring);
    },
    truth: { ...WELL, dashboard: "crash-looping" },
    undo: endHelper,
  },
  {
    name: "the dashboard refused: beyond loopback without a provider",
    async inflict(ring) {
      ring.play(DASHBOARD, "env HERMES_DASHBOARD_HOST 0.0.0.0");
      await kill(ring, DASHBOARD, "SIGTERM");
      await until("it is down", async () => !(await ring.raw(DASHBOARD)).wantedUp, 20_000);
    },
    truth: { ...WELL, dashboard: "refused" },
  },
  {
    name: "crash every 10 s, and up again in between",
    subject: FLAKY,
    inflict: (ring) =>
      until(
        "it died three times, and runs",
        async () => {
          const now = await ring.raw(FLAKY);
          return now.deaths >= 3 && now.ready;
        },
        60_000,
      ).then(() => undefined),
    truth: { ...WELL, gateway: "crash-looping", word: "startup_failed" },
    heals: true,
  },
  {
    name: "kill -9 of the s6-svscan of all slots, which nobody starts again",
    async inflict({ tree }) {
      const ended = new Promise((resolve) => tree.once("exit", resolve));
      tree.kill("SIGKILL");
      await ended;
    },
    truth: WELL,
    isLast: true,
  },
];

/** Pid of a supervisor that a fault stopped. */
let stopped = 0;

const statOf = (pid: number): string => readFileSync(`/proc/${pid}/stat`, "utf8");
/** Field 4 of /proc/<pid>/stat, after the name in parentheses. */
const parentOf = (pid: number): number =>
  Number(
    statOf(pid)
      .replace(/^.*\) /u, "")
      .split(" ")[1],
  );
