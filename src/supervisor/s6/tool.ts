// One run of an s6 program, bounded (container.md §7.2): absolute paths in the image, PATH elsewhere.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const LIMIT_MS = 5000;
const IMAGE_TOOLS = "/command";

export interface ToolEnd {
  /** null: killed, or it could not be run at all. */
  readonly rc: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type RunTool = (name: string, args: readonly string[], limitMs?: number) => Promise<ToolEnd>;

/** Never rejects: what cannot be run ends with rc null and the reason in stderr. */
export const runTool: RunTool = (name, args, limitMs = LIMIT_MS) =>
  new Promise((resolve) => {
    execFile(
      pathOf(name),
      [...args],
      { timeout: limitMs, killSignal: "SIGKILL", encoding: "utf8", maxBuffer: 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error === null) resolve({ rc: 0, stdout, stderr });
        else if (typeof error.code === "number") resolve({ rc: error.code, stdout, stderr });
        else resolve({ rc: null, stdout, stderr: stderr || error.message });
      },
    );
  });

let inImage: boolean | null = null;

function pathOf(name: string): string {
  inImage ??= existsSync(join(IMAGE_TOOLS, "s6-svstat"));
  return inImage ? join(IMAGE_TOOLS, name) : name;
}
