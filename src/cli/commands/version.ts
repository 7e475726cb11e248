// `hermes version` as it runs where the launcher did not answer it already (an option stood in front of it).
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import type { Context } from "../context.ts";
import { readCommit, readVersion } from "../version.ts";

export async function run({ launch, io }: Context): Promise<ExitCode> {
  const { version, releaseDate } = readVersion(launch.project);
  const commit = readCommit(launch.project);
  if (io.json) {
    io.object({
      version,
      release_date: releaseDate,
      node: process.version,
      commit,
      project: launch.project,
    });
  } else {
    io.line(`hermes ${version} (${releaseDate}, ${commit ?? "unknown build"})`);
    io.line(`node ${process.version}`);
    io.line(`project ${launch.project}`);
  }
  return EXIT.ok;
}
