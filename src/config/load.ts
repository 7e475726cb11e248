// Flags + environment + files → one frozen Config. The only reader of configuration (agent.md §2.3).
import type { ConfigFlags } from "./flags.ts";
import type { LoadedConfig } from "./loaded.ts";

export interface LoadInput {
  readonly processEnv: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly flags?: ConfigFlags;
  /** False: the last good copy is not written (default true). */
  readonly remember?: boolean;
}

/**
 * Reads everything, collects all problems, and returns a frozen configuration; problems that are only warnings come
 * with it. Throws one HermesError `CONFIG_REFUSED` (exit 78, `problems` sorted) when the configuration cannot be
 * honoured, `FLAG_REFUSED` (exit 64) when only a flag is wrong.
 */
export function loadConfig(input: LoadInput): LoadedConfig {
  throw new Error(`not built yet: ${input.home}`);
}
