// Which ports the profiles' servers are configured to use, so that no two of them meet (agent.md §8, field-rules D05).
import { loadConfig } from "#config/load.ts";
import { findProfiles } from "./find.ts";
import type { ProfileRef } from "./hook.ts";

export type ServerPlatform = "api_server" | "webhook";

export interface ConfiguredPort {
  readonly profile: string;
  readonly platform: ServerPlatform;
  readonly port: number;
}

/** First port of a clone's server; the defaults 8642 and 8644 belong to the profile that was there first. */
export const FIRST_CLONE_PORT: Readonly<Record<ServerPlatform, number>> = {
  api_server: 8643,
  webhook: 8645,
};

/** Of every profile whose configuration can be read; the process environment is not asked (it counts for `default` only). */
export function configuredPorts(root: string): readonly ConfiguredPort[] {
  return findProfiles(root).profiles.flatMap(portsOf);
}

function portsOf({ name, home }: ProfileRef): readonly ConfiguredPort[] {
  try {
    const { platforms } = loadConfig({ processEnv: {}, home, remember: false }).config;
    return (["api_server", "webhook"] as const).map((platform) => ({
      profile: name,
      platform,
      port: platforms[platform].port,
    }));
  } catch {
    // A profile that cannot be read uses no port either: its gateway is refused.
    return [];
  }
}

/** The first port from `FIRST_CLONE_PORT` on that no profile's configuration uses. */
export function freePort(platform: ServerPlatform, used: Iterable<number>): number {
  const taken = new Set(used);
  let port = FIRST_CLONE_PORT[platform];
  while (taken.has(port) && port < 65_535) port += 1;
  return port;
}
