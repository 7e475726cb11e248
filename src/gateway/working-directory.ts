// Where the agent works for people who are not at this machine (agent.md §2.2, `terminal.cwd`).
import { join, resolve } from "node:path";
import type { LoadedConfig } from "#config/loaded.ts";

/** Absolute. A relative `terminal.cwd` counts from `workspace/` of the home, wherever the gateway was started. */
export function workingDirectory({ home, config }: LoadedConfig): string {
  return resolve(join(home, "workspace"), config.terminal.cwd);
}
