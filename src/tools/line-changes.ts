// How many lines a change adds and removes, and the change as a unified diff.

export interface LineChanges {
  readonly added: number;
  readonly removed: number;
}

/** Edits beyond this are counted roughly: an exact diff of two unrelated files takes too long. */
const MAX_EDITS = 2000;

export async function countChanges(before: string, after: string): Promise<LineChanges> {
  const { diffArrays } = await import("diff");
  const old = linesOf(before);
  const now = linesOf(after);
  const head = commonHead(old, now);
  const tail = commonTail(old, now, head);
  const removed = old.slice(head, old.length - tail);
  const added = now.slice(head, now.length - tail);
  const parts = diffArrays(removed, added, { maxEditLength: MAX_EDITS });
  if (!parts) return { added: added.length, removed: removed.length };
  return {
    added: parts.filter((part) => part.added).reduce((sum, part) => sum + part.value.length, 0),
    removed: parts.filter((part) => part.removed).reduce((sum, part) => sum + part.value.length, 0),
  };
}

/** Unified diff with three lines of context, without the file header's dates. */
export async function unifiedDiff(path: string, before: string, after: string): Promise<string> {
  const { createTwoFilesPatch } = await import("diff");
  const text = createTwoFilesPatch(path, path, before, after, undefined, undefined, {
    context: 3,
    maxEditLength: MAX_EDITS,
  });
  return text ?? "(the change is too large for a diff)";
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function commonHead(a: readonly string[], b: readonly string[]): number {
  let count = 0;
  while (count < a.length && count < b.length && a[count] === b[count]) count++;
  return count;
}

function commonTail(a: readonly string[], b: readonly string[], head: number): number {
  let count = 0;
  while (count < Math.min(a.length, b.length) - head && a.at(-1 - count) === b.at(-1 - count))
    count++;
  return count;
}
