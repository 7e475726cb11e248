// policy/redaction.json alone: the log and the command line redact without the other rules.
import type { PatternRule } from "./policy.ts";
import redaction from "./policy/redaction.json" with { type: "json" };

export interface RedactionRule extends PatternRule {
  /** Literal beginnings of a match: a stream holds back a tail that starts like one. */
  readonly starts?: readonly string[];
  /** Where a beginning is no literal: what the tail of a stream looks like before the match is complete. */
  readonly partial?: string;
}

export const REDACTION = redaction as readonly RedactionRule[];
