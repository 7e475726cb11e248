// A few words around a match, for hits that the index cannot mark itself, and tool results as a line to read.
import { cutEnd, cutStart } from "#base/text.ts";

const BEFORE = 60;
const AFTER = 100;

/** The surroundings of the first term found, marked with `>>>` and `<<<`. `terms` are in lower case. */
export function snippetAround(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase();
  const term = terms.find((candidate) => lower.includes(candidate));
  // Lower case may be longer than the text itself (İ): then positions do not carry over.
  if (term === undefined || lower.length !== text.length) return startOf(text);
  const start = lower.indexOf(term);
  const end = start + term.length;
  const before = cutEnd(text.slice(0, start), BEFORE);
  const after = cutStart(text.slice(end), AFTER);
  const left = before.length < start ? "…" : "";
  const right = end + after.length < text.length ? "…" : "";
  return `${left}${before}>>>${text.slice(start, end)}<<<${after}${right}`;
}

/** The beginning, where nothing is to be marked. */
export function startOf(text: string): string {
  const start = cutStart(text, BEFORE + AFTER);
  return start.length < text.length ? `${start}…` : start;
}

/** A key of a JSON object with what stands before it and before its value; the first may be cut at its start. */
const KEY = /(?:^…?|(?<!\\)"?[\]}]*[{[,]+\s*(?<!\\)")((?:[\w-]|>>>|<<<)+)":\s*(?:\[?"|\[\])?/g;
const BETWEEN = /(?<!\\)"[\]}]*,[{[]*"/g;
const START = /^[{[]+"/;
const END = /(?<!\\)"?[\]}]+$/;
const ESCAPE = /\\(?:u([\da-f]{4})|(.))/gi;

/**
 * A piece of a tool result as one line: results are JSON text, and their braces, quotes and escapes are no help to a reader.
 * The piece may begin and end anywhere; `>>>` and `<<<` stay where they are.
 */
export function lineOfResult(piece: string): string {
  return piece
    .replaceAll(KEY, " $1: ")
    .replaceAll(BETWEEN, ", ")
    .replace(START, "")
    .replace(END, "")
    .replaceAll(ESCAPE, (_, code: string | undefined, mark: string) => unescaped(code, mark))
    .replaceAll(/\s+/g, " ")
    .trim();
}

function unescaped(code: string | undefined, mark: string): string {
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  return "nrtbf".includes(mark) ? " " : mark;
}
