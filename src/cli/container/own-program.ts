// A `hermes` that is this program, for scripts of slots (container.md §6.2): on a host PATH may have none, or another one.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Hidden, so that s6-svscan takes it for no service. */
const FOLDER = ".bin";

/** Writes it into the scan directory and returns the PATH that finds it first. Throws the system's error. */
export function putProgram(scandir: string, project: string, path: string | undefined): string {
  const folder = join(scandir, FOLDER);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const words = [process.execPath, ...process.execArgv, join(project, "bin", "hermes.mjs")];
  const text = `#!/bin/sh\nexec ${words.map(quote).join(" ")} "$@"\n`;
  writeFileSync(join(folder, "hermes"), text, { mode: 0o755 });
  return [folder, ...(path ? [path] : [])].join(":");
}

const quote = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;
