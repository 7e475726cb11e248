// What the composition root hands to a gateway.
import type { PlannedIntent } from "#supervisor/service-files.ts";
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import type { ProcessIdentity } from "#base/process-identity.ts";
import type { LockRecord, ProcessLock } from "#base/process-lock.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import type { SessionArchive } from "#session/archive.ts";
import type { SessionService } from "#session/types.ts";
import type { Deliveries } from "./deliveries.ts";
import type { Holder } from "./home-hold.ts";
import type { ObservedRecord } from "./observed-state.ts";
import type { PlatformSpec } from "./platform.ts";
import type { RunningGateway } from "./replace.ts";
import type { SignalSource } from "./stop-signals.ts";

/** The store of the home as a gateway needs it. Errors are those of the store. */
export interface GatewayStore {
  readonly archive: SessionArchive;
  readonly deliveries: Deliveries;
  /** Marks turns of dead owners as lost; how many there were. */
  recover(): Promise<number>;
  /** Called once, at the first message. */
  openSessions(): Promise<SessionService>;
  close(): Promise<void>;
}

/** The files of this gateway's home (container.md §9). Readers never throw. */
export interface GatewayFiles {
  writeObserved(record: ObservedRecord): void;
  /** Exclusive, after the lock: a record that is there is a leftover and is removed first. */
  writePid(record: PidRecord): void;
  removePid(): void;
  readRunning(): RunningGateway | null;
  /** pid, host and start of the holder of the lock, from both records. */
  holder(fromLock: LockRecord | null): Holder;
  desired(): "running" | "stopped" | null;
  markPlanned(target: ProcessIdentity, intent: PlannedIntent): void;
  /** The marker that is meant for this process and not older than 60 s; it is removed in any case. */
  takePlanned(self: ProcessIdentity): PlannedIntent | null;
}

export interface PidRecord {
  readonly pid: number;
  readonly start_time: string;
  readonly kind: "hermes-gateway";
  readonly argv: readonly string[];
  readonly home: string;
  readonly host: string;
  readonly slot: string | null;
  readonly started_at: string;
}

/** The slot that this process runs in (container.md §6.3). */
export interface GatewaySlot {
  readonly name: string;
  ready(): void | Promise<void>;
}

export interface GatewayDeps {
  readonly loaded: () => LoadedConfig;
  readonly argv: readonly string[];
  readonly self: ProcessIdentity;
  readonly uid: number | null;
  /** Takes the place of the gateway that runs for this home. */
  readonly replace: boolean;
  readonly slot: GatewaySlot | null;
  readonly files: GatewayFiles;
  readonly lock: ProcessLock;
  readonly clock: Clock;
  readonly log: Log;
  readonly signals: SignalSource;
  readonly platforms: readonly PlatformSpec[];
  openStore(): Promise<GatewayStore>;
  /** Why no turn could run with the model as it is configured now; null when one could. */
  modelTrouble(): string | null;
  redact(text: string): string;
  /** One line for the operator: stderr, and with it the slot's log. */
  say(text: string): void;
}
