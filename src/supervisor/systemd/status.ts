// What `systemctl --user show` says of a unit, by named properties (systemd.service(5), org.freedesktop.systemd1(5)). Stamps are
// the monotonic ones: every version prints them as numbers.
import { constants } from "node:os";
import type { SlotFacts } from "../port.ts";
import type { SlotId } from "../slot-name.ts";
import { slotName } from "../slot-name.ts";

export const PROPERTIES = [
  "LoadState",
  "ActiveState",
  "SubState",
  "UnitFileState",
  "MainPID",
  "ExecMainCode",
  "ExecMainStatus",
  "NRestarts",
  "StateChangeTimestampMonotonic",
  "ExecMainStartTimestampMonotonic",
  "ExecMainExitTimestampMonotonic",
] as const;

export interface UnitStatus {
  readonly loaded: boolean;
  /** `active`, `activating`, `deactivating`, `inactive`, `failed`, `reloading`, … */
  readonly active: string;
  readonly isWaiting: boolean;
  readonly enabled: boolean;
  readonly pid: number | null;
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** Restarts by systemd itself since the last explicit start. */
  readonly restarts: number;
  /** Epoch milliseconds, as the other two. */
  readonly changedAt: number | null;
  /** Start of the process that runs, or of the last one. */
  readonly startedAt: number | null;
  /** null while it runs. */
  readonly endedAt: number | null;
}

export interface Now {
  /** Epoch milliseconds. */
  readonly wallMs: number;
  /** CLOCK_MONOTONIC at that moment, in milliseconds. */
  readonly monotonicMs: number;
}

export function parseUnitStatus(text: string, now: Now): UnitStatus {
  const values = new Map<string, string>();
  for (const line of text.split("\n")) {
    const at = line.indexOf("=");
    if (at > 0) values.set(line.slice(0, at), line.slice(at + 1).trim());
  }
  const number = (name: (typeof PROPERTIES)[number]): number | null => {
    const value = values.get(name) ?? "";
    return /^\d{1,16}$/u.test(value) ? Number(value) : null;
  };
  const stamp = (name: (typeof PROPERTIES)[number]): number | null => {
    const micros = number(name) ?? 0;
    return micros === 0 ? null : Math.round(now.wallMs - now.monotonicMs + micros / 1000);
  };
  const [how, code] = [number("ExecMainCode") ?? 0, number("ExecMainStatus")];
  const endedAt = stamp("ExecMainExitTimestampMonotonic");
  return {
    loaded: values.get("LoadState") === "loaded",
    active: values.get("ActiveState") ?? "unknown",
    isWaiting: values.get("SubState") === "auto-restart",
    enabled: values.get("UnitFileState") === "enabled",
    pid: number("MainPID") || null,
    exitCode: endedAt !== null && how === EXITED ? code : null,
    signal: endedAt !== null && KILLED.includes(how) ? signalName(code ?? 0) : null,
    restarts: number("NRestarts") ?? 0,
    changedAt: stamp("StateChangeTimestampMonotonic"),
    startedAt: stamp("ExecMainStartTimestampMonotonic"),
    endedAt,
  };
}

/** si_code of SIGCHLD (sigaction(2)): CLD_EXITED; CLD_KILLED, CLD_DUMPED. */
const EXITED = 1;
const KILLED: readonly number[] = [2, 3];

function signalName(number: number): string {
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return found?.[0] ?? `signal ${number}`;
}

const SETTLED_MS = 60_000;
const RESTART_MS = 1000;
const WANTED: readonly string[] = ["active", "activating", "reloading"];

export interface UnitContext {
  readonly id: SlotId;
  readonly home: string;
  /** What the process itself says: a unit of type simple is up as soon as it runs. */
  readonly ready: boolean;
  readonly nowMs: number;
  readonly lastError: SlotFacts["lastError"];
}

/** The same facts that s6 gives, for the same judge. systemd remembers the last death only, and how often it restarted. */
export function factsOfUnit(status: UnitStatus, context: UnitContext): SlotFacts {
  const { id, home, ready, nowMs, lastError } = context;
  const up = status.pid !== null;
  return {
    slot: slotName(id),
    kind: id.kind,
    profile: id.profile,
    registered: status.loaded,
    supervised: status.loaded,
    up,
    wantedUp: WANTED.includes(status.active),
    normallyUp: status.enabled,
    ready: up && ready,
    finishing: !up && status.active === "deactivating",
    registeredAt: null,
    pid: status.pid,
    exitCode: status.exitCode,
    signal: status.signal,
    changedAt: up ? status.startedAt : status.changedAt,
    readyAt: up && ready ? status.startedAt : null,
    deaths:
      status.endedAt === null
        ? []
        : [{ at: status.endedAt, code: status.exitCode, signal: status.signal }],
    backoff: backoffOf(status, nowMs),
    // reset-failed takes the counter back, and only one death is remembered.
    askedAt: null,
    answers: null,
    spec: { schema: 1, kind: id.kind, profile: id.profile, home, enabled: true },
    lastError: up ? null : lastError,
  };
}

/** Restarts count as failures while no life has lasted a minute, as the finish script of a slot counts (container.md §6.4). */
function backoffOf(status: UnitStatus, nowMs: number): SlotFacts["backoff"] {
  const { startedAt, endedAt, restarts, isWaiting, exitCode } = status;
  const lived = startedAt === null ? 0 : (endedAt ?? nowMs) - startedAt;
  // One that waits has died once more than it was restarted.
  const deaths = restarts + (isWaiting ? 1 : 0);
  if (lived >= SETTLED_MS || exitCode === 75 || deaths === 0) return null;
  return { n: deaths, until: isWaiting && endedAt !== null ? endedAt + RESTART_MS : 0 };
}
