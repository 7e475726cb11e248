// One change to the text of `config.yaml`: comments, order and every other value stay (agent.md §2.4).
import { isDeepStrictEqual } from "node:util";
import { isAlias, isCollection, isMap, isNode, parseDocument, type Document } from "yaml";
import { HermesError } from "#base/errors.ts";
import { parseConfigText, YAML_OPTIONS } from "./document.ts";
import { joinKey } from "./keys.ts";
import { isMapping, toPlain, type Mapping } from "./plain.ts";
import { spliceSet, spliceUnset } from "./yaml-splice.ts";

export interface Edit {
  /** As the keys stand in the file. */
  readonly path: readonly string[];
  /** Undefined: remove the key. */
  readonly value: unknown;
}

/** Throws `CONFIG_EDIT_FAILED` when the result would not be the old content and this one change. */
export function editConfigText(text: string, edit: Edit): string {
  const before = plainOf(text);
  const expected = before === null ? null : changed(before, edit.path, edit.value);
  if (expected === null) throw failed(edit);
  for (const attempt of [splice, throughDocument]) {
    const after = attempt(text, edit);
    if (after !== null && isDeepStrictEqual(plainOf(after), expected)) return after;
  }
  throw failed(edit);
}

function splice(text: string, { path, value }: Edit): string | null {
  return value === undefined ? spliceUnset(text, path) : spliceSet(text, path, value);
}

function throughDocument(text: string, { path, value }: Edit): string | null {
  const doc = parseDocument(text, YAML_OPTIONS);
  try {
    unshare(doc, path);
    if (value === undefined) doc.deleteIn(path);
    else doc.setIn(path, doc.createNode(value));
    return doc.toString({ lineWidth: 0 });
  } catch {
    return null;
  }
}

/** An alias on the way gets its own copy, so that the anchor's other users keep their value; a scalar makes room. */
function unshare(doc: Document.Parsed, path: readonly string[]): void {
  for (let depth = 1; depth < path.length; depth++) {
    const at = path.slice(0, depth);
    const node = doc.getIn(at, true);
    const target = isAlias(node) ? node.resolve(doc) : node;
    if (isNode(target) && target !== node) {
      const own = target.clone();
      if (isCollection(own)) delete own.anchor;
      doc.setIn(at, own);
    } else if (node !== undefined && !isMap(node)) {
      doc.setIn(at, doc.createNode({}));
    }
  }
}

function plainOf(text: string): Mapping | null {
  const parsed = parseConfigText(text);
  return parsed.ok ? (toPlain(parsed.document.raw) as Mapping) : null;
}

/** A copy with the change; a value that is no mapping makes room for one. */
function changed(before: Mapping, path: readonly string[], value: unknown): Mapping {
  const [key, ...rest] = path;
  if (key === undefined) return before;
  const copy: Mapping = { ...before };
  if (rest.length > 0) {
    const inner = before[key];
    if (value === undefined && !isMapping(inner)) return copy;
    const next = changed(isMapping(inner) ? inner : {}, rest, value);
    copy[key] = value === undefined && Object.keys(next).length === 0 ? null : next;
  } else if (value === undefined) delete copy[key];
  else copy[key] = value;
  return copy;
}

function failed(edit: Edit): HermesError {
  const key = joinKey(edit.path);
  return new HermesError("CONFIG_EDIT_FAILED", `${key} cannot be changed without touching more`, {
    setting: key,
    fix: "Edit config.yaml by hand (hermes config edit).",
  });
}
