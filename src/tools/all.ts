// Every tool of ours, in the order in which they stand on the wire.
import type { Tool } from "#agent/ports/tool.ts";
import type { ToolBoxDeps } from "./deps.ts";

export interface AllTools {
  readonly tools: readonly Tool[];
  /** Ends what the tools left running. */
  close(): Promise<void>;
}

export function createAllTools(_deps: ToolBoxDeps): AllTools {
  return { tools: [], close: () => Promise.resolve() };
}
