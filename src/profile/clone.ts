// Filling a new profile from another one (agent.md §8, `--clone`, `--clone-all`).
import { chmodSync, cpSync, existsSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { HermesError } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { configPathOf, envPathOf, readText } from "#config/files.ts";
import { loadConfig } from "#config/load.ts";
import { SOUL_FILE } from "./home.ts";
import type { ProfileRef } from "./hook.ts";
import { configuredPorts, freePort, type ServerPlatform } from "./ports.ts";
import { withoutOwn, withoutOwnVariables, withPort } from "./shareless.ts";

export interface CloneRequest {
  readonly source: ProfileRef;
  /** Media and workspace too; never history, cron and what a running gateway keeps. */
  readonly all: boolean;
  /** The environment that counts for the source: that of the process for `default`, none for a named profile. */
  readonly sourceEnv: Readonly<Record<string, string | undefined>>;
}

export interface AssignedPort {
  readonly platform: ServerPlatform;
  readonly port: number;
}

const MEMORY_FILES = ["memories/MEMORY.md", "memories/USER.md"];
const MORE = ["cache/media", "workspace"];

/** Fills `fresh`, which no one else sees yet. Throws what keeps a file of the source from being read. */
export function cloneInto(
  fresh: string,
  root: string,
  request: CloneRequest & { readonly skills: boolean },
): readonly AssignedPort[] {
  const { source, all, skills } = request;
  const trees = [...MEMORY_FILES, ...(skills ? ["skills"] : []), ...(all ? MORE : [])];
  for (const path of [SOUL_FILE, ...trees]) copy(source.home, fresh, path);
  writeEnv(source.home, fresh);
  const ports = assignPorts(root, request);
  writeConfig(source.home, fresh, ports);
  return ports;
}

/** Servers that are switched on in the source get the next ports that no profile uses. */
function assignPorts(root: string, { source, sourceEnv }: CloneRequest): readonly AssignedPort[] {
  const { config, env } = loadConfig({ processEnv: sourceEnv, home: source.home, remember: false });
  const used = new Set(configuredPorts(root).map((entry) => entry.port));
  for (const platform of ["api_server", "webhook"] as const)
    used.add(config.platforms[platform].port);
  const secrets = { api_server: "API_SERVER_KEY", webhook: "WEBHOOK_SECRET" } as const;
  return (["api_server", "webhook"] as const).flatMap((platform) => {
    const { enabled } = config.platforms[platform];
    const isOn = enabled === "auto" ? env.get(secrets[platform]) !== undefined : enabled;
    if (!isOn) return [];
    const port = freePort(platform, used);
    used.add(port);
    return [{ platform, port }];
  });
}

function writeConfig(from: string, fresh: string, ports: readonly AssignedPort[]): void {
  const text = textOf(configPathOf(from));
  if (text === null && ports.length === 0) return;
  const clean = withoutOwn(text ?? "");
  const whole = ports.reduce((left, { platform, port }) => withPort(left, platform, port), clean);
  writeNew(configPathOf(fresh), whole, 0o640);
}

function writeEnv(from: string, fresh: string): void {
  const text = textOf(envPathOf(from));
  if (text !== null) writeNew(envPathOf(fresh), withoutOwnVariables(text), 0o600);
}

function textOf(path: string): string | null {
  const file = readText(path);
  switch (file.state) {
    case "text":
      return file.text;
    case "missing":
      return null;
    case "unreadable":
      throw unreadable(path, file.problem.message);
    case "binary":
      throw unreadable(path, "it is not UTF-8 text");
  }
}

function unreadable(path: string, why: string): HermesError {
  return new HermesError("CLONE_UNREADABLE", `${path} cannot be cloned: ${why}`, {
    exit: EXIT.failed,
    fix: "Repair the source, or create the profile without --clone.",
  });
}

function writeNew(path: string, text: string, mode: number): void {
  writeFileSync(path, text, { mode });
  chmodSync(path, mode);
}

/** Links stay links: what they lead to belongs to somebody else. */
function copy(from: string, to: string, path: string): void {
  const source = join(from, path);
  if (!existsSync(source) || lstatSync(source).isSymbolicLink()) return;
  mkdirSync(dirname(join(to, path)), { recursive: true, mode: 0o750 });
  cpSync(source, join(to, path), {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
  });
}
