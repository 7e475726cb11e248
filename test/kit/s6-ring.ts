// A scan directory of real s6 under a temporary root, run as a user who is not root, whose slots run a small program instead
// of hermes: what s6, the scripts of slots and the manager do, without waiting for a gateway.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { ServiceManager, SlotSpec } from "#supervisor/port.ts";
import { createS6Manager } from "#supervisor/s6/manager.ts";
import { type RunTool, runTool } from "#supervisor/s6/tool.ts";
import { judgeSlot } from "#supervisor/services.ts";
import { otherUid } from "./as-other-user.ts";
import { PROJECT } from "./cli.ts";
import { FakeLock } from "./fake-lock.ts";
import { tempDir } from "./temp-dir.ts";
import { until } from "./until.ts";

export interface S6Ring {
  readonly root: string;
  readonly scandir: string;
  readonly manager: ServiceManager;
  readonly tree: ChildProcess;
  /** What the slots sent to the output of the container. */
  output(): string;
  /** How the program of a slot plays from its next start on: see test/fixtures/slot-program.mjs. */
  play(slot: string, how: string): void;
  /** When the program of a slot was started, epoch milliseconds. */
  starts(slot: string): readonly number[];
  /** All lines that its logger kept. */
  kept(slot: string): string;
}

export interface RingOptions {
  /** Logs go to the output, too. */
  readonly tee?: boolean;
  readonly timeoutKillMs?: number;
  readonly ownSlot?: string;
}

const PROGRAM = join(PROJECT, "test", "fixtures", "slot-program.mjs");
const LIBEXEC = join(PROJECT, "docker", "rootfs", "opt", "hermes", "libexec");

export const gatewaySpec = (root: string, profile = "default"): SlotSpec => ({
  schema: 1,
  kind: "gateway",
  profile,
  home: root,
  enabled: true,
});

export async function openS6Ring(t: TestContext, options: RingOptions = {}): Promise<S6Ring> {
  let tree: ChildProcess | null = null;
  let scandir = "";
  // Before the directory's own removal: hooks run in the order in which they were set.
  t.after(() => endTree(tree, scandir));
  const folder = tempDir(t, "hermes-ring");
  const uid = otherUid ?? 0;
  chmodSync(folder, 0o755);
  for (const name of ["scan", "home", "bin", "plays"]) {
    mkdirSync(join(folder, name));
    chownSync(join(folder, name), uid, uid);
  }
  scandir = join(folder, "scan");
  const root = join(folder, "home");
  const shim = `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`;
  writeFileSync(join(folder, "bin", "hermes"), shim, { mode: 0o755 });
  if (options.tee) writeFileSync(join(scandir, ".tee"), "");
  tree = spawn("s6-svscan", ["-c", "100", scandir], {
    env: {
      PATH: `${join(folder, "bin")}:/usr/bin:/bin`,
      HERMES_HOME: root,
      PLAYS: join(folder, "plays"),
    },
    stdio: ["ignore", "pipe", "ignore"],
    uid,
    gid: uid,
  });
  let output = "";
  tree.stdout?.setEncoding("utf8").on("data", (text: string) => (output += text));
  await until("s6 looks at its directory", () =>
    existsSync(join(scandir, ".s6-svscan", "control")),
  );
  return {
    root,
    scandir,
    tree,
    manager: createS6Manager({
      kind: "s6-user",
      scandir,
      layout: { libexec: LIBEXEC, timeoutKillMs: options.timeoutKillMs ?? 1000 },
      judge: (facts) => judgeSlot({ root, lock: new FakeLock() }, facts),
      ownSlot: options.ownSlot ?? null,
      run: toolsOf(scandir, uid),
    }),
    output: () => output,
    play: (slot, how) => writeFileSync(join(folder, "plays", slot), how),
    starts: (slot) =>
      readFileSync(join(scandir, slot, "data", "starts"), "utf8")
        .trim()
        .split("\n")
        .map((line) => Number(line.split(" ")[0])),
    kept: (slot) => keptBy(join(root, "logs", "gateways", slot.slice("gateway-".length))),
  };
}

/** Tools run as the user whose slots they are; a suite that is root gives it what it wrote. */
function toolsOf(scandir: string, uid: number): RunTool {
  if (process.getuid?.() !== 0) return runTool;
  const who = ["-u", String(uid), "-g", String(uid), "-G", ""];
  return (name, args, limitMs) => {
    if (name === "s6-svscanctl") {
      for (const entry of readdirSync(scandir, { recursive: true, encoding: "utf8" })) {
        if (!/supervise|event/u.test(entry)) lchownSync(join(scandir, entry), uid, uid);
      }
    }
    return runTool("s6-applyuidgid", [...who, name, ...args], limitMs);
  };
}

function keptBy(folder: string): string {
  // Rotated files carry their time as name, "@…": older ones sort first, `current` is the newest.
  const files = readdirSync(folder).filter((name) => name.startsWith("@") || name === "current");
  return files
    .sort()
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("");
}

async function endTree(tree: ChildProcess | null, scandir: string): Promise<void> {
  if (tree === null || tree.exitCode !== null || tree.signalCode !== null) return;
  const ended = new Promise((resolve) => tree.once("exit", resolve));
  execFileSync("s6-svscanctl", ["-t", scandir]);
  await ended;
}
