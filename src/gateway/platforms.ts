// Every platform that a gateway can serve, in the order in which they are shown. To add one: its adapter, and a line here.
import type { LoadedConfig } from "#config/loaded.ts";
import type { PlatformSpec } from "./platform.ts";

/** Each adapter is its own chunk, loaded only where it is enabled (agent.md §12.2, row 58). */
export const PLATFORMS: readonly PlatformSpec[] = [];

/** `auto` is on when the platform's secret is set; an explicit false wins (field-rules A09). */
export function isEnabled(setting: boolean | "auto", secret: string | undefined): boolean {
  return setting === "auto" ? secret !== undefined : setting;
}

export type Platforms = LoadedConfig["config"]["platforms"];
