// Which provider a pasted key belongs to, told by its shape alone (dashboard.md §12.3, first run).

const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/^sk-or-/, "openrouter"],
  [/^sk-ant-/, "anthropic"],
  [/^sk-(proj|svcacct|admin|None)-/, "openai"],
  [/^sk-[A-Za-z0-9]{20,}$/, "openai"],
];

/** Provider id, or null when the shape says nothing. The guess is shown and can be changed; nothing is sent. */
export function providerOfKey(key: string): string | null {
  const text = key.trim();
  return SHAPES.find(([shape]) => shape.test(text))?.[1] ?? null;
}

/** What makes a pasted text unusable as a header value, or null. */
export function keyProblem(key: string): string | null {
  if (key.trim() === "") return "The key is empty.";
  if (/\s/.test(key.trim()))
    return "The key holds white space: it was probably pasted with something else.";
  return /^[\x21-\x7e]+$/.test(key.trim()) ? null : "The key holds characters that no key has.";
}
