// Starting programs from the scripts: the pinned Node, no extra certificates (they cost older Nodes 30 ms a start).
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

export const ROOT = join(import.meta.dirname, "..");
const BIN = join(ROOT, "node_modules", ".bin");

export function environment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _dropped, ...rest } = process.env;
  return { ...rest, PATH: `${BIN}${delimiter}${process.env["PATH"] ?? ""}`, ...extra };
}

/** The Node that the repository pins; the running one where no package of it exists for this machine. */
export function pinnedNode(): string {
  const pinned = join(BIN, "node");
  return existsSync(pinned) ? pinned : process.execPath;
}

/** Runs to its end with our stdio; returns the exit code (1 when it could not start or died by a signal). */
export function run(command: string, args: readonly string[], cwd = ROOT): number {
  const result = spawnSync(command, args, { cwd, stdio: "inherit", env: environment() });
  if (result.error) console.error(`${command}: ${result.error.message}`);
  return result.status ?? 1;
}

export function isOnPath(program: string): boolean {
  return (environment()["PATH"] ?? "")
    .split(delimiter)
    .some((folder) => existsSync(join(folder, program)));
}
