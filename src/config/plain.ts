// Plain data out of a file: mappings, sequences, scalars. Numbers keep their text, because an id is no quantity.

/** A number as it stood in the file: `allowed_users: [123456789012345678]` must not lose digits. */
export class WrittenNumber {
  readonly value: number;
  readonly text: string;

  constructor(value: number, text: string) {
    this.value = value;
    this.text = text;
  }
}

export type Mapping = Record<string, unknown>;

export function isMapping(value: unknown): value is Mapping {
  if (typeof value !== "object" || value === null) return false;
  return !Array.isArray(value) && !(value instanceof WrittenNumber);
}

/** Without wrappers: numbers that a double cannot hold become texts. `__proto__` is no key of ours. */
export function toPlain(value: unknown, text: (raw: string) => string = (raw) => raw): unknown {
  if (typeof value === "string") return text(value);
  if (value instanceof WrittenNumber)
    return Number.isSafeInteger(value.value) || !Number.isInteger(value.value)
      ? value.value
      : value.text;
  if (Array.isArray(value)) return value.map((item) => toPlain(item, text));
  if (!isMapping(value)) return value;
  const entries = Object.entries(value).filter(([key]) => key !== "__proto__");
  return Object.fromEntries(entries.map(([key, item]) => [key, toPlain(item, text)]));
}

export function getAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const key of path) {
    if (!isMapping(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value;
}
