// Changing one value in the text of a block mapping without touching any other byte. Answers null where the text is
// built in a way that this cannot do; the caller then goes through the document, and checks the result either way.
import {
  isCollection,
  isMap,
  isPair,
  isScalar,
  parseDocument,
  stringify,
  type Node,
  type Pair,
  type YAMLMap,
} from "yaml";
import { YAML_OPTIONS } from "./document.ts";

export function spliceSet(text: string, path: readonly string[], value: unknown): string | null {
  const found = descend(text, path);
  if (found === null) return null;
  const { map, pair, rest } = found;
  if (pair !== null) return replace(text, pair, value, isFlow(map));
  return isFlow(map) ? insertInFlow(text, map, rest, value) : insert(text, map, rest, value);
}

export function spliceUnset(text: string, path: readonly string[]): string | null {
  const found = descend(text, path);
  if (found === null || found.pair === null) return null;
  const start = startOf(found.pair.key);
  if (start === null || isFlow(found.map)) return null;
  const from = text.lastIndexOf("\n", start - 1) + 1;
  if (text.slice(from, start).trim() !== "") return null;
  return text.slice(0, from) + text.slice(lineEnd(text, endOf(found.pair) ?? start));
}

interface Found {
  /** The innermost mapping that is there; null for a text without any. */
  readonly map: YAMLMap | null;
  /** Its pair for the next key; null when that key is missing. */
  readonly pair: Pair | null;
  /** Keys that are missing (with the next one, when `pair` is null). */
  readonly rest: readonly string[];
}

function descend(text: string, path: readonly string[]): Found | null {
  const doc = parseDocument(text, YAML_OPTIONS);
  if (doc.contents === null) return { map: null, pair: null, rest: path };
  if (!isMap(doc.contents)) return null;
  let map: YAMLMap = doc.contents;
  for (const [index, key] of path.entries()) {
    if (map.anchor || map.tag) return null;
    const pair = map.items.find((item) => keyOf(item) === key) ?? null;
    const isLast = index === path.length - 1;
    if (pair === null) return { map, pair, rest: path.slice(index) };
    if (isLast) return { map, pair, rest: [] };
    if (!isMap(pair.value)) return null;
    map = pair.value;
  }
  return null;
}

function isFlow(map: YAMLMap | null): map is YAMLMap {
  return map?.flow === true;
}

function keyOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : "";
}

function replace(text: string, pair: Pair, value: unknown, inFlow: boolean): string | null {
  const node = pair.value as Node | null;
  if (node === null || !node.range || node.anchor || node.tag) return null;
  const [start, end] = node.range;
  if (!isInline(node)) return replaceBlock(text, pair, value);
  const space = text[start - 1] === ":" ? " " : "";
  return text.slice(0, start) + space + inline(value, inFlow) + text.slice(end);
}

function isInline(node: Node): boolean {
  if (isCollection(node)) return node.flow === true;
  return isScalar(node) && node.type !== "BLOCK_LITERAL" && node.type !== "BLOCK_FOLDED";
}

/** A value over several lines becomes one on the line of its key; a comment on that line stays. */
function replaceBlock(text: string, pair: Pair, value: unknown): string | null {
  const keyEnd = endOf(pair.key);
  const end = endOf(pair);
  if (keyEnd === null || end === null) return null;
  const colon = text.indexOf(":", keyEnd);
  const line = text.slice(colon + 1, lineEnd(text, colon));
  const comment = /^[ \t]+#/.test(line) ? line : line.endsWith("\r\n") ? "\r\n" : "\n";
  return `${text.slice(0, colon + 1)} ${inline(value)}${comment}${text.slice(lineEnd(text, end))}`;
}

function insertInFlow(
  text: string,
  map: YAMLMap,
  [key = "", ...inner]: readonly string[],
  value: unknown,
): string | null {
  const last = map.items.at(-1);
  const at = last === undefined ? (map.range?.[0] ?? -1) + 1 : endOf(last);
  if (at === null || at === 0) return null;
  const whole = inner.reduceRight<unknown>((child, name) => ({ [name]: child }), value);
  const pair = `${last === undefined ? "" : ", "}${inline(key, true)}: ${inline(whole, true)}`;
  return text.slice(0, at) + pair + text.slice(at);
}

function insert(
  text: string,
  map: YAMLMap | null,
  keys: readonly string[],
  value: unknown,
): string | null {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const first = map?.items[0];
  const start = first === undefined ? 0 : startOf(first.key);
  const end = map === null ? text.length : endOf(map);
  if (start === null || end === null || (map !== null && first === undefined)) return null;
  const indent = text.slice(text.lastIndexOf("\n", start - 1) + 1, start).replace("\uFEFF", "");
  if (map !== null && indent.trim() !== "") return null;
  const at = map === null ? text.length : lineEnd(text, end);
  const before = text.slice(0, at);
  const isOpen = before !== "" && before !== "\uFEFF" && !before.endsWith("\n");
  const lines = nested(keys, value, map === null ? "" : indent);
  return before + (isOpen ? eol : "") + lines.map((line) => line + eol).join("") + text.slice(at);
}

function nested(keys: readonly string[], value: unknown, indent: string): string[] {
  return keys.map((key, depth) => {
    const isLast = depth === keys.length - 1;
    return `${indent}${"  ".repeat(depth)}${inline(key)}:${isLast ? ` ${inline(value)}` : ""}`;
  });
}

/** On one line, in a form that needs no indentation; within `{…}` a text may hold no bare comma or bracket. */
function inline(value: unknown, inFlow = false): string {
  if (typeof value === "object" && value !== null) return JSON.stringify(value);
  const text = stringify(value, { lineWidth: 0 }).trimEnd();
  if (typeof value !== "string") return text;
  const isSafe = !text.includes("\n") && (!inFlow || /^[\w.@/-]+$/.test(text));
  return isSafe ? text : JSON.stringify(value);
}

function startOf(key: unknown): number | null {
  return isScalar(key) ? (key.range?.[0] ?? null) : null;
}

/** Where the text of a node ends: the end of its innermost last value. */
function endOf(node: unknown): number | null {
  if (isPair(node)) return endOf(node.value) ?? endOf(node.key);
  if (isCollection(node) && node.flow !== true) return endOf(node.items.at(-1));
  const range = (node as Node | null | undefined)?.range;
  return range?.[1] ?? null;
}

/** The start of the next line; a place that already is one stays (a block text ends there). */
function lineEnd(text: string, at: number): number {
  if (text[at - 1] === "\n") return at;
  const next = text.indexOf("\n", at);
  return next === -1 ? text.length : next + 1;
}
