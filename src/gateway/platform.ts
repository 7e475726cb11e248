// The port of whatever a gateway serves (agent.md §7.7): servers of ours now, chat adapters beside them.
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import type { SessionArchive } from "#session/archive.ts";
import type { SessionService } from "#session/types.ts";
import type { Deliveries } from "./deliveries.ts";
import type { TurnGate } from "./turn-gate.ts";

/** agent.md §7.3. Settled: every word but `connecting`. */
export type PlatformStateName =
  | "disabled"
  | "connecting"
  | "connected"
  | "retrying"
  | "conflict"
  | "fatal"
  | "refused"
  | "stopped";

/** What went wrong: a stable word, and a sentence without secrets. */
export interface PlatformTrouble {
  readonly code: string;
  readonly message: string;
  /** Milliseconds since 1970: when it is tried again by itself. */
  readonly retryAt?: number;
}

/** Conversations and what is stored of them; opened at the first message, so that an idle gateway stays small. */
export interface Conversations {
  readonly sessions: SessionService;
  readonly archive: SessionArchive;
}

export interface PlatformContext {
  readonly profile: string;
  /** Configuration as it is now. */
  loaded(): LoadedConfig;
  /** Rejects with STORE_CORRUPT while the store is damaged. */
  conversations(): Promise<Conversations>;
  /** Events that came before, by their ids. */
  readonly deliveries: Deliveries;
  /** Every turn asks here first; none begins while the gateway drains. */
  readonly turns: TurnGate;
  readonly clock: Clock;
  readonly log: Log;
  redact(text: string): string;
  /** Tells what the platform is doing; without trouble an earlier one is over. Never throws. */
  state(name: PlatformStateName, trouble?: PlatformTrouble): void;
}

/**
 * One platform of one gateway. The runner calls `connect` once and `disconnect` once, also after a `connect` that failed.
 * None may throw: what fails becomes a state. A chat adapter (§7.7) adds `send`, `edit`, `typing`, `askButtons`, `sendFile`.
 */
export interface Platform {
  readonly name: string;
  /** Resolves when the platform has settled; it may change its state later by itself. `signal` ends the attempt. */
  connect(context: PlatformContext, signal: AbortSignal): Promise<void>;
  /** Takes in nothing more and closes what is open. The runner waits 3 s at most. */
  disconnect(): Promise<void>;
}

/** A platform that this program knows. `open` imports its packages: it is called only where the platform is enabled. */
export interface PlatformSpec {
  readonly name: string;
  isEnabled(loaded: LoadedConfig): boolean;
  open(): Promise<Platform>;
}
