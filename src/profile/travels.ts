// What of a profile travels in an archive.
import { SOUL_FILE } from "./home.ts";

/** Anything else of a home is a secret, history, a trace of a process, or can be made again. */
export const TRAVELS: readonly string[] = [
  SOUL_FILE,
  "config.yaml",
  "profile.yaml",
  "memories",
  "skills",
  "workspace",
];
