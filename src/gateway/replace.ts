// `gateway run --replace`: ends the gateway of the same home and host, nobody else's (agent.md §7.1 step 3, container.md §9.3).
import { type Clock, waitFor } from "#base/clock.ts";
import { HermesError, messageOf } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { isAlive, type ProcessIdentity } from "#base/process-identity.ts";

const STEP_MS = 50;
const MARGIN_MS = 3000;

/** `gateway.pid` as far as this needs it. */
export interface RunningGateway extends ProcessIdentity {
  readonly home: string;
}

export interface ReplaceDeps {
  readonly home: string;
  readonly self: ProcessIdentity;
  readonly clock: Clock;
  readonly drainMs: number;
  readonly signal: AbortSignal;
  /** What `gateway.pid` says; null without a record. */
  running(): RunningGateway | null;
  isHeld(): boolean;
  /** Alive with the same start time, on this host. */
  isSame(identity: ProcessIdentity): boolean;
  kill(pid: number, signal: "SIGTERM" | "SIGKILL"): void;
  /** Tells the other one that this is meant; a failure does not matter. */
  markPlanned(target: ProcessIdentity): void;
}

/** Returns when the home is free or nobody could be asked; the caller then takes the lock as always. */
export async function replaceRunning(deps: ReplaceDeps): Promise<void> {
  if (!deps.isHeld()) return;
  const target = deps.running();
  if (target === null) return;
  checkOurs(deps, target);
  deps.markPlanned(target);
  deps.kill(target.pid, "SIGTERM");
  if (await isGoneWithin(deps, target, deps.drainMs + MARGIN_MS)) return;
  // Asked again: the pid may be another's by now.
  if (deps.isSame(target)) deps.kill(target.pid, "SIGKILL");
  await isGoneWithin(deps, target, MARGIN_MS);
}

function checkOurs(deps: ReplaceDeps, target: RunningGateway): void {
  if (target.host !== deps.self.host) {
    throw refused(`it runs on another host (${target.host}, pid ${target.pid})`);
  }
  if (target.home !== deps.home) throw refused(`it belongs to another home, ${target.home}`);
  if (!deps.isSame(target)) throw refused(`pid ${target.pid} is no longer that gateway`);
}

function refused(why: string): HermesError {
  return new HermesError("REPLACE_REFUSED", `The gateway that runs cannot be replaced: ${why}.`, {
    exit: EXIT.refused,
    fix: "Stop it where it was started.",
  });
}

async function isGoneWithin(
  deps: ReplaceDeps,
  target: ProcessIdentity,
  limitMs: number,
): Promise<boolean> {
  const end = deps.clock.monotonicMs() + limitMs;
  while (deps.isSame(target) && deps.isHeld()) {
    if (deps.clock.monotonicMs() >= end) return false;
    await waitFor(deps.clock, STEP_MS, deps.signal);
  }
  return true;
}

/** A process that is gone already needs no signal; one that may not be signalled is said so. */
export function signalProcess(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return;
    throw new HermesError(
      "NOT_PERMITTED",
      `Pid ${pid} cannot be signalled (${messageOf(error)}).`,
      { exit: EXIT.notPermitted, fix: "Run this as the user that started the gateway." },
    );
  }
}

/** Alive here, and still the same process: a pid whose start time differs is never signalled. */
export function isLive(identity: ProcessIdentity): boolean {
  return isAlive(identity);
}
