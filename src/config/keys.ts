// Dotted keys as people type them (agent.md §1.3): `\.` is a literal dot, an existing literal key wins.
import { isMapping, type Mapping } from "./plain.ts";

export function splitKey(key: string): string[] {
  const parts = key.match(/(?:\\.|[^.\\])+|\\$/g) ?? [];
  return parts.map((part) => part.replace(/\\(.)/g, "$1"));
}

/** `a.b.c` with the key `b.c` standing in `a` is [`a`, `b.c`]: at each level the longest key that is there wins. */
export function resolveKey(raw: Mapping, key: string): string[] {
  const parts = splitKey(key);
  const path: string[] = [];
  let at: unknown = raw;
  while (parts.length > 0) {
    const count = isMapping(at) ? longestKey(at, parts) : 1;
    const name = parts.splice(0, count).join(".");
    path.push(name);
    at = isMapping(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return path;
}

function longestKey(mapping: Mapping, parts: readonly string[]): number {
  for (let count = parts.length; count > 1; count--) {
    if (Object.hasOwn(mapping, parts.slice(0, count).join("."))) return count;
  }
  return 1;
}

export function joinKey(path: readonly string[]): string {
  return path.map((part) => part.replace(/[\\.]/g, "\\$&")).join(".");
}
