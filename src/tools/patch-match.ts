// Where an old text stands in a file, exactly or nearly: exact, line-trimmed, indentation-shifted, white space collapsed.

export type Strategy = "exact" | "line-trimmed" | "indentation-shifted" | "whitespace-collapsed";

export interface Hit {
  /** Range of UTF-16 units in the file. */
  readonly start: number;
  readonly end: number;
  /** From 1. */
  readonly line: number;
  /** What takes its place. */
  readonly replacement: string;
}

export interface Match {
  readonly strategy: Strategy;
  /** In order, not overlapping; never empty. */
  readonly hits: readonly Hit[];
}

/** The first strategy with a hit, or null. */
export function findMatch(file: string, oldText: string, newText: string): Match | null {
  const fitted = file.includes("\r\n") ? newText.replace(/\r?\n/g, "\r\n") : newText;
  const exact = exactHits(file, oldText, oldText.includes("\r") ? newText : fitted);
  if (exact.length > 0) return { strategy: "exact", hits: exact };
  const lines = linesOf(file);
  for (const strategy of LINE_STRATEGIES) {
    const hits = lineHits(lines, oldText, fitted, strategy);
    if (hits.length > 0) return { strategy: strategy.name, hits };
  }
  return null;
}

function exactHits(file: string, oldText: string, newText: string): readonly Hit[] {
  const hits: Hit[] = [];
  let line = 1;
  let counted = 0;
  for (let at = file.indexOf(oldText); at !== -1; at = file.indexOf(oldText, at + oldText.length)) {
    line += countNewlines(file, counted, at);
    counted = at;
    hits.push({ start: at, end: at + oldText.length, line, replacement: newText });
  }
  return hits;
}

function countNewlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1))
    count++;
  return count;
}

interface Line {
  readonly text: string;
  readonly start: number;
  /** Without its line end. */
  readonly end: number;
}

function linesOf(file: string): readonly Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (const raw of file.split("\n")) {
    const text = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
    lines.push({ text, start, end: start + text.length });
    start += raw.length + 1;
  }
  return lines;
}

interface LineStrategy {
  readonly name: Exclude<Strategy, "exact">;
  /** Equal keys are equal lines. */
  key(line: string): string;
  /** The new text as it fits the place. */
  fit(newText: string, oldLines: readonly string[], found: readonly Line[]): string | null;
}

const LINE_STRATEGIES: readonly LineStrategy[] = [
  { name: "line-trimmed", key: (line) => line.trimEnd(), fit: (text) => text },
  { name: "indentation-shifted", key: (line) => line.trim(), fit: shiftIndentation },
  {
    name: "whitespace-collapsed",
    key: (line) => line.trim().replace(/\s+/g, " "),
    fit: (text, oldLines, found) => shiftIndentation(text, oldLines, found) ?? text,
  },
];

function lineHits(
  lines: readonly Line[],
  oldText: string,
  newText: string,
  strategy: LineStrategy,
): readonly Hit[] {
  const endsLine = oldText.endsWith("\n");
  const oldLines = oldText.replace(/\r?\n$/, "").split(/\r?\n/);
  const wanted = oldLines.map((line) => strategy.key(line));
  if (wanted.every((key) => key.trim() === "")) return [];
  const keys = lines.map((line) => strategy.key(line.text));
  const body = endsLine ? newText.replace(/\r?\n$/, "") : newText;
  const hits: Hit[] = [];
  for (let at = 0; at + wanted.length <= keys.length; at++) {
    if (!wanted.every((key, index) => keys[at + index] === key)) continue;
    const found = lines.slice(at, at + wanted.length);
    const replacement = strategy.fit(body, oldLines, found);
    if (replacement === null) continue;
    hits.push({
      start: found[0]?.start ?? 0,
      end: found.at(-1)?.end ?? 0,
      line: at + 1,
      replacement,
    });
    at += wanted.length - 1;
  }
  return hits;
}

/** The whole block moved by one indentation, or null when its lines moved by different ones. */
function shiftIndentation(
  newText: string,
  oldLines: readonly string[],
  found: readonly Line[],
): string | null {
  const shift = shiftOf(oldLines, found);
  if (!shift) return null;
  return newText
    .split("\n")
    .map((line) => (line.trim() === "" ? line : moveLine(line, shift)))
    .join("\n");
}

interface Shift {
  readonly remove: string;
  readonly add: string;
}

function moveLine(line: string, shift: Shift): string {
  return line.startsWith(shift.remove) ? shift.add + line.slice(shift.remove.length) : line;
}

function shiftOf(oldLines: readonly string[], found: readonly Line[]): Shift | null {
  let shift: Shift | null = null;
  for (const [index, line] of oldLines.entries()) {
    if (line.trim() === "") continue;
    const here = indentOf(found[index]?.text ?? "");
    const there = indentOf(line);
    shift ??= splitShift(there, here);
    if (moveLine(there, shift) !== here) return null;
  }
  return shift;
}

/** What the two indentations do not share at their end. */
function splitShift(there: string, here: string): Shift {
  let shared = 0;
  while (
    shared < Math.min(there.length, here.length) &&
    there.at(-1 - shared) === here.at(-1 - shared)
  )
    shared++;
  return {
    remove: there.slice(0, there.length - shared),
    add: here.slice(0, here.length - shared),
  };
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

export interface NearPlace {
  readonly line: number;
  readonly text: string;
}

const MAX_COMPARED_LINES = 100_000;

/** The places whose lines share most words with the old text, best first. */
export function nearestPlaces(file: string, oldText: string, count = 3): readonly NearPlace[] {
  const wanted = wordsOf(oldText.split("\n").find((line) => line.trim() !== "") ?? "");
  if (wanted.size === 0) return [];
  return file
    .split("\n", MAX_COMPARED_LINES)
    .map((text, index) => ({
      line: index + 1,
      text: text.slice(0, 200),
      score: overlap(wanted, wordsOf(text)),
    }))
    .filter((place) => place.score > 0)
    .sort((a, b) => b.score - a.score || a.line - b.line)
    .slice(0, count)
    .map(({ line, text }) => ({ line, text }));
}

function wordsOf(line: string): ReadonlySet<string> {
  return new Set(line.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []);
}

function overlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const shared = [...a].filter((word) => b.has(word)).length;
  return shared / Math.max(1, a.size + b.size - shared);
}
