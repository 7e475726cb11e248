// A root home whose gateways real s6 supervises, under a temporary directory and as a user who is not root.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { otherUid } from "./as-other-user.ts";
import { LAUNCHER, startCli, type CliProcess, type CliResult } from "./cli.ts";
import { tempDir } from "./temp-dir.ts";
import { until } from "./until.ts";

export interface S6Home {
  readonly home: string;
  readonly scandir: string;
  start(...args: string[]): CliProcess;
  run(...args: string[]): Promise<CliResult>;
}

/** The reason to skip; null where s6 is installed. */
export const noS6: string | null = existsSync("/usr/bin/s6-svscan") ? null : "s6 is not installed";

export async function openS6Home(t: TestContext): Promise<S6Home> {
  let tree: ChildProcess | null = null;
  let scandir = "";
  // Before the directory's own removal: hooks run in the order in which they were set.
  t.after(() => endTree(tree, scandir));
  const folder = tempDir(t, "hermes-s6");
  scandir = join(folder, "scan");
  const uid = otherUid ?? 0;
  chmodSync(folder, 0o755);
  for (const name of ["scan", "home", "bin"]) {
    mkdirSync(join(folder, name));
    chownSync(join(folder, name), uid, uid);
  }
  const words = [process.execPath, "--conditions=hermes-source", LAUNCHER];
  const shim = `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(" ")} "$@"\n`;
  writeFileSync(join(folder, "bin", "hermes"), shim, { mode: 0o755 });
  const home = join(folder, "home");
  const env = {
    PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`,
    HERMES_SCANDIR: scandir,
  };
  tree = spawn("s6-svscan", ["-c", "100", scandir], {
    env: { ...env, HOME: home, HERMES_HOME: home, LANG: "C.UTF-8", TZ: "UTC" },
    stdio: "ignore",
    uid,
    gid: uid,
  });
  await until("s6 looks at its directory", () =>
    existsSync(join(scandir, ".s6-svscan", "control")),
  );
  const start: S6Home["start"] = (...args) => startCli(args, { home, env, uid });
  return { home, scandir, start, run: (...args) => start(...args).ended };
}

/** TERM to all slots, then their supervisors and their parent end. */
async function endTree(tree: ChildProcess | null, scandir: string): Promise<void> {
  if (tree === null || tree.exitCode !== null) return;
  const ended = new Promise((resolve) => tree.once("exit", resolve));
  execFileSync("s6-svscanctl", ["-t", scandir]);
  await ended;
}
