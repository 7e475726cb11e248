// What `--version` says: the version of package.json and the date of that release.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Day of the release that package.json's version names; changed together with it. */
const RELEASE_DATE = "2026-11-30";

export interface Release {
  readonly version: string;
  /** `YYYY-MM-DD`. */
  readonly releaseDate: string;
}

/** From the sources of `project`. The build stores the answer as dist/version.json. */
export function readVersion(project: string): Release {
  const text = readFileSync(join(project, "package.json"), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  return { version, releaseDate: RELEASE_DATE };
}

/** The commit that the image was built from; null where nobody wrote it down. */
export function readCommit(project: string): string | null {
  try {
    return readFileSync(join(project, ".hermes_build_sha"), "utf8").trim() || null;
  } catch {
    return null;
  }
}
