// The manager of this machine (container.md §7): found by asking the supervisor, opened with the one judge.
import { join } from "node:path";
import type { ProcessLock } from "#base/process-lock.ts";
import { detectManager, systemReaders } from "./detect.ts";
import { createNoManager } from "./none.ts";
import type { ServiceManager } from "./port.ts";
import { createS6Manager } from "./s6/manager.ts";
import { judgeSlot, judgeUnit } from "./services.ts";
import type { Warn } from "./service-files.ts";
import { createSystemdManager } from "./systemd/manager.ts";
import { unitDirectory, type UnitLayout } from "./systemd/unit.ts";

export interface OpenManagerOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Root home, absolute. */
  readonly root: string;
  /** The directory that holds bin/ and dist/. */
  readonly project: string;
  readonly lock: ProcessLock;
  readonly warn?: Warn;
  readonly remote?: () => "up" | "down" | null;
}

export function openManager(options: OpenManagerOptions): ServiceManager {
  const { env } = options;
  const scandir = scandirOf(options);
  const kind = detectManager(systemReaders(env), scandir);
  switch (kind) {
    case "none":
      return createNoManager(kind, options);
    case "systemd":
      return createSystemdManager({
        layout: unitLayout(options),
        plain: createNoManager(kind, options),
        judge: (facts) => judgeUnit(options, facts),
        ownSlot: env["HERMES_SLOT"] ?? null,
      });
    case "s6":
    case "s6-user":
      return openS6(kind, scandir, options);
  }
}

function openS6(
  kind: "s6" | "s6-user",
  scandir: string,
  options: OpenManagerOptions,
): ServiceManager {
  const { env, root } = options;
  return createS6Manager({
    kind,
    scandir,
    layout: { libexec: libexecOf(options), timeoutKillMs: timeoutKillMs(env["HERMES_STOP_GRACE"]) },
    judge: (facts) => judgeSlot({ ...options, root }, facts),
    ownSlot: env["HERMES_SLOT"] ?? null,
  });
}

/** What units of this home look like, and where they lie. */
export function unitLayout({
  env,
  root,
  project,
}: Pick<OpenManagerOptions, "env" | "root" | "project">): UnitLayout {
  return {
    directory: unitDirectory(env),
    program: [process.execPath, ...process.execArgv, join(project, "bin", "hermes.mjs")],
    root,
    path: env["PATH"] ?? "",
  };
}

/** `HERMES_SCANDIR`; in the image /run/service, elsewhere `$HOME0/run/service` (container.md §5). */
export function scandirOf({
  env,
  root,
  project,
}: Pick<OpenManagerOptions, "env" | "root" | "project">): string {
  const given = env["HERMES_SCANDIR"];
  if (given !== undefined && given !== "") return given;
  return project === IMAGE_PROJECT ? "/run/service" : join(root, "run", "service");
}

const IMAGE_PROJECT = "/opt/hermes";

/** The install tree of the image, where PATH and scripts are known to be ours. */
export const isImage = (project: string): boolean => project === IMAGE_PROJECT;

/** In the image the scripts lie in the install tree; in a checkout in what becomes it. */
export function libexecOf({ project }: Pick<OpenManagerOptions, "project">): string {
  return project === IMAGE_PROJECT
    ? join(IMAGE_PROJECT, "libexec")
    : join(project, "docker", "rootfs", "opt", "hermes", "libexec");
}

export const STOP_GRACE = { default: 10, min: 4, max: 3600 } as const;

/** container.md §2.5: five seconds less than the runtime allows, at least one. Setup refuses a bad value; here it is the default. */
export function timeoutKillMs(grace: string | undefined): number {
  const seconds = /^\d+$/u.test(grace ?? "") ? Number(grace) : STOP_GRACE.default;
  const inRange = seconds >= STOP_GRACE.min && seconds <= STOP_GRACE.max;
  return Math.max((inRange ? seconds : STOP_GRACE.default) - 5, 1) * 1000;
}
