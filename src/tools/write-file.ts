// write_file: a whole file, atomically (agent.md §5.1).
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod/mini";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { errnoOf, messageOf } from "#base/errors.ts";
import { cutStart } from "#base/text.ts";
import { ToolError, type Tool } from "#agent/ports/tool.ts";
import { defineTool } from "./define.ts";
import type { ToolBoxDeps } from "./deps.ts";
import { countChanges } from "./line-changes.ts";
import { expandPath, type PathGuard } from "./paths.ts";
import { MAX_EDIT_BYTES, readEditable, refusePlaceholders, regularStats } from "./text-file.ts";
import { toolHome } from "./tool-env.ts";
import { assessWrite } from "./write-rules.ts";

const INPUT = z.object({
  path: z
    .string()
    .check(
      z.minLength(1),
      z.describe("Absolute, or from the working directory; ~ works. Folders are made."),
    ),
  content: z.string().check(z.maxLength(MAX_EDIT_BYTES), z.describe("The whole new text.")),
});

export function createWriteFile(deps: ToolBoxDeps, guard: PathGuard): Tool {
  return defineTool({
    name: "write_file",
    toolset: "file",
    description:
      "Write a whole text file, replacing what was there. To change a part of a file use patch.",
    input: INPUT,
    exclusive: true,
    assess: (input, context) =>
      assessWrite(
        deps,
        guard,
        { path: input.path, detail: cutStart(input.content, 4000) },
        context.cwd,
      ),
    async run(input, context) {
      const named = expandPath(input.path, context.cwd, toolHome(deps));
      const path = guard.checkWrite(named);
      const bytes = Buffer.byteLength(input.content);
      if (bytes > MAX_EDIT_BYTES) {
        throw new ToolError(
          "TOO_LARGE",
          `${bytes} bytes are too many, at most ${MAX_EDIT_BYTES} are written`,
        );
      }
      const old = await oldText(path, guard);
      refusePlaceholders(path, input.content, old ?? "");
      writeWhole(path, input.content);
      const created = old === null;
      return { bytes, created, ...(await countChanges(old ?? "", input.content)) };
    },
  });
}

/** null: there was no file. One that is no text counts as empty: it is replaced as a whole. */
async function oldText(path: string, guard: PathGuard): Promise<string | null> {
  if (!existsSync(path)) return null;
  regularStats(path);
  try {
    return await readEditable(path, guard);
  } catch (error) {
    if (error instanceof ToolError && (error.code === "BINARY" || error.code === "TOO_LARGE"))
      return "";
    throw error;
  }
}

/** Throws WRITE_FAILED with the system's word; the old file is left then. */
export function writeWhole(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileAtomic(path, text, { mode: 0o644 });
  } catch (error) {
    const errno = errnoOf(error) ?? "EIO";
    throw new ToolError("WRITE_FAILED", `${path} could not be written: ${messageOf(error)}`, {
      errno,
    });
  }
}
