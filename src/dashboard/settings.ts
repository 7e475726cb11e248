// Flags, environment and config.yaml -> the dashboard's settings, all problems collected (dashboard.md §1.1).
import type { Problem } from "#base/errors.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import type { GateSettings } from "#auth/settings.ts";

/** As the user typed them on the command line. */
export interface DashboardFlags {
  readonly host?: string;
  readonly port?: string;
  readonly insecure?: boolean;
}

export interface DashboardSettings extends GateSettings {
  /** 0: the kernel picks (only from the flag). */
  readonly port: number;
  /** Pinned local token; null: random per process. */
  readonly sessionToken: string | null;
  /** The terminal tab; chat stays either way. */
  readonly pty: boolean;
}

export interface SettingsReading {
  /** null when a problem is an error. */
  readonly settings: DashboardSettings | null;
  /** Errors (exit 78, printed together) and warnings. */
  readonly problems: readonly Problem[];
}

export function readDashboardSettings(
  _loaded: LoadedConfig,
  _flags: DashboardFlags,
): SettingsReading {
  throw new Error("being built");
}
