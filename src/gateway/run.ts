// One gateway from its start to its end (agent.md §7.1, §7.10).
import { parseSwitch } from "#base/booleans.ts";
import { HermesError, messageOf } from "#base/errors.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import type { HeldLock } from "#base/process-lock.ts";
import { GATEWAY_LOCK } from "#supervisor/services.ts";
import type { GatewayDeps } from "./deps.ts";
import { holdHome } from "./home-hold.ts";
import { GatewayLife } from "./life.ts";
import { isLive, replaceRunning, signalProcess } from "./replace.ts";
import { watchStopSignals, type StopSignals } from "./stop-signals.ts";
import { join } from "node:path";

/**
 * Serves the home until a signal ends it. Returns 75 under supervision or when it was asked to restart, else 0. Throws
 * `GATEWAY_ROOT`, `GATEWAY_RUNNING`, `REPLACE_REFUSED`, `GATEWAY_HOME` (78), or what keeps the store from being opened.
 */
export async function runGateway(deps: GatewayDeps): Promise<ExitCode> {
  refuseRoot(deps);
  const signals = watchStopSignals(deps.signals);
  try {
    const lock = await takeHome(deps, signals);
    if (lock === null) return endCode(deps, false);
    try {
      const { isRestart } = await new GatewayLife(deps, signals).run();
      return endCode(deps, isRestart);
    } finally {
      lock.release();
    }
  } finally {
    signals.close();
  }
}

/** container.md §6.4: under supervision s6's wanted state decides whether it starts again. */
function endCode(deps: GatewayDeps, isRestart: boolean): ExitCode {
  return isRestart || deps.slot !== null ? EXIT.restart : EXIT.ok;
}

function refuseRoot({ uid, loaded }: GatewayDeps): void {
  if (uid !== 0) return;
  if (parseSwitch(loaded().env.get("HERMES_ALLOW_ROOT_GATEWAY")) === "on") return;
  throw new HermesError(
    "GATEWAY_ROOT",
    "A gateway does not run as root: its tools would be root too.",
    {
      exit: EXIT.refused,
      setting: "HERMES_ALLOW_ROOT_GATEWAY",
      fix: "Run it as another user, or set HERMES_ALLOW_ROOT_GATEWAY=1 if this machine has no other.",
    },
  );
}

/** null: it was told to stop while it waited. */
async function takeHome(deps: GatewayDeps, signals: StopSignals): Promise<HeldLock | null> {
  const { files, lock, clock, self, log } = deps;
  const { home, config } = deps.loaded();
  const signal = signals.first;
  try {
    if (deps.replace) {
      await replaceRunning({
        home,
        self,
        clock,
        signal,
        drainMs: config.agent.restart_drain_timeout * 1000,
        running: () => files.readRunning(),
        isHeld: () => lock.isHeld(join(home, GATEWAY_LOCK)),
        isSame: isLive,
        kill: signalProcess,
        markPlanned: (target) => files.markPlanned(target, "takeover"),
      });
    }
    return await holdHome({
      home,
      lock,
      clock,
      signal,
      holder: (record) => files.holder(record),
      waiting: (sentence) => {
        deps.say(sentence);
        log.warn(sentence);
      },
    });
  } catch (error) {
    if (signal.aborted && error === signal.reason) return null;
    if (error instanceof HermesError) throw error;
    throw new HermesError("GATEWAY_HOME", `${home} cannot be used: ${messageOf(error)}`, {
      exit: EXIT.refused,
      setting: "HERMES_HOME",
      fix: "Give this user the directory, or set HERMES_HOME to one that it may write.",
      cause: error,
    });
  }
}
