// `hermes supervise` (container.md §2.6): reconciles as at boot, then becomes the s6-svscan of the slots.
import { accessSync, constants } from "node:fs";
import { join } from "node:path";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import { rootOf } from "#config/homes.ts";
import { putProgram } from "../container/own-program.ts";
import type { Context } from "../context.ts";

const SLOTS = "4096";

export async function run({ launch, io }: Context): Promise<ExitCode> {
  const { env, project } = launch;
  const root = rootOf(launch.home);
  const { readContainerEnv } = await import("#container/environment.ts");
  const { reconcileAtBoot } = await import("#container/reconcile.ts");
  const { createBootLog } = await import("#container/boot-log.ts");
  const { stopLimits } = await import("#container/command-file.ts");
  const { createProcessLock } = await import("#store/process-lock.ts");
  const { detectManager, systemReaders } = await import("#supervisor/detect.ts");
  const { isImage, libexecOf, scandirOf } = await import("#supervisor/open.ts");
  const { ensureHome } = await import("../compose.ts");
  if (process.getuid?.() === 0) throw asRoot();
  const svscan = findProgram("s6-svscan", env["PATH"]);
  const scandir = scandirOf({ env, root, project });
  const kind = detectManager(systemReaders(env), scandir);
  if (kind === "s6" || kind === "s6-user") throw runsAlready(scandir);
  await ensureHome({ ...launch, home: root });
  const settings = readContainerEnv({ ...env, HERMES_HOME: root });
  const log = createBootLog(settings.bootLog);
  for (const notice of settings.notices) log.warn(notice);
  const { timeoutKillMs } = stopLimits(settings.stopGrace);
  reconcileAtBoot({
    role: "supervise",
    supervised: true,
    profile: "default",
    root,
    dashboard: settings.dashboard,
    gatewayProfiles: settings.gatewayProfiles,
    scandir,
    layout: { libexec: libexecOf(launch), timeoutKillMs },
    tee: !process.stdout.isTTY && !settings.noTee,
    lock: createProcessLock(),
    log,
    now: () => new Date(),
  });
  io.note(`hermes: supervising ${scandir}; TERM stops every service`);
  const words = [svscan, "-c", SLOTS, scandir];
  const path = isImage(project) ? env["PATH"] : putProgram(scandir, project, env["PATH"]);
  const own = { ...env, PATH: path, HERMES_HOME: root, HERMES_SCANDIR: scandir };
  process.execve?.(svscan, words, own);
  throw new Error("this Node cannot replace itself");
}

function findProgram(name: string, path: string | undefined): string {
  const folders = ["/command", ...(path ?? "").split(":")].filter((folder) => folder !== "");
  for (const folder of folders) {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {
      continue;
    }
  }
  throw new HermesError("NO_S6", `${name} is not installed.`, {
    exit: EXIT.unavailable,
    fix: "Install the packages s6 and execline, or run the container image.",
  });
}

function asRoot(): HermesError {
  return new HermesError(
    "SUPERVISE_ROOT",
    "Services are not supervised as root: they would be root too.",
    {
      exit: EXIT.refused,
      fix: "Run it as the user that the home belongs to.",
    },
  );
}

function runsAlready(scandir: string): HermesError {
  return new HermesError("SUPERVISED", `${scandir} is supervised already.`, {
    exit: EXIT.refused,
    fix: "Use that one: hermes gateway list",
  });
}
