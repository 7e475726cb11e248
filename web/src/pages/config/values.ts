// Values of the settings form: reading and writing by dotted path, text of a field and back.
import type { ConfigField } from "#protocol/http-config.ts";

export type Tree = Readonly<Record<string, unknown>>;

/** Stands for a secret that is set; sent back it means "unchanged". */
export const SECRET_SET = "__set__";

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function valueAt(tree: Tree, path: string): unknown {
  let at: unknown = tree;
  for (const key of path.split(".")) at = isTree(at) ? at[key] : undefined;
  return at;
}

/**
 * The default of a form field. The form shows `model` by its name and its window as a field of its own, while the
 * defaults have the model's whole block (dashboard.md §11.5).
 */
export function defaultAt(defaults: Tree, path: string): unknown {
  if (path === "model_context_length") return valueAt(defaults, "model.context_length") ?? 0;
  const value = valueAt(defaults, path);
  return path === "model" && isTree(value) ? value["default"] : value;
}

/** A copy with `value` at `path`; missing levels are made. */
export function withValue(tree: Tree, path: string, value: unknown): Tree {
  const [key = "", ...rest] = path.split(".");
  if (rest.length === 0) return { ...tree, [key]: value };
  const below = tree[key];
  return { ...tree, [key]: withValue(isTree(below) ? below : {}, rest.join("."), value) };
}

export type Edits = Readonly<Record<string, unknown>>;

export function withEdits(tree: Tree, edits: Edits): Tree {
  return Object.entries(edits).reduce((at, [path, value]) => withValue(at, path, value), tree);
}

export function isSame(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a ?? null) === JSON.stringify(b ?? null);
}

/** Takes an edit in; one that is back at the stored value is none. */
export function edited(edits: Edits, stored: Tree, path: string, value: unknown): Edits {
  const { [path]: _old, ...others } = edits;
  return isSame(valueAt(stored, path), value) ? others : { ...others, [path]: value };
}

/** The edits that a save did not have: those made, or changed again, while it was under way. */
export function withoutSaved(edits: Edits, saved: Edits): Edits {
  return Object.fromEntries(
    Object.entries(edits).filter(([path, value]) => !(path in saved && isSame(saved[path], value))),
  );
}

/** What the field's control shows. Lists have one entry per line; entries that are no text are JSON. */
export function fieldText(type: ConfigField["type"], value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "string") return value;
  if (type === "list" && Array.isArray(value)) {
    return value
      .map((entry) => (typeof entry === "string" ? entry : JSON.stringify(entry)))
      .join("\n");
  }
  return JSON.stringify(value, null, 2);
}

export type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: "badJson" | "badNumber" };

function parseJson(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false, problem: "badJson" };
  }
}

function parseList(text: string): Parsed {
  const lines = text.split("\n").map((line) => line.trim());
  const entries: unknown[] = [];
  for (const line of lines.filter((line) => line !== "")) {
    if (!line.startsWith("{")) {
      entries.push(line);
      continue;
    }
    const parsed = parseJson(line);
    if (!parsed.ok) return parsed;
    entries.push(parsed.value);
  }
  return { ok: true, value: entries };
}

export function parseField(type: ConfigField["type"], text: string): Parsed {
  switch (type) {
    case "number": {
      const value = Number(text.trim());
      return text.trim() === "" || !Number.isFinite(value)
        ? { ok: false, problem: "badNumber" }
        : { ok: true, value };
    }
    case "list":
      return parseList(text);
    case "object":
      return text.trim() === "" ? { ok: true, value: {} } : parseJson(text);
    case "boolean":
      return { ok: true, value: text === "true" };
    case "string":
    case "select":
      return { ok: true, value: text };
  }
}
