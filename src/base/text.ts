// Cutting, comparing and showing text without breaking code points.

/** The first `limit` UTF-16 units of `text`, one fewer where the cut would split a surrogate pair. */
export function cutStart(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = isLowSurrogate(text, limit) ? limit - 1 : limit;
  return text.slice(0, end);
}

/** The last `limit` UTF-16 units of `text`, one fewer where the cut would split a surrogate pair. */
export function cutEnd(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const start = text.length - limit;
  return text.slice(isLowSurrogate(text, start) ? start + 1 : start);
}

/** C0 without tab and line feed, DEL, C1, and the characters that turn the direction of what follows. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const OBEYED = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;
const OBEYED_BUT_COLOUR = new RegExp(`(\\x1b\\[[0-9;]*m)|${OBEYED.source}`, "g");

/**
 * Text of a model, a tool or a file for a terminal: what the terminal would obey is shown as `\x1b` instead. A command
 * that somebody is asked to allow could otherwise overwrite itself, and an answer could write to the clipboard.
 */
export function inert(text: string): string {
  return text.replaceAll(/\r\n?/g, "\n").replaceAll(OBEYED, escaped);
}

/** As `inert`, for text that holds our own colours already. */
export function inertButColour(text: string): string {
  return text.replaceAll(OBEYED_BUT_COLOUR, (found, colour?: string) => colour ?? escaped(found));
}

function escaped(character: string): string {
  const code = character.charCodeAt(0).toString(16);
  return code.length > 2 ? `\\u${code.padStart(4, "0")}` : `\\x${code.padStart(2, "0")}`;
}

function isLowSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** The `count` candidates nearest to `word` by edit distance, nearest first; those further than half its length are left out. */
export function nearestWords(word: string, candidates: Iterable<string>, count = 3): string[] {
  const limit = Math.max(2, Math.ceil(word.length / 2));
  const scored: { candidate: string; distance: number }[] = [];
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance <= limit) scored.push({ candidate, distance });
  }
  scored.sort((a, b) => a.distance - b.distance || a.candidate.localeCompare(b.candidate));
  return scored.slice(0, count).map((entry) => entry.candidate);
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(change, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
