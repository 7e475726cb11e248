// Slot ↔ profile, only through this pair (container.md §6.1).
import { DEFAULT_PROFILE, isProfileName } from "#profile/name.ts";

export type SlotKind = "dashboard" | "gateway";

export interface SlotId {
  readonly kind: SlotKind;
  /** `default` for the dashboard. */
  readonly profile: string;
}

const GATEWAY = "gateway-";

/** `dashboard`, `gateway-default`, `gateway-<profile>`. Throws RangeError on a name that is no profile's. */
export function slotName({ kind, profile }: SlotId): string {
  if (kind === "dashboard") return "dashboard";
  if (!isProfileName(profile)) throw new RangeError(`"${profile}" is no name of a profile`);
  return `${GATEWAY}${profile}`;
}

/** null for any name that is no slot of ours: hidden entries, staging directories, what others put there. */
export function parseSlotName(name: string): SlotId | null {
  if (name === "dashboard") return { kind: "dashboard", profile: DEFAULT_PROFILE };
  if (!name.startsWith(GATEWAY)) return null;
  const profile = name.slice(GATEWAY.length);
  return isProfileName(profile) ? { kind: "gateway", profile } : null;
}
