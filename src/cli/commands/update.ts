// `hermes update`: says how; it changes nothing (agent.md §1.3).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { HermesError } from "#base/errors.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import type { Context } from "../context.ts";

const COMMANDS = ["npm ci", "npm start"];

export async function run({ launch, io }: Context): Promise<ExitCode> {
  if (isImage(launch.project)) {
    throw new HermesError("UPDATE_IMAGE", "This is the container image.", {
      fix: "Pull a newer image and start the container anew.",
    });
  }
  if (io.json) {
    io.object({ commands: COMMANDS });
    return EXIT.ok;
  }
  io.note(`Get the newer sources into ${launch.project} (git pull), then run there:`);
  io.line(COMMANDS.join("\n"));
  return EXIT.ok;
}

/** The image is stamped (container.md §1.1). */
function isImage(project: string): boolean {
  try {
    return readFileSync(join(project, ".install_method"), "utf8").trim() === "docker";
  } catch {
    return false;
  }
}
