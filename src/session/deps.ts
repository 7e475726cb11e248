// What the session room is given by the composition root.
import type { Clock } from "#base/clock.ts";
import type { RandomBytes } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import type { ReasoningEffort } from "#agent/ports/model-client.ts";
import type { Redactor } from "#agent/ports/redactor.ts";
import type { SessionStore } from "#agent/ports/session-store.ts";
import type { LoadedConfig } from "#config/loaded.ts";

/** Flags of one run, never saved (agent.md §1.2). */
export interface RunOverrides {
  readonly model?: string;
  readonly provider?: string;
  readonly effort?: ReasoningEffort;
  readonly maxTurns?: number;
  readonly toolsets?: readonly string[];
  readonly yolo?: boolean;
  /** Built-in defaults: no SOUL, no context files, no memory. Credentials still load. */
  readonly safeMode?: boolean;
}

export interface SessionDeps {
  /** Asked at each use, so that a saved setting counts for the next turn. */
  readonly loaded: () => LoadedConfig;
  readonly overrides: RunOverrides;
  readonly store: SessionStore;
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
  /** The process's own environment, for the allow-list of tool processes. */
  readonly processEnv: (name: string) => string | undefined;
  readonly inContainer: boolean;
  /** Appends a key to `command_allowlist` in config.yaml ("always"). */
  readonly rememberAllowed: (key: string) => Promise<void>;
}
