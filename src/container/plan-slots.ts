// Which slots a boot makes, and which of them start (container.md §11): pure; reading and writing are the caller's.
import type { SlotSpec } from "#supervisor/port.ts";
import type { DesiredRecord, ObservedFile } from "#supervisor/service-files.ts";
import type { ProfileLine } from "./boot-log.ts";
import type { Role } from "./boot-record.ts";

export interface FoundProfile {
  readonly name: string;
  readonly home: string;
  readonly desired: DesiredRecord | null;
  readonly observed: ObservedFile | null;
}

export interface PlanInput {
  readonly role: Role;
  /** False: no slot will run in this container, whatever was wanted. */
  readonly supervised: boolean;
  /** Profile of the command. */
  readonly profile: string;
  readonly root: string;
  readonly dashboard: boolean;
  readonly gatewayProfiles: readonly string[] | null;
  /** `default` first. */
  readonly profiles: readonly FoundProfile[];
}

export interface PlannedSlot {
  readonly spec: SlotSpec;
  readonly down: boolean;
}

export interface Plan {
  readonly slots: readonly PlannedSlot[];
  readonly lines: readonly ProfileLine[];
  /** The command `gateway run` asked for a gateway that was stopped on purpose. */
  readonly respectedStop: DesiredRecord | null;
  /** `gateway run` of a profile that never had a wish: it is an explicit start. */
  readonly writesRunning: FoundProfile | null;
  /** Named in HERMES_GATEWAY_PROFILES without being there. */
  readonly missing: readonly string[];
}

const RAN: readonly (string | null)[] = ["running", "degraded", "draining"];

export function planSlots(input: PlanInput): Plan {
  const planned = input.profiles.map((profile) => planGateway(input, profile));
  const names = new Set(input.profiles.map(({ name }) => name));
  const missing = (input.gatewayProfiles ?? []).filter((name) => !names.has(name));
  const commanded = planned.find(({ isCommanded }) => isCommanded);
  return {
    slots: [dashboardSlot(input), ...planned.map(({ slot }) => slot)],
    lines: [
      ...planned.map(({ line }) => line),
      ...missing.map((profile): ProfileLine => {
        return {
          profile,
          priorState: null,
          action: "missing",
          desired: null,
          reason: "no-such-profile",
        };
      }),
    ],
    respectedStop: commanded?.line.action === "registered" ? stopOf(commanded.profile) : null,
    writesRunning: commanded?.line.reason === "command" ? commanded.profile : null,
    missing,
  };
}

/** A stop may be stored in the wish, or only mirrored in the gateway's own record. */
const stopOf = ({ desired }: FoundProfile): DesiredRecord =>
  desired ?? { desired: "stopped", at: null, by: null, source: null };

interface PlannedGateway {
  readonly slot: PlannedSlot;
  readonly line: ProfileLine;
  readonly profile: FoundProfile;
  readonly isCommanded: boolean;
}

function planGateway(input: PlanInput, profile: FoundProfile): PlannedGateway {
  const verdict = decide(input, profile);
  const { name, home, desired, observed } = profile;
  const spec: SlotSpec = { schema: 1, kind: "gateway", profile: name, home, enabled: true };
  return {
    slot: { spec, down: verdict.action !== "started" },
    line: {
      profile: name,
      priorState: desired?.desired ?? observed?.desired ?? observed?.state ?? null,
      ...verdict,
    },
    profile,
    isCommanded: input.role === "gateway" && input.profile === name,
  };
}

type Verdict = Pick<ProfileLine, "action" | "desired" | "reason">;

function decide(input: PlanInput, { name, desired, observed }: FoundProfile): Verdict {
  const prior = priorOf(desired, observed);
  const isCommanded = input.profile === name;
  if (input.role === "dashboard")
    return { action: "registered", desired: prior.desired, reason: "role-dashboard" };
  if (input.role === "gateway-foreground" && isCommanded) {
    return { action: "registered", desired: prior.desired, reason: "foreground" };
  }
  if (!input.supervised)
    return { action: "registered", desired: prior.desired, reason: "not-supervised" };
  if (input.gatewayProfiles !== null && !input.gatewayProfiles.includes(name)) {
    return { action: "skipped", desired: prior.desired, reason: "not-in-HERMES_GATEWAY_PROFILES" };
  }
  // What a gateway said of itself is no wish: only a stored stop outweighs the command (container.md §4.1).
  if (input.role === "gateway" && isCommanded && !isWish(prior)) {
    return { action: "started", desired: "running", reason: "command" };
  }
  return { action: prior.desired === "running" ? "started" : "registered", ...prior };
}

const isWish = ({ reason }: Prior): boolean => reason === "desired" || reason === "desired_state";

interface Prior {
  readonly desired: "running" | "stopped" | null;
  readonly reason: "desired" | "desired_state" | "gateway_state" | "none";
}

/** First hit: the wish, its mirror in the observed record, what was observed (volumes of the Python version carry over). */
function priorOf(desired: DesiredRecord | null, observed: ObservedFile | null): Prior {
  if (desired !== null) return { desired: desired.desired, reason: "desired" };
  if (observed?.desired) return { desired: observed.desired, reason: "desired_state" };
  if (observed !== null && RAN.includes(observed.state))
    return { desired: "running", reason: "gateway_state" };
  if (observed?.state === "stopped") return { desired: "stopped", reason: "gateway_state" };
  return { desired: null, reason: "none" };
}

function dashboardSlot({ role, supervised, root, dashboard }: PlanInput): PlannedSlot {
  const spec: SlotSpec = {
    schema: 1,
    kind: "dashboard",
    profile: "default",
    home: root,
    enabled: dashboard,
  };
  // The command itself is the dashboard: a second one would be refused.
  return { spec, down: !dashboard || !supervised || role === "dashboard" };
}
