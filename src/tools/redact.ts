// Redaction at every sink (agent.md §5.7): known values in several spellings, then patterns of policy/redaction.json.
import type { Redactor } from "#agent/ports/redactor.ts";
import { REDACTION } from "./redaction-rules.ts";
import { openRedactionStream } from "./redact-stream.ts";
import { spellingsOf, type Spelling } from "./secret-spellings.ts";

/** Half-open range of UTF-16 units that must not be shown. */
export interface SecretRange {
  readonly start: number;
  readonly end: number;
  readonly label: string;
}

/** Everything that a stream needs to know about what is secret. */
export interface SecretFinder {
  readonly spellings: readonly Spelling[];
  /** Known values and patterns, sorted, not overlapping. */
  find(text: string): readonly SecretRange[];
}

export const REDACTED = "[redacted]";

const IDENTITY: Redactor = {
  text: (text) => text,
  value: (value) => value,
  stream: () => ({ push: (text) => text, flush: () => "" }),
};

/**
 * `secrets`: name → value; values under 8 characters are ignored, they would hit ordinary text. A known value becomes
 * `[redacted:NAME]`, a pattern `[redacted]`. With `enabled` false nothing is changed.
 */
export function createRedactor(secrets: ReadonlyMap<string, string>, enabled: boolean): Redactor {
  if (!enabled) return IDENTITY;
  const finder = createFinder(secrets);
  const text = (input: string): string => replaceRanges(input, finder.find(input));
  return {
    text,
    value: (value) => redactValue(value, text),
    stream: () => openRedactionStream(finder, replaceRanges),
  };
}

function createFinder(secrets: ReadonlyMap<string, string>): SecretFinder {
  const spellings = spellingsOf(secrets);
  const patterns = REDACTION.map((rule) => new RegExp(rule.pattern, `g${rule.flags ?? ""}`));
  return {
    spellings,
    find: (text) =>
      mergeRanges([...valueRanges(text, spellings), ...patternRanges(text, patterns)]),
  };
}

function* patternRanges(text: string, patterns: readonly RegExp[]): Iterable<SecretRange> {
  if (text.length < 12) return;
  for (const pattern of patterns) {
    for (const match of text.matchAll(pattern)) {
      if (match[0] === "") continue;
      yield { start: match.index, end: match.index + match[0].length, label: REDACTED };
    }
  }
}

function* valueRanges(text: string, spellings: readonly Spelling[]): Iterable<SecretRange> {
  let unwrapped: Unwrapped | null = null;
  for (const spelling of spellings) {
    yield* occurrences(text, spelling);
    // base64 output is wrapped at 76 columns: its line ends must not hide a key.
    if (!spelling.wraps || !text.includes("\n")) continue;
    unwrapped ??= unwrap(text);
    for (const range of occurrences(unwrapped.text, spelling)) {
      yield {
        start: unwrapped.origin(range.start),
        end: unwrapped.origin(range.end - 1) + 1,
        label: range.label,
      };
    }
  }
}

function* occurrences(text: string, spelling: Spelling): Iterable<SecretRange> {
  const label = `[redacted:${spelling.name}]`;
  let at = text.indexOf(spelling.text);
  while (at !== -1) {
    yield { start: at, end: at + spelling.text.length, label };
    at = text.indexOf(spelling.text, at + spelling.text.length);
  }
}

interface Unwrapped {
  readonly text: string;
  origin(index: number): number;
}

function unwrap(text: string): Unwrapped {
  const kept: { from: number; origin: number }[] = [];
  let out = "";
  let origin = 0;
  for (const line of text.split("\n")) {
    const body = line.endsWith("\r") ? line.slice(0, -1) : line;
    kept.push({ from: out.length, origin });
    out += body;
    origin += line.length + 1;
  }
  return { text: out, origin: (index) => originOf(kept, index) };
}

function originOf(kept: readonly { from: number; origin: number }[], index: number): number {
  let low = 0;
  let high = kept.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((kept[middle]?.from ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  const line = kept[low];
  return line ? line.origin + index - line.from : index;
}

function mergeRanges(ranges: SecretRange[]): SecretRange[] {
  ranges.sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: SecretRange[] = [];
  for (const range of ranges) {
    const last = merged.at(-1);
    if (!last || range.start >= last.end) merged.push(range);
    else if (range.end > last.end) merged[merged.length - 1] = { ...last, end: range.end };
  }
  return merged;
}

function replaceRanges(text: string, ranges: readonly SecretRange[]): string {
  if (ranges.length === 0) return text;
  let out = "";
  let at = 0;
  for (const range of ranges) {
    out += text.slice(at, range.start) + range.label;
    at = range.end;
  }
  return out + text.slice(at);
}

const MAX_DEPTH = 64;

function redactValue<T>(value: T, text: (input: string) => string, depth = 0): T {
  if (typeof value === "string") return text(value) as T & string;
  if (typeof value !== "object" || value === null) return value;
  // Not looked into, so not shown.
  if (depth > MAX_DEPTH) return REDACTED as T & string;
  if (Array.isArray(value)) {
    return value.map((entry: unknown) => redactValue(entry, text, depth + 1)) as T & unknown[];
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries = Object.entries(value).map(([key, entry]) => [
    text(key),
    redactValue(entry as unknown, text, depth + 1),
  ]);
  return Object.fromEntries(entries) as T;
}
