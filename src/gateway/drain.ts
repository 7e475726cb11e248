// The end of a gateway: running turns get their time, then everything is saved and closed (agent.md §7.10).
import type { Clock } from "#base/clock.ts";
import type { TurnGate } from "./turn-gate.ts";
import { endsWithin } from "./within.ts";

/** Turns are interrupted, saved and their tools ended in this time; with the drain it is the whole budget. */
const CLOSE_MS = 2000;
/** A restart waits for turns, not for ever. */
const RESTART_MS = 60_000;

export interface DrainDeps {
  readonly turns: TurnGate;
  readonly clock: Clock;
  /** A second signal: turns are aborted at once. */
  readonly second: AbortSignal;
  /** How long running turns may go on; null for a restart, which waits until none runs. */
  readonly drainMs: number | null;
  closeStorage(): Promise<void>;
  disconnect(): Promise<void>;
}

export async function drainAndClose(deps: DrainDeps): Promise<void> {
  const { turns, clock, second } = deps;
  turns.close();
  await Promise.race([
    endsWithin(clock, deps.drainMs ?? RESTART_MS, turns.idle()),
    aborted(second),
  ]);
  await endsWithin(clock, CLOSE_MS, Promise.all([deps.closeStorage(), deps.disconnect()]));
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
