// Who holds a port that this profile wanted (field-rules D05).
import { configuredPorts } from "#profile/ports.ts";
import type { LoadedConfig } from "#config/loaded.ts";

/** The sentence for a platform that found its port taken: names the profile whose configuration has it too, if one has. */
export function portTakenMessage(
  loaded: LoadedConfig,
  host: string,
  port: number,
  setting: string,
): string {
  const others = configuredPorts(loaded.root).filter(
    (entry) => entry.port === port && entry.profile !== loaded.profile,
  );
  const who =
    others.length === 0
      ? "another program"
      : `profile ${others.map((entry) => entry.profile).join(" or ")}`;
  return `port ${port} on ${host} is taken by ${who}; choose another one in ${setting}`;
}
