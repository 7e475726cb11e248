// A search snippet marks its match with `>>>` and `<<<` (agent.md §6.5).

export interface SnippetPart {
  readonly text: string;
  readonly marked: boolean;
}

export function snippetParts(snippet: string): readonly SnippetPart[] {
  const parts: SnippetPart[] = [];
  let rest = snippet;
  for (;;) {
    const start = rest.indexOf(">>>");
    const end = start === -1 ? -1 : rest.indexOf("<<<", start + 3);
    if (end === -1) break;
    if (start > 0) parts.push({ text: rest.slice(0, start), marked: false });
    if (end > start + 3) parts.push({ text: rest.slice(start + 3, end), marked: true });
    rest = rest.slice(end + 3);
  }
  return rest === "" ? parts : [...parts, { text: rest, marked: false }];
}
