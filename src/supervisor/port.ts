// The port of whatever supervises services (container.md §7.2): one contract suite runs against every backend and the fake.
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import type { ServiceBody } from "#protocol/http-status.ts";
import type { LastError } from "./service-files.ts";
import type { SlotKind } from "./slot-name.ts";

export type ManagerKind = "s6" | "s6-user" | "systemd" | "none";

/** Content of a slot's `data/spec.json`. */
export interface SlotSpec {
  readonly schema: 1;
  readonly kind: SlotKind;
  /** `default` for the dashboard. */
  readonly profile: string;
  /** Absolute home of that profile. */
  readonly home: string;
  /** False for a dashboard whose HERMES_DASHBOARD is off; true for every gateway. */
  readonly enabled: boolean;
}

export interface Death {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** One of the two is null. */
  readonly code: number | null;
  readonly signal: string | null;
}

/** What the supervisor and the process say of one slot, now (container.md §7.2, §7.3). Times are epoch milliseconds. */
export interface SlotFacts {
  readonly slot: string;
  readonly kind: SlotKind;
  readonly profile: string;
  /** The slot directory exists under its name. */
  readonly registered: boolean;
  readonly supervised: boolean;
  readonly up: boolean;
  readonly wantedUp: boolean;
  readonly normallyUp: boolean;
  /** The process wrote its readiness byte. */
  readonly ready: boolean;
  /** Down, and its finish script still runs: s6 stamps the end of it, its `ready` word does not tell. */
  readonly finishing: boolean;
  /** When the slot directory was made; null without one. */
  readonly registeredAt: number | null;
  readonly pid: number | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly changedAt: number | null;
  readonly readyAt: number | null;
  /** Newest last, as far back as s6-svdt remembers. */
  readonly deaths: readonly Death[];
  /** Failure counter of `data/backoff` and the time before which it does not start again. */
  readonly backoff: { readonly n: number; readonly until: number } | null;
  /** When somebody last asked for a start: deaths before tell nothing of what runs now, as with the counter. null: never, or not known. */
  readonly askedAt: number | null;
  /** Did the process answer on `data/live` within 1 s? null: down, or without a slot. */
  readonly answers: boolean | null;
  readonly spec: SlotSpec | null;
  /** What the process wrote before it refused to run. */
  readonly lastError: LastError | null;
}

export interface ServiceManager {
  readonly kind: ManagerKind;
  readonly label: string;
  readonly canRegister: boolean;
  /** Scan directory; null where there is none. */
  readonly scandir: string | null;
  /** Names of the slots, sorted. A missing directory is an empty list. */
  list(): Promise<readonly string[]>;
  facts(slot: string): Promise<SlotFacts>;
  /** Creates it; `start: false` leaves it down. Rejects with ServiceError `already-registered`. */
  register(spec: SlotSpec, options: { readonly start: boolean }): Promise<void>;
  /** Gone and verified; absent is fine. */
  unregister(slot: string): Promise<void>;
  start(slot: string, options: ControlOptions): Promise<ServiceBody>;
  stop(slot: string, options: ControlOptions): Promise<ServiceBody>;
  restart(slot: string, options: ControlOptions): Promise<ServiceBody>;
  /** Makes the supervisor look at its directory again. */
  rescan(): Promise<void>;
}

export interface ControlOptions {
  readonly waitMs: number;
  /** Written to `gateway_desired.json`: the command, and through which door it came. */
  readonly by: string;
  readonly source: "cli" | "dashboard" | "api";
}

export type ServiceErrorCode =
  | "no-manager"
  | "not-supervised"
  | "invalid-name"
  | "unknown-profile"
  | "not-registered"
  | "permission"
  | "refused"
  | "crash-looping"
  | "timeout"
  | "already-registered"
  | "still-supervised"
  | "tool-failed";

/** container.md §7.2. `timeout` is 75 for a start (it is still starting) and 1 for a stop. */
const EXIT_OF: Readonly<Record<ServiceErrorCode, ExitCode>> = {
  "no-manager": EXIT.unavailable,
  "not-supervised": EXIT.unavailable,
  "invalid-name": EXIT.usage,
  "unknown-profile": EXIT.notFound,
  "not-registered": EXIT.notFound,
  permission: EXIT.notPermitted,
  refused: EXIT.refused,
  "crash-looping": EXIT.failed,
  timeout: EXIT.failed,
  "already-registered": EXIT.failed,
  "still-supervised": EXIT.failed,
  "tool-failed": EXIT.failed,
};

export interface ServiceErrorFacts {
  readonly slot: string;
  readonly profile?: string;
  /** The tool that failed, its code and what it said. */
  readonly detail?: { readonly tool: string; readonly rc: number | null; readonly stderr: string };
  readonly exit?: ExitCode;
  readonly fix?: string;
}

/** `code` is one of ServiceErrorCode; `data` holds slot, profile and detail. */
export class ServiceError extends HermesError {
  readonly serviceCode: ServiceErrorCode;

  constructor(code: ServiceErrorCode, message: string, facts: ServiceErrorFacts) {
    const { slot, profile, detail, exit, fix } = facts;
    super(code, message, {
      exit: exit ?? EXIT_OF[code],
      ...(fix === undefined ? {} : { fix }),
      data: { slot, ...(profile === undefined ? {} : { profile }), ...(detail ? { detail } : {}) },
    });
    this.name = "ServiceError";
    this.serviceCode = code;
  }
}

export const invalidName = (slot: string): ServiceError =>
  new ServiceError("invalid-name", `${JSON.stringify(slot)} is no name of a slot.`, { slot });
