// Where the home is, and which profile it belongs to (agent.md §2.1).
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

/** `HERMES_HOME`, else `~/.hermes`; absolute. */
export function homeFrom(processEnv: Readonly<Record<string, string | undefined>>): string {
  const named = processEnv["HERMES_HOME"];
  return named ? resolve(named) : join(processEnv["HOME"] || homedir(), ".hermes");
}

/** The home with a trailing `profiles/<name>` removed. */
export function rootOf(home: string): string {
  const parent = dirname(resolve(home));
  return basename(parent) === "profiles" ? dirname(parent) : resolve(home);
}

/** `default`, or the name of the profile whose home this is. */
export function profileOf(home: string): string {
  const path = resolve(home);
  return basename(dirname(path)) === "profiles" ? basename(path) : "default";
}
