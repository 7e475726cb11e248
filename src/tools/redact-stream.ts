// Redaction of text that comes in pieces: a tail that may begin a secret waits until it cannot (agent.md §5.7).
import type { StreamRedactor } from "#agent/ports/redactor.ts";
import { REDACTION } from "./redaction-rules.ts";
import type { SecretFinder, SecretRange } from "./redact.ts";
import type { Spelling } from "./secret-spellings.ts";

/** A tail longer than this is let go, redacted as far as it can be told: memory and delay stay bounded. */
const MAX_HELD_CHARS = 65_536;

/** How far a pattern may look back. */
const CONTEXT_CHARS = 160;

type Replace = (text: string, ranges: readonly SecretRange[]) => string;

export function openRedactionStream(finder: SecretFinder, replace: Replace): StreamRedactor {
  // Text that was shown already: some patterns look at what stands before them.
  let shown = "";
  let held = "";
  const take = (all: string, ranges: readonly SecretRange[], cut: number): string => {
    const from = shown.length;
    const here = ranges
      .filter((range) => range.end > from && range.start < cut)
      .map((range) => ({
        ...range,
        start: Math.max(0, range.start - from),
        end: range.end - from,
      }));
    const out = replace(all.slice(from, cut), here);
    shown = all.slice(Math.max(0, cut - CONTEXT_CHARS), cut);
    held = all.slice(cut);
    return out;
  };
  return {
    push(text) {
      const all = shown + held + text;
      const ranges = finder.find(all);
      return take(all, ranges, Math.max(shown.length, safeCut(all, ranges, finder.spellings)));
    },
    flush() {
      const all = shown + held;
      return take(all, finder.find(all), all.length);
    },
  };
}

/** Up to where `text` can be shown: before any beginning of a secret, and never inside a whole one. */
function safeCut(
  text: string,
  ranges: readonly SecretRange[],
  spellings: readonly Spelling[],
): number {
  let cut = Math.min(valueTail(text, spellings), patternTail(text));
  for (const range of ranges) if (range.start < cut && cut < range.end) cut = range.start;
  if (text.length - cut <= MAX_HELD_CHARS) return cut;
  return text.length;
}

function valueTail(text: string, spellings: readonly Spelling[]): number {
  const longest = spellings[0]?.text.length ?? 0;
  const firsts = new Set(spellings.map((spelling) => spelling.text[0]));
  const from = Math.max(0, text.length - 2 * longest);
  for (let start = from; start < text.length; start++) {
    if (!firsts.has(text[start])) continue;
    const tail = text.slice(start);
    const unwrapped = tail.replace(/[\r\n]/g, "");
    if (spellings.some((spelling) => mayBegin(spelling, tail, unwrapped))) return start;
  }
  return text.length;
}

function mayBegin(spelling: Spelling, tail: string, unwrapped: string): boolean {
  if (spelling.text[0] !== tail[0]) return false;
  if (spelling.text.startsWith(tail)) return true;
  return spelling.wraps && spelling.text.startsWith(unwrapped);
}

let partials: readonly RegExp[] | null = null;

function patternTail(text: string): number {
  partials ??= REDACTION.map((rule) => partialOf(rule.starts ?? [], rule.partial));
  let cut = text.length;
  // A window keeps the cost of a push independent of what is held.
  const from = Math.max(0, text.length - 24_000);
  const window = text.slice(from);
  for (const partial of partials) {
    const at = window.search(partial);
    if (at !== -1) cut = Math.min(cut, from + at);
  }
  return cut;
}

/** `sk-` gives: a tail of `s`, `sk`, or `sk-` with any token characters after it. */
function partialOf(starts: readonly string[], partial: string | undefined): RegExp {
  const forms = starts.map((start) => {
    const whole = escape(start);
    const prefixes = Array.from({ length: start.length - 1 }, (_, index) =>
      escape(start.slice(0, index + 1)),
    );
    return `${whole}[A-Za-z0-9._~+/=-]*|${prefixes.join("|")}`;
  });
  const parts = forms.length > 0 ? [`(?<![A-Za-z0-9])(?:${forms.join("|")})$`] : [];
  if (partial !== undefined) parts.push(partial);
  return new RegExp(parts.join("|"));
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
