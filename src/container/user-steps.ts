// Steps H0 to H10 (container.md §3): the volume and the slots, as the user hermes.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { EXIT } from "#base/exit-codes.ts";
import { HermesError, messageOf } from "#base/errors.ts";
import type { HeldLock, ProcessLock } from "#base/process-lock.ts";
import { isatty } from "node:tty";
import type { Role } from "./boot-record.ts";
import { type Boot, timed } from "./boot.ts";
import { BOOT_RECORD_NAME, writeBootRecord } from "./boot-record.ts";
import { stopLimits } from "./command-file.ts";
import type { ProfileLine } from "./boot-log.ts";
import type { Plan } from "./plan-slots.ts";
import type { DesiredRecord } from "#supervisor/service-files.ts";
import { reconcileAtBoot } from "./reconcile.ts";
import type { Routing } from "./route.ts";
import {
  dropStaleMethod,
  makeFolders,
  probeVolume,
  seedAuth,
  seedFiles,
  seedGatewayState,
} from "./volume.ts";

const LOCK_WAIT_MS = 15_000;
const LOCK_STEP_MS = 50;

export async function userSteps(boot: Boot): Promise<void> {
  const { deps, env, log, routing } = boot;
  const { home } = env;
  const started = new Date();
  await timed(boot, "H0", () => recordBoot(boot, started));
  await timed(boot, "H1", () => probeVolume(home));
  const lock = await deps.openLock();
  const held = await timed(boot, "H1", () => takeSetupLock(home, lock));
  try {
    await timed(boot, "H2", () => makeFolders(env, log));
    await timed(boot, "H3", () => dropStaleMethod(home, log));
    await timed(boot, "H4", () => seedFiles(home, log));
    await timed(boot, "H5", () => seedAuth(home, deps.env, log));
    await timed(boot, "H6", () => seedGatewayState(env, log));
    if (!env.skipMigration) await timed(boot, "H7", () => migrate(boot, lock));
    // H8, skills of the image, comes with the skills themselves.
    await warnOfDrain(boot);
    // Behind another init the command `supervise` does it itself, as its first act.
    const isOwnAct = routing.role === "supervise" && !deps.supervised;
    if (!isOwnAct) await timed(boot, "H9", () => reconcile(boot, lock));
    await timed(boot, "H10", () => recordBoot(boot, started));
  } finally {
    held.release();
  }
}

/** `boot.json` before the volume is touched, and whole at the end. Throws BOOT_RECORD (1). */
function recordBoot({ deps, env, routing, log, steps }: Boot, started: Date): void {
  try {
    mkdirSync(deps.paths.runtime, { recursive: true, mode: 0o755 });
    writeBootRecord(join(deps.paths.runtime, BOOT_RECORD_NAME), {
      schema: 1,
      at: started.toISOString(),
      role: routing.role,
      profile: routing.profile,
      argv: deps.hide(deps.words.map((word) => Buffer.from(word, "latin1").toString("utf8"))),
      version: deps.version,
      node: process.version,
      uid: process.getuid?.() ?? 0,
      gid: process.getgid?.() ?? 0,
      stop_grace: env.stopGrace,
      supervised: deps.supervised,
      notices: env.notices,
      warnings: log.warnings,
      steps,
    });
  } catch (error) {
    throw new HermesError(
      "BOOT_RECORD",
      `${deps.paths.runtime} cannot be written: ${messageOf(error)}.`,
      {
        fix: "Add --tmpfs /run (Kubernetes: an emptyDir on /run).",
      },
    );
  }
}

/** Two containers that start on one volume set it up one after the other. Throws SETUP_LOCKED (1) naming the holder. */
async function takeSetupLock(home: string, lock: ProcessLock): Promise<HeldLock> {
  const path = join(home, "setup.lock");
  const end = performance.now() + LOCK_WAIT_MS;
  for (;;) {
    const attempt = lock.take(path, "setup");
    if (attempt.held) return attempt.lock;
    if (performance.now() >= end) {
      const { pid, host } = attempt.holder ?? {};
      throw new HermesError(
        "SETUP_LOCKED",
        `${home} is being set up by another container (pid ${pid ?? "unknown"} on ${host ?? "unknown"}).`,
        { fix: "Start this one when that one is up, or give it a volume of its own." },
      );
    }
    await new Promise((resolve) => {
      setTimeout(resolve, LOCK_STEP_MS);
    });
  }
}

async function migrate({ deps, env, log }: Boot, lock: ProcessLock): Promise<void> {
  const done = await deps.migrate(env.home, lock);
  if (done === null) return;
  if (done.ok) log.info(done.text);
  else log.warn(done.text);
}

/** Turns that outlast the runtime's patience are cut off (container.md §2.5, field-rules E04). */
async function warnOfDrain({ deps, env, log }: Boot): Promise<void> {
  const drain = await deps.drainSeconds(env.home);
  const room = stopLimits(env.stopGrace).timeoutKillMs / 1000 - DRAIN_MARGIN;
  if (drain <= room) return;
  log.warn(
    `agent.restart_drain_timeout is ${drain} s, but HERMES_STOP_GRACE=${env.stopGrace} leaves ${Math.max(room, 0)} s: that is the effective value`,
  );
}

const DRAIN_MARGIN = 2;

/** Throws PROFILE_NOT_FOUND (66) for `gateway run` of a profile that is not there, SCANDIR (1) where no slot can be written. */
function reconcile({ deps, env, routing, log }: Boot, lock: ProcessLock): void {
  const { paths } = deps;
  let plan: Plan;
  try {
    plan = reconcileAtBoot({
      role: routing.role,
      supervised: deps.supervised,
      profile: routing.profile,
      root: env.home,
      dashboard: env.dashboard,
      gatewayProfiles: env.gatewayProfiles,
      scandir: paths.scandir,
      layout: { libexec: paths.libexec, timeoutKillMs: stopLimits(env.stopGrace).timeoutKillMs },
      tee: teesLogs(routing, env.noTee),
      lock,
      log,
      now: () => new Date(),
    });
  } catch (error) {
    if (error instanceof HermesError) throw error;
    throw new HermesError("SCANDIR", `${paths.scandir} cannot be written: ${messageOf(error)}.`, {
      fix: "Add --tmpfs /run (Kubernetes: an emptyDir on /run).",
    });
  }
  if (routing.role === "gateway") tellHandOver(routing.profile, env.home, plan);
  if (routing.role === "dashboard")
    log.info("the gateways of this volume are left alone: this container is its dashboard");
}

/** The output of a one-off command of ours stays its own (container.md §6.5). */
function teesLogs({ role, kind }: Routing, noTee: boolean): boolean {
  const isOneOff = kind === "hermes" && ONE_OFF.includes(role);
  return !isatty(1) && !noTee && !isOneOff;
}

const ONE_OFF: readonly Role[] = ["command", "instant"];

/** `gateway run` as the container's command: said once, on stderr (container.md §4.1). Throws PROFILE_NOT_FOUND (66). */
function tellHandOver(profile: string, root: string, { lines, respectedStop }: Plan): void {
  const known = lines.filter(({ action }) => action !== "missing").map((line) => line.profile);
  if (!known.includes(profile)) {
    throw new HermesError(
      "PROFILE_NOT_FOUND",
      `There is no profile "${profile}". There are: ${known.join(", ")}.`,
      {
        exit: EXIT.notFound,
        fix: `Make it: hermes profile create ${profile}`,
      },
    );
  }
  const log = join(root, "logs", "gateways", profile, "current");
  const start = `hermes ${profile === "default" ? "" : `-p ${profile} `}gateway start`;
  const line = lines.find((entry) => entry.profile === profile);
  process.stderr.write(
    `hermes: ${handOverText(profile, start, line?.action, respectedStop)} Log ${log}; --no-supervise keeps it in the foreground.\n`,
  );
}

function handOverText(
  profile: string,
  start: string,
  action: ProfileLine["action"] | undefined,
  stop: DesiredRecord | null,
): string {
  if (action === "started") return `the gateway of ${profile} runs under s6 supervision.`;
  if (stop !== null) {
    const since = stop.at === null ? "" : ` at ${stop.at}`;
    return `the gateway of ${profile} was stopped${since} and stays down under s6 supervision. Start it: ${start}.`;
  }
  return `the gateway of ${profile} stays down under s6 supervision: look at the warnings above and at HERMES_GATEWAY_PROFILES. Start it: ${start}.`;
}
