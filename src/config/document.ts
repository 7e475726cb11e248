// `config.yaml` as a document: parsed once, with the place of every value (agent.md §2.3).
import { LineCounter, parseDocument, visit, type Document } from "yaml";
import { messageOf } from "#base/errors.ts";
import { isMapping, toPlain, WrittenNumber, type Mapping } from "./plain.ts";

export interface Place {
  readonly line: number;
  readonly column: number;
}

export interface ConfigDocument {
  readonly text: string;
  /** The mapping; `{}` for an empty file. Numbers are WrittenNumber, merge keys are resolved. */
  readonly raw: Mapping;
  /** Of the value, or of the nearest mapping around it that is in the file. */
  placeOf(path: readonly string[]): Place | null;
}

export type ParsedConfig =
  | { readonly ok: true; readonly document: ConfigDocument }
  | { readonly ok: false; readonly place: Place | null; readonly message: string };

/** Also for those who edit: without `merge` a document keeps `<<` as a plain key. */
export const YAML_OPTIONS = { version: "1.2", merge: true, prettyErrors: false } as const;

const MESSAGES: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "The same key stands twice",
  MULTIPLE_DOCS: "The file must hold one document, without a second ---",
};

const CYCLE = "An alias (*) must not stand inside what it stands for";

/** YAML 1.2, one mapping. Duplicate keys, several documents and endless aliases are errors. */
export function parseConfigText(text: string): ParsedConfig {
  const lines = new LineCounter();
  const doc = parseDocument(text, { ...YAML_OPTIONS, lineCounter: lines });
  const fail = (offset: number | null, message: string): ParsedConfig => ({
    ok: false,
    place: offset === null ? null : placeAt(lines, offset),
    message,
  });
  const [first] = doc.errors;
  if (first !== undefined) return fail(first.pos[0], MESSAGES[first.code] ?? first.message);
  const cycle = offsetOfCycle(doc);
  if (cycle !== null) return fail(cycle, CYCLE);
  keepNumberTexts(doc);
  try {
    const raw: unknown = doc.toJS({ maxAliasCount: 100 }) ?? {};
    if (!isMapping(raw)) {
      return fail(doc.contents?.range[0] ?? 0, "The file must hold one mapping of settings");
    }
    return { ok: true, document: { text, raw, placeOf: (path) => place(doc, lines, path) } };
  } catch (cause) {
    return fail(offsetOfBadAlias(doc), messageOf(cause));
  }
}

export type ParsedValue =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

/** One value as people type it: `5`, `true`, `[a, b]`, `text`. Nothing is null. */
export function parseYamlValue(text: string): ParsedValue {
  const doc = parseDocument(text, YAML_OPTIONS);
  const [first] = doc.errors;
  if (first !== undefined) return { ok: false, message: first.message };
  if (offsetOfCycle(doc) !== null) return { ok: false, message: CYCLE };
  keepNumberTexts(doc);
  try {
    return { ok: true, value: toPlain(doc.toJS({ maxAliasCount: 100 })) };
  } catch (cause) {
    return { ok: false, message: messageOf(cause) };
  }
}

function placeAt(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function keepNumberTexts(doc: Document.Parsed): void {
  visit(doc, {
    Scalar(key, node) {
      if (key !== "key" && typeof node.value === "number" && node.source !== undefined) {
        node.value = new WrittenNumber(node.value, node.source);
      }
    },
  });
}

/** Of an alias to a mapping or sequence that holds it: the plain data would have no end. */
function offsetOfCycle(doc: Document.Parsed): number | null {
  let offset: number | null = null;
  visit(doc, {
    Alias(_, node, around) {
      const target = node.resolve(doc);
      if (target === undefined || !around.includes(target)) return undefined;
      offset = node.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return offset;
}

function offsetOfBadAlias(doc: Document.Parsed): number | null {
  let offset: number | null = null;
  visit(doc, {
    Alias(_, node) {
      if (node.resolve(doc) !== undefined) return undefined;
      offset = node.range?.[0] ?? null;
      return visit.BREAK;
    },
  });
  return offset;
}

function place(doc: Document.Parsed, lines: LineCounter, path: readonly string[]): Place | null {
  for (let depth = path.length; depth > 0; depth--) {
    const start = startOf(doc, path.slice(0, depth));
    if (start !== null) return placeAt(lines, start);
  }
  return null;
}

function startOf(doc: Document.Parsed, path: readonly string[]): number | null {
  try {
    const node = doc.getIn(path, true) as { readonly range?: readonly number[] | null } | undefined;
    return node?.range?.[0] ?? null;
  } catch {
    // A path through a scalar or an alias.
    return null;
  }
}
