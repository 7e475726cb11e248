// Where the writers of the configuration write, for this launch.
import { systemClock } from "#base/clock.ts";
import type { ConfigTarget } from "#config/write.ts";
import { createProcessLock } from "#store/process-lock.ts";
import type { Launch } from "./context.ts";

export function configTarget(launch: Pick<Launch, "home" | "env">): ConfigTarget {
  return {
    home: launch.home,
    processEnv: launch.env,
    lock: createProcessLock(),
    clock: systemClock,
  };
}
