// What the one reader of configuration hands to everyone else.
import type { Problem } from "#base/errors.ts";
import type { Config } from "./tree.ts";

/** Where a value of the effective environment came from: the process, a `NAME_FILE` twin, or the home's `.env`. */
export type EnvSource = "env" | "file" | ".env";

/** The process environment over `.env`; an empty variable counts as unset (agent.md §2.3). */
export interface EffectiveEnv {
  get(name: string): string | undefined;
  source(name: string): EnvSource | null;
  /** Every secret that is set, by name: for redaction. Values of at least 8 characters. */
  secrets(): ReadonlyMap<string, string>;
}

export type ConfigFileState =
  | { readonly state: "ok" }
  | { readonly state: "missing" }
  /** The last good copy is in use; writes are refused with CONFIG_BROKEN. */
  | {
      readonly state: "broken";
      readonly line: number | null;
      readonly column: number | null;
      readonly message: string;
    };

export interface LoadedConfig {
  /** Frozen; keys are spelled as in YAML. */
  readonly config: Config;
  readonly env: EffectiveEnv;
  readonly home: string;
  /** The home with a trailing `profiles/<name>` removed. */
  readonly root: string;
  /** `default` or the profile's name. */
  readonly profile: string;
  readonly path: string;
  readonly envPath: string;
  readonly file: ConfigFileState;
  readonly version: number;
  readonly latestVersion: number;
  /** Warnings that did not stop the load (wrong values that fell to their default, unset references, …). */
  readonly problems: readonly Problem[];
}
