// Cutting and comparing text without breaking code points.

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
