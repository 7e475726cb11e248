// Every tool of ours, in the order in which they stand on the wire.
import type { Tool } from "#agent/ports/tool.ts";
import { createBackground } from "./background.ts";
import { createClarify } from "./clarify.ts";
import { createCommandJudge } from "./command-judge.ts";
import type { ToolBoxDeps } from "./deps.ts";
import { createMemory } from "./memory.ts";
import { createPatch } from "./patch.ts";
import { createPathGuard } from "./paths.ts";
import { createProcessTool } from "./process.ts";
import { createReadFile } from "./read-file.ts";
import { createSearchFiles } from "./search-files.ts";
import { createSessionSearch } from "./session-search.ts";
import { createTerminal } from "./terminal.ts";
import { createTodo } from "./todo.ts";
import { toolHome } from "./tool-env.ts";
import { createWebExtract } from "./web-extract.ts";
import { createWebSearch } from "./web-search.ts";
import { createWriteFile } from "./write-file.ts";

export interface AllTools {
  readonly tools: readonly Tool[];
  /** Ends what the tools left running. */
  close(): Promise<void>;
}

export function createAllTools(deps: ToolBoxDeps): AllTools {
  const guard = createPathGuard({
    home: deps.home,
    root: deps.root,
    userHomes: [...new Set([deps.env("HOME") ?? toolHome(deps), toolHome(deps)])],
    safeRoots: deps.safeRoots,
  });
  const background = createBackground(deps);
  const judge = createCommandJudge(deps, guard);
  return {
    tools: [
      createTerminal(deps, background, judge),
      createProcessTool(background, judge),
      createReadFile(deps, guard),
      createWriteFile(deps, guard),
      createPatch(deps, guard),
      createSearchFiles(deps, guard),
      createWebExtract(deps),
      createWebSearch(deps),
      createMemory(deps),
      createSessionSearch(deps),
      createTodo(deps),
      createClarify(deps),
    ],
    close: () => background.close(),
  };
}
