// Running a script as a user who is not root: permissions mean nothing to root.
import { spawnSync } from "node:child_process";

const OTHER = 65_534;

/** Uid of the scripts: 65534 where we are root, else our own, for which permissions hold anyway. */
export const otherUid = process.getuid?.() === 0 ? OTHER : (process.getuid?.() ?? null);

export interface ScriptEnd {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs ESM source with our Node; `args` are in `process.argv` from index 1. */
export function runAsOther(source: string, args: readonly string[] = []): ScriptEnd {
  const ids = process.getuid?.() === 0 ? { uid: OTHER, gid: OTHER } : {};
  const end = spawnSync(process.execPath, ["--input-type=module", "-e", source, ...args], {
    ...ids,
    encoding: "utf8",
    env: { HOME: "/nonexistent", PATH: process.env["PATH"] },
    cwd: process.cwd(),
    timeout: 60_000,
  });
  return { status: end.status, stdout: end.stdout, stderr: end.stderr };
}
