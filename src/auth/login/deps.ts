// What the sign-in steps share.
import type { Clock } from "#base/clock.ts";
import type { RandomBytes } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import type { Audit } from "../audit.ts";
import type { LoginLimits } from "../login-limits.ts";
import type { ProviderRegistry } from "../providers/registry.ts";
import type { SessionRecords } from "../sessions/records.ts";
import type { GateSettings } from "../settings.ts";

export interface LoginDeps {
  readonly providers: ProviderRegistry;
  readonly records: SessionRecords;
  readonly limits: LoginLimits;
  readonly settings: Pick<GateSettings, "publicUrl" | "csp" | "lifetimes">;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly audit: Audit;
  readonly log: Log;
  /** Name of the active theme, for pages. */
  readonly theme: () => string;
}
