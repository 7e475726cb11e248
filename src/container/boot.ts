// What every step of setup is given (container.md §3).
import type { ProcessLock } from "#base/process-lock.ts";
import type { AccountFiles } from "./accounts.ts";
import type { BootLog } from "./boot-log.ts";
import type { BootStep } from "./boot-record.ts";
import type { ContainerEnv, Env } from "./environment.ts";
import type { Classified, Routing } from "./route.ts";

/** Where things are: parameters, so that tests run it all in a folder of theirs. */
export interface BootPaths extends AccountFiles {
  /** PID 1's own directory (HERMES_PID1_BASE): `scan`, `state`. */
  readonly base: string;
  /** `/run/hermes`. */
  readonly runtime: string;
  /** `/run/service`. */
  readonly scandir: string;
  /** `/etc/hermes/boot.d`. */
  readonly hooks: string;
  readonly libexec: string;
  /** `dist/compiled` of the install tree. */
  readonly compiled: string;
  readonly sockets: readonly string[];
}

export interface PrepareDeps {
  readonly env: Env;
  readonly paths: BootPaths;
  /** Words of the container's command, one character per byte. */
  readonly words: readonly string[];
  readonly cwd: string;
  /** False behind another init. */
  readonly supervised: boolean;
  readonly version: string;
  isProgram(word: string): boolean;
  isCommand(word: string): boolean;
  classify(words: readonly string[]): Promise<Classified>;
  /** Loaded after the root phase, and only for roles that touch the volume. */
  openLock(): Promise<ProcessLock>;
  /** H7; null: nothing to do. */
  migrate(home: string, lock: ProcessLock): Promise<Migrated | null>;
  /** `agent.restart_drain_timeout` of that home. */
  drainSeconds(home: string): Promise<number>;
  /** Exit code; as root. */
  runHook(path: string): number;
  /** The words as they may be shown. */
  hide(words: readonly string[]): readonly string[];
}

export interface Migrated {
  /** False: the old file is in place. */
  readonly ok: boolean;
  readonly text: string;
}

export interface Boot {
  readonly deps: PrepareDeps;
  readonly env: ContainerEnv;
  readonly routing: Routing;
  readonly log: BootLog;
  readonly steps: BootStep[];
}

export async function timed<T>(
  boot: Pick<Boot, "steps">,
  name: string,
  work: () => T | Promise<T>,
): Promise<T> {
  const before = performance.now();
  try {
    return await work();
  } finally {
    boot.steps.push({ step: name, ms: Math.round((performance.now() - before) * 10) / 10 });
  }
}
