// The one truth about a service (product.md D4, container.md §8): a pure function of what the supervisor, the process and the
// operator's wish say. Every surface calls it; nothing else judges.
import type { ServiceState } from "#protocol/http-status.ts";
import type { Death, SlotFacts } from "./port.ts";
import type { DesiredRecord, ObservedFile } from "./service-files.ts";

/** Without its slot's word: what holds the lock of the home (container.md §9.5). */
export interface LockFacts {
  readonly held: boolean;
  /** Pid, start time and host of the holder's record, checked against the live process. */
  readonly holder: "ours" | "foreign" | "unseen" | "unreadable" | null;
  /** `pid 12 on host`; for the reason. */
  readonly holderName: string | null;
}

export interface StateInput {
  readonly facts: SlotFacts;
  readonly desired: DesiredRecord | null;
  readonly observed: ObservedFile | null;
  /** The observed record's pid and start time are those of the live process. */
  readonly observedIsValid: boolean;
  readonly lock: LockFacts | null;
  /** Cached answer of GATEWAY_HEALTH_URL; null without the setting or before the first answer. */
  readonly remote: "up" | "down" | null;
  readonly now: number;
}

export interface Verdict {
  readonly state: ServiceState;
  readonly reason: string | null;
}

const REGISTERED_MS = 5000;
const SETTLED_MS = 10_000;
const SLOW_START_MS = 60_000;
const WINDOW_MS = 60_000;
const RESTART = 75;
const REFUSED: readonly (number | null)[] = [78, 64];

/** Rows of container.md §8 in their order: the first match decides. */
export function serviceState(input: StateInput): Verdict {
  const { facts } = input;
  if (facts.kind === "dashboard" && facts.spec?.enabled === false && !facts.up) {
    return say("disabled", "HERMES_DASHBOARD is off");
  }
  if (!facts.registered) return say("stopped", "not registered");
  if (!facts.supervised) return unsupervised(input);
  if (facts.up && !facts.wantedUp) return say("stopping", null);
  if ((facts.up || facts.wantedUp) && isCrashLooping(input)) {
    return say("crash-looping", crashReason(input));
  }
  if (!facts.up && facts.wantedUp) return say("starting", restartReason(input));
  return facts.up ? upState(input) : downState(input);
}

function unsupervised({ facts, now }: StateInput): Verdict {
  const isNew = facts.registeredAt !== null && now - facts.registeredAt < REGISTERED_MS;
  return isNew
    ? say("starting", "waiting for its supervisor")
    : say("unknown", "supervisor missing");
}

function upState({ facts, observed, observedIsValid, now }: StateInput): Verdict {
  if (!facts.ready) {
    const isSlow = facts.changedAt !== null && now - facts.changedAt > SLOW_START_MS;
    return say("starting", isSlow ? "slow start" : null);
  }
  if (facts.answers === false) return say("unknown", "does not answer");
  if (observedIsValid && observed?.state === "draining") return say("stopping", "draining");
  if (observedIsValid && observed?.state === "degraded") {
    return say("degraded", observed.reasons.join("; ") || "degraded");
  }
  return say("ready", null);
}

function downState(input: StateInput): Verdict {
  const { facts, desired, lock } = input;
  if (facts.finishing) return say("stopping", null);
  if (REFUSED.includes(lastCode(facts)) && desired?.desired !== "stopped") {
    return say(
      "refused",
      facts.lastError?.message.split("\n", 1)[0] ??
        "it refused its configuration; its log says why",
    );
  }
  if (facts.kind === "gateway" && lock?.held === true && lock.holder !== "ours") {
    return elsewhere(input);
  }
  if (desired?.desired === "stopped") return say("stopped", stoppedBy(input));
  if (facts.deaths.length === 0) return say("stopped", "never started");
  return say("stopped", exitText(facts.deaths.at(-1) ?? null));
}

/** The gateway of this home runs where this supervisor does not see it. */
function elsewhere({ lock, remote }: StateInput): Verdict {
  const reason =
    lock?.holder === "unreadable"
      ? "its home cannot be read"
      : `held by ${lock?.holderName ?? "another process"}`;
  if (remote === "up") return say("ready", reason);
  if (remote === "down") return say("unknown", `${reason}; GATEWAY_HEALTH_URL does not answer`);
  return say("unknown", reason);
}

function stoppedBy({ desired }: StateInput): string | null {
  if (desired === null) return null;
  const who = desired.by === null ? null : `by ${desired.by}`;
  return ["stopped", who, desired.at].filter((part) => part !== null).join(" ");
}

function isCrashLooping({ facts, now }: StateInput): boolean {
  const isSettled =
    facts.up && facts.ready && facts.readyAt !== null && now - facts.readyAt >= SETTLED_MS;
  if (isSettled) return false;
  const from = Math.max(facts.askedAt ?? 0, now - WINDOW_MS);
  const crashes = facts.deaths.filter((death) => isCrash(death) && death.at > from);
  return (facts.backoff?.n ?? 0) >= 3 || crashes.length >= 3;
}

/** What `slot/finish` counts: neither an end by itself nor a refusal is a crash (container.md §6.4). */
function isCrash({ code }: Death): boolean {
  return code !== 0 && code !== RESTART && !REFUSED.includes(code);
}

/** Deaths of the last 60 s that no restart asked for. */
export function recentDeaths(facts: SlotFacts, now: number): number {
  return facts.deaths.filter(({ at, code }) => code !== RESTART && at > now - WINDOW_MS).length;
}

/** Deaths since boot that no restart asked for, as far as the supervisor remembers them. */
export function allDeaths(facts: SlotFacts): number {
  return facts.deaths.filter(({ code }) => code !== RESTART).length;
}

function crashReason(input: StateInput): string {
  const crash = input.facts.deaths.findLast(isCrash);
  const last = exitText(crash ?? null) ?? "died";
  const next = nextStartAt(input);
  return next === null ? last : `${last}; next start at ${new Date(next).toISOString()}`;
}

function restartReason(input: StateInput): string | null {
  const last = exitText(input.facts.deaths.at(-1) ?? null);
  return last === null ? null : `restarting after ${last}`;
}

/** Epoch milliseconds of the next start of a slot that waits for it, else null. */
export function nextStartAt({ facts, now }: Pick<StateInput, "facts" | "now">): number | null {
  const until = facts.backoff?.until ?? 0;
  // The ready word of one that is down is its finish script's.
  const isReady = facts.up && facts.ready;
  return facts.wantedUp && until > now && !isReady ? until : null;
}

function lastCode(facts: SlotFacts): number | null {
  // A slot that never started prints exit code 0 too: the tally tells (container.md §16, 4).
  return facts.deaths.at(-1)?.code ?? null;
}

export function exitText(death: Death | null): string | null {
  if (death === null) return null;
  if (death.signal !== null) return `killed by ${death.signal}`;
  return death.code === 0 ? "ended by itself" : `exit ${death.code ?? "unknown"}`;
}

const say = (state: ServiceState, reason: string | null): Verdict => ({ state, reason });

/** Where nothing supervises: lock held ∧ pid alive ∧ start time equal → the observed record; lock free → stopped (C05). */
export function unsupervisedState(input: Omit<StateInput, "facts">): Verdict {
  const { lock, observed, observedIsValid } = input;
  if (lock?.held !== true)
    return say("stopped", input.desired?.desired === "stopped" ? "stopped" : null);
  if (!observedIsValid || observed === null) {
    if (lock.holder === "ours") return say("starting", null);
    return elsewhere({ ...input, lock } as StateInput);
  }
  switch (observed.state ?? "") {
    case "running":
      return say("ready", null);
    case "degraded":
      return say("degraded", observed.reasons.join("; ") || "degraded");
    case "draining":
    case "stopped":
      return say("stopping", null);
    case "startup_failed":
      return say("stopping", observed.exitReason);
    default:
      return say("starting", null);
  }
}
