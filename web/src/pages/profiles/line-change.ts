// What lies between two texts: the lines at both ends that are equal, and the block that differs.

export interface LineChange {
  /** Equal lines right before the change, at most three. */
  readonly before: readonly string[];
  readonly removed: readonly string[];
  readonly added: readonly string[];
  readonly after: readonly string[];
}

const CONTEXT_LINES = 3;

/** null: the texts are equal. */
export function lineChange(old: string, next: string): LineChange | null {
  if (old === next) return null;
  const [was, is] = [old.split("\n"), next.split("\n")];
  const shorter = Math.min(was.length, is.length);
  let head = 0;
  while (head < shorter && was[head] === is[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && was.at(-1 - tail) === is.at(-1 - tail)) tail += 1;
  return {
    before: was.slice(Math.max(0, head - CONTEXT_LINES), head),
    removed: was.slice(head, was.length - tail),
    added: is.slice(head, is.length - tail),
    after: was.slice(was.length - tail).slice(0, CONTEXT_LINES),
  };
}
