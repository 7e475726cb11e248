// How long the gateway of a home lets running turns finish before a stop (container.md §2.5): asked at each boot, so the parser
// is loaded only where the file speaks of it.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** `agent.restart_drain_timeout` where nothing sets it; a test compares it with the setting's own default. */
export const DEFAULT_DRAIN_SECONDS = 2;

/** Seconds. A broken file is the gateway's to refuse: the default. */
export async function readDrainSeconds(home: string): Promise<number> {
  if (!readConfigText(home).includes("restart_drain_timeout")) return DEFAULT_DRAIN_SECONDS;
  const { loadConfig } = await import("#config/load.ts");
  try {
    return loadConfig({ processEnv: {}, home, remember: false }).config.agent.restart_drain_timeout;
  } catch {
    return DEFAULT_DRAIN_SECONDS;
  }
}

/** "" for what is missing, unreadable or no file. */
export function readConfigText(home: string): string {
  try {
    const path = join(home, "config.yaml");
    return statSync(path).isFile() ? readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
}
