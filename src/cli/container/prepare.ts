// `hermes container prepare [--not-pid-1] -- WORDS`: wires setup to this system (container.md §3).
import { spawnSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "#base/clock.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import { CONFIG_VERSION } from "#config/seed.ts";
import { wordsAfterDashes } from "#container/command-file.ts";
import { prepare } from "#container/prepare.ts";
import { GATEWAY_LOCK } from "#supervisor/services.ts";
import { libexecOf, scandirOf } from "#supervisor/open.ts";
import { flagOption, type Context } from "../context.ts";
import { readVersion } from "../version.ts";
import { classify, isCommand } from "./classify.ts";
import { readConfigText, readDrainSeconds } from "./drain.ts";
import { hideSecrets } from "./hide-secrets.ts";
import { isProgram } from "./program.ts";

const HOOK_LIMIT_MS = 300_000;

export async function runPrepare({ launch, line }: Context): Promise<ExitCode> {
  const { env, home: root } = launch;
  const base = env["HERMES_PID1_BASE"] ?? "";
  if (base === "") {
    throw new HermesError("NOT_IN_BOOT", "Setup is run by the image's /init.", {
      exit: EXIT.usage,
      setting: "HERMES_PID1_BASE",
      fix: "Start a container; to register services later: hermes container reconcile",
    });
  }
  return prepare({
    env,
    paths: {
      base,
      runtime: "/run/hermes",
      scandir: scandirOf({ env, root, project: launch.project }),
      passwd: "/etc/passwd",
      group: "/etc/group",
      hooks: "/etc/hermes/boot.d",
      libexec: libexecOf(launch),
      compiled: join(launch.project, "dist", "compiled"),
      sockets: ["/var/run/docker.sock", "/run/docker.sock"],
    },
    words: wordsAfterDashes(readFileSync("/proc/self/cmdline")),
    cwd: Buffer.from(process.cwd(), "utf8").toString("latin1"),
    supervised: !flagOption(line.options, "notPid1"),
    version: readVersion(launch.project).version,
    isProgram: (word) => isProgram(word, env["PATH"]),
    isCommand,
    classify,
    async openLock() {
      const { createProcessLock } = await import("#store/process-lock.ts");
      return createProcessLock();
    },
    async migrate(home, lock) {
      if (isCurrent(home) || lock.isHeld(join(home, GATEWAY_LOCK))) return null;
      const { migrateConfig } = await import("#config/migrate.ts");
      const done = await migrateConfig({ home, lock, clock: systemClock }, false);
      if (done.outcome === "failed")
        return { ok: false, text: `config.yaml was not migrated: ${done.message}` };
      if (done.outcome !== "migrated") return null;
      const copies = done.backups.join(", ");
      const text = `config.yaml was migrated from version ${done.from} to ${done.to}; copies: ${copies}`;
      return { ok: true, text };
    },
    runHook: (path) =>
      spawnSync(path, { stdio: ["ignore", 2, 2], timeout: HOOK_LIMIT_MS }).status ?? EXIT.failed,
    drainSeconds: readDrainSeconds,
    hide: (words) => hideSecrets(words, env),
  });
}

/** A glance that spares most boots the parser: the file names this version, or there is none. */
function isCurrent(home: string): boolean {
  const path = join(home, "config.yaml");
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return true;
  const version = new RegExp(`^_config_version: ${CONFIG_VERSION}\\s*$`, "mu");
  return version.test(readConfigText(home));
}
