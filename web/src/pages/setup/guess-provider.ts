// Which provider a key belongs to, by its shape. A guess: shown, and changeable.

const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/^sk-or-/, "openrouter"],
  [/^sk-ant-/, "anthropic"],
  [/^gsk_/, "groq"],
  [/^AIza/, "gemini"],
  [/^xai-/, "xai"],
  [/^sk-(proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}$/, "openai"],
];

/** null: the shape says nothing, or names a provider that is not offered. */
export function guessProvider(key: string, offered: readonly string[]): string | null {
  const text = key.trim();
  const id = SHAPES.find(([shape]) => shape.test(text))?.[1] ?? null;
  return id !== null && offered.includes(id) ? id : null;
}
