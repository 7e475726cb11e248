// One gateway per home (agent.md §7.1 step 3, §7.2; container.md §9.3, §9.4).
import { join } from "node:path";
import { type Clock, waitFor } from "#base/clock.ts";
import { HermesError } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { GATEWAY_LOCK } from "#supervisor/services.ts";
import type { HeldLock, LockRecord, ProcessLock } from "#base/process-lock.ts";

const WAIT_MS = 30_000;
const STEP_MS = 100;

/** The other gateway, as its own record tells; `null` fields are not known. */
export interface Holder {
  readonly pid: number | null;
  readonly host: string | null;
  readonly since: string | null;
}

export interface HoldDeps {
  readonly home: string;
  readonly lock: ProcessLock;
  readonly clock: Clock;
  /** Ends the wait: rejects with its reason. */
  readonly signal: AbortSignal;
  /** What the record of the home says of the holder of the lock. */
  holder(fromLock: LockRecord | null): Holder;
  /** Says at once who holds the home. */
  waiting(sentence: string): void;
}

/**
 * Takes the lock of the home, waiting 30 s for another holder. Throws `GATEWAY_RUNNING` (78) naming pid, host and since
 * when. The caller never opens the lock file by other means: closing such a descriptor would drop the lock.
 */
export async function holdHome(deps: HoldDeps): Promise<HeldLock> {
  const first = take(deps);
  if (first.held) return first.lock;
  deps.waiting(
    `Another gateway holds ${deps.home}: ${describe(deps.holder(first.holder))}. Waiting ${WAIT_MS / 1000} s for it.`,
  );
  const end = deps.clock.monotonicMs() + WAIT_MS;
  return keepTrying(deps, end);
}

/** Tries until `endMs` of the clock's monotonic time. */
export async function keepTrying(deps: HoldDeps, endMs: number): Promise<HeldLock> {
  for (;;) {
    const attempt = take(deps);
    if (attempt.held) return attempt.lock;
    if (deps.clock.monotonicMs() >= endMs)
      throw gatewayRunning(deps.home, deps.holder(attempt.holder));
    await waitFor(deps.clock, STEP_MS, deps.signal);
  }
}

export function gatewayRunning(home: string, holder: Holder): HermesError {
  return new HermesError(
    "GATEWAY_RUNNING",
    `Another gateway holds ${home}: ${describe(holder)}. One home has one gateway.`,
    {
      exit: EXIT.refused,
      setting: "HERMES_HOME",
      fix: 'Use that one, stop it with "hermes gateway stop", or take its place with "hermes gateway run --replace".',
      data: { ...holder },
    },
  );
}

function take({ home, lock }: HoldDeps): ReturnType<ProcessLock["take"]> {
  return lock.take(join(home, GATEWAY_LOCK), "gateway");
}

export function describe({ pid, host, since }: Holder): string {
  const parts = [`pid ${pid ?? "unknown"}`, `host ${host ?? "unknown"}`];
  if (since !== null) parts.push(`since ${since}`);
  return parts.join(", ");
}
