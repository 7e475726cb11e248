// One text for equal JSON values, whatever the order of their keys.

/** JSON with sorted keys; keys in `without` are left out at any depth. A value that JSON cannot hold becomes null. */
export function canonicalJson(value: unknown, without: ReadonlySet<string> = new Set()): string {
  return JSON.stringify(sorted(value, without)) ?? "null";
}

function sorted(value: unknown, without: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((entry) => sorted(entry, without));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(([key]) => !without.has(key))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, entry]) => [key, sorted(entry, without)] as const);
  return Object.fromEntries(entries);
}
