// Policy is data (agent.md §5.6): the rules live in policy/*.json and this file only reads them.
import dangerous from "./policy/dangerous.json" with { type: "json" };
import envAllow from "./policy/env-allow.json" with { type: "json" };
import hardBlock from "./policy/hard-block.json" with { type: "json" };
import injection from "./policy/injection.json" with { type: "json" };
import privateRanges from "./policy/private-ranges.json" with { type: "json" };
import protectedPaths from "./policy/protected-paths.json" with { type: "json" };
import { REDACTION } from "./redaction-rules.ts";

/** One rule over text. `pattern` is a JavaScript regular expression, `i` and `u`-free unless `flags` says otherwise. */
export interface PatternRule {
  readonly id: string;
  readonly pattern: string;
  readonly flags?: string;
  readonly reason: string;
  readonly blocks: readonly string[];
  readonly allows: readonly string[];
}

/**
 * `command`: one simple command of the normalised line (default). `pipeline`: commands joined by ` | `.
 * `raw`: each script as it came, white space collapsed. `fact`: what the normaliser says of the whole.
 */
export interface CommandRule extends PatternRule {
  readonly scope?: "command" | "pipeline" | "raw" | "fact";
}

export interface ProtectedPath {
  readonly id: string;
  /** `<home>`, `<root>` and `~` are filled in; `**` and `*` as in picomatch. */
  readonly glob: string;
  readonly deny: "write" | "read+write";
  readonly reason: string;
  /** Fixed names that a shell glob could expand to. */
  readonly blocks: readonly string[];
  readonly allows: readonly string[];
}

export interface AddressRange {
  readonly id: string;
  readonly range: string;
  readonly reason: string;
  /** `always` stays closed under security.allow_private_urls. */
  readonly closed: "always" | "private";
  readonly blocks: readonly string[];
  readonly allows: readonly string[];
}

export const HARD_BLOCK = hardBlock as readonly CommandRule[];
export const DANGEROUS = dangerous as readonly CommandRule[];
export const INJECTION = injection as readonly PatternRule[];
export const PROTECTED_PATHS = protectedPaths.paths as readonly ProtectedPath[];
/** Programs that only read: naming a path that is closed for writing is harmless for them. */
export const READERS: ReadonlySet<string> = new Set(protectedPaths.readers);
export const PRIVATE_RANGES = privateRanges as readonly AddressRange[];
export const ENV_ALLOW: {
  readonly allow: readonly string[];
  readonly never: readonly string[];
} = envAllow;

/** How many rules each policy holds, for `doctor`. */
export function policyCounts(): Readonly<Record<string, number>> {
  return {
    "hard-block": HARD_BLOCK.length,
    dangerous: DANGEROUS.length,
    "protected-paths": PROTECTED_PATHS.length,
    "private-ranges": PRIVATE_RANGES.length,
    "env-allow": ENV_ALLOW.allow.length + ENV_ALLOW.never.length,
    redaction: REDACTION.length,
    injection: INJECTION.length,
  };
}
