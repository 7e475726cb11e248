// Where aliases of profiles go, and what they start (agent.md §8).
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { AliasPlace } from "#profile/alias.ts";
import type { Launch } from "./context.ts";

export function aliasPlace({ env, project }: Pick<Launch, "env" | "project">): AliasPlace {
  const shim = join(project, "bin", "hermes");
  return {
    folder: join(env["HOME"] || homedir(), ".local", "bin"),
    searchPath: env["PATH"] ?? "",
    command: existsSync(shim) ? [shim] : [process.execPath, join(project, "bin", "hermes.mjs")],
  };
}
