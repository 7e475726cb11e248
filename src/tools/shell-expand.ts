// What a word becomes before the command runs, as far as it can be told without running anything: variables, braces, tilde.
// Order of expansions: bash(1), "EXPANSION".
import { lexQuoted, type Part, type Word } from "./shell-lexer.ts";

/** null: it has a value that only running would tell. Not in the map: unset, so it expands to nothing. */
export type Variables = Map<string, string | null>;

export interface ExpandContext {
  readonly variables: Variables;
  readonly userHome: string;
  /** Output of a command substitution where it can be told, else null. Called once for each. */
  substitute(source: string): string | null;
  /** The process substitution was met; its commands are judged there. */
  enter(source: string): void;
}

export interface Field {
  readonly text: string;
  /** Unquoted `*`, `?` or `[`: a pattern for file names. */
  readonly glob: boolean;
  /** Holds `$NAME` or `$(…)` whose value cannot be told. */
  readonly unknown: boolean;
}

// Quoted characters that would mean something unquoted travel as private-use characters until the end.
const QUOTED_FROM = " \t\n{},*?[]~";
const QUOTED_BASE = 0xe000;
const UNKNOWN_MARK = "\uE0FF";
const MAX_FIELDS = 256;
/** Longer than any command line; a word that grows beyond it is cut and counts as unknown. */
const MAX_WORD_CHARS = 65_536;

/** The fields of one word: none when it expands to nothing, several after splitting or braces. */
export function expandWord(word: Word, context: ExpandContext): readonly Field[] {
  const marked = expandParts(word, context);
  const keepsEmpty = word.some((part) => part.kind === "text" && part.quoted);
  const fields = expandBraces(marked)
    .flatMap((piece) => piece.split(/[ \t\n]+/))
    .filter((piece) => piece !== "")
    .slice(0, MAX_FIELDS)
    .map((piece) => finish(piece, context.userHome));
  if (fields.length === 0 && keepsEmpty) return [{ text: "", glob: false, unknown: false }];
  return fields;
}

/** The same as one string, unsplit: an assignment's value, a here-document, a redirection's target. */
export function expandText(word: Word, context: ExpandContext): Field {
  return finish(expandParts(word, context), context.userHome);
}

function expandParts(word: Word, context: ExpandContext): string {
  let marked = "";
  for (const part of word) {
    marked += expandPart(part, context);
    if (marked.length > MAX_WORD_CHARS) return UNKNOWN_MARK + marked.slice(0, MAX_WORD_CHARS);
  }
  return marked;
}

function expandPart(part: Part, context: ExpandContext): string {
  switch (part.kind) {
    case "text":
      return part.quoted ? quote(part.text) : part.text;
    case "param":
      return embed(expandParameter(part.expression, context), `$${part.expression}`, part.quoted);
    case "command":
      return embed(
        context.substitute(part.source)?.replace(/\n+$/, "") ?? null,
        "$(…)",
        part.quoted,
      );
    case "process":
      context.enter(part.source);
      return `${UNKNOWN_MARK}<(…)`;
    case "arithmetic":
      return embed(arithmetic(part.source, context), "$((…))", part.quoted);
    default:
      return part satisfies never;
  }
}

/** A plain number; whatever is substituted inside is judged. */
function arithmetic(source: string, context: ExpandContext): string | null {
  for (const part of lexQuoted(source)) if (part.kind !== "text") expandPart(part, context);
  return /^[\d\s]+$/.test(source) ? source.trim() : null;
}

function embed(value: string | null, name: string, quoted: boolean): string {
  if (value === null) return `${UNKNOWN_MARK}${quote(name)}`;
  return quoted ? quote(value) : value;
}

function quote(text: string): string {
  return text.replace(/[ \t\n{},*?[\]~]/g, (char) =>
    String.fromCharCode(QUOTED_BASE + QUOTED_FROM.indexOf(char)),
  );
}

function finish(marked: string, userHome: string): Field {
  const glob = /[*?]|\[[^\]]+\]/.test(marked);
  const unknown = marked.includes(UNKNOWN_MARK);
  const tilde = marked.replace(/^~(?=\/|$)/, userHome);
  const text = tilde
    .replaceAll(UNKNOWN_MARK, "")
    .replace(/[\uE000-\uE00A]/g, (char) => QUOTED_FROM[char.charCodeAt(0) - QUOTED_BASE] ?? "");
  return { text, glob, unknown };
}

/** `{a,b}` and `{1..3}`, nested ones too, at most 64 pieces. */
export function expandBraces(text: string, budget = 64): readonly string[] {
  const group = findGroup(text);
  if (!group) return [text];
  const pieces = group.items.map(
    (item) => text.slice(0, group.start) + item + text.slice(group.end),
  );
  const out: string[] = [];
  for (const piece of pieces) {
    if (out.length >= budget) break;
    out.push(...expandBraces(piece, budget - out.length));
  }
  return out;
}

interface Group {
  readonly start: number;
  readonly end: number;
  readonly items: readonly string[];
}

function findGroup(text: string): Group | null {
  for (let start = text.indexOf("{"); start !== -1; start = text.indexOf("{", start + 1)) {
    const group = groupAt(text, start);
    if (group) return group;
  }
  return null;
}

function groupAt(text: string, start: number): Group | null {
  const commas: number[] = [];
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === "{") depth++;
    else if (char === "," && depth === 1) commas.push(at);
    else if (char === "}" && --depth === 0) {
      const items = itemsOf(
        text.slice(start + 1, at),
        commas.map((comma) => comma - start - 1),
      );
      return items && { start, end: at + 1, items };
    }
  }
  return null;
}

function itemsOf(body: string, commas: readonly number[]): readonly string[] | null {
  if (commas.length > 0) {
    const bounds = [-1, ...commas, body.length];
    return bounds.slice(1).map((end, index) => body.slice((bounds[index] ?? 0) + 1, end));
  }
  const range = /^(?:(\d{1,3})\.\.(\d{1,3})|([a-z])\.\.([a-z]))$/i.exec(body);
  if (!range) return null;
  const letters = range[3] !== undefined;
  const from = letters ? (range[3] ?? "").charCodeAt(0) : Number(range[1]);
  const to = letters ? (range[4] ?? "").charCodeAt(0) : Number(range[2]);
  const count = Math.min(64, Math.abs(to - from) + 1);
  const step = to < from ? -1 : 1;
  return Array.from({ length: count }, (_, index) => from + index * step).map((code) =>
    letters ? String.fromCharCode(code) : String(code),
  );
}

const PARAMETER = /^(!?)([A-Za-z_]\w*|[0-9]+|[@*#?$!-])(?:\[[^\]]*\])?([\s\S]*)$/;

/** The value of `${expression}`, null when it cannot be told. */
export function expandParameter(expression: string, context: ExpandContext): string | null {
  if (/^#[A-Za-z_]/.test(expression)) {
    const value = lookUp(expression.slice(1), context);
    return value === null ? null : String(value.length);
  }
  const match = PARAMETER.exec(expression);
  if (!match) return null;
  const [, indirect = "", name = "", operation = ""] = match;
  // Whatever is done to IFS, what comes out separates words.
  if (name === "IFS") return " ";
  const direct = lookUp(name, context);
  const value = indirect && direct !== null ? lookUp(direct, context) : direct;
  return applyOperation(value, operation, context);
}

function lookUp(name: string, context: ExpandContext): string | null {
  const value = context.variables.get(name);
  return value === undefined ? "" : value;
}

function applyOperation(
  value: string | null,
  operation: string,
  context: ExpandContext,
): string | null {
  if (operation === "") return value;
  const fallback = /^:?([-=+?])([\s\S]*)$/.exec(operation);
  if (fallback) {
    const [, kind, word = ""] = fallback;
    if (kind === "+") return value === "" ? "" : nested(word, context);
    return value === "" ? nested(word, context) : value;
  }
  return value === null ? null : transform(value, operation);
}

/** The word of `${x:-word}`. */
function nested(word: string, context: ExpandContext): string | null {
  let text = "";
  for (const part of lexQuoted(word)) {
    if (part.kind === "text") text += part.text.replace(/["'\\]/g, "");
    else if (part.kind === "param") text += expandParameter(part.expression, context) ?? "";
    else if (part.kind === "command")
      text += context.substitute(part.source)?.replace(/\n+$/, "") ?? "$(…)";
  }
  return text;
}

function transform(value: string, operation: string): string | null {
  const slice = /^:\s*(-?\d+)(?::\s*(-?\d+))?$/.exec(operation);
  if (slice)
    return sliceOf(value, Number(slice[1]), slice[2] === undefined ? null : Number(slice[2]));
  const replace = /^\/([/#%]?)([^/*?[\]\\]+)(?:\/([\s\S]*))?$/.exec(operation);
  if (replace) return replaceIn(value, replace[1] ?? "", replace[2] ?? "", replace[3] ?? "");
  const trim = /^(##?|%%?)([^[\]\\]{1,200})$/.exec(operation);
  if (trim) return trimOf(value.slice(0, 512), trim[1] ?? "", trim[2] ?? "");
  switch (operation) {
    case "^^":
      return value.toUpperCase();
    case ",,":
      return value.toLowerCase();
    case "^":
      return value.slice(0, 1).toUpperCase() + value.slice(1);
    case ",":
      return value.slice(0, 1).toLowerCase() + value.slice(1);
    default:
      return null;
  }
}

function sliceOf(value: string, offset: number, length: number | null): string {
  const start = offset < 0 ? Math.max(0, value.length + offset) : offset;
  if (length === null) return value.slice(start);
  return length < 0 ? value.slice(start, length) : value.slice(start, start + length);
}

function replaceIn(value: string, mode: string, from: string, to: string): string {
  if (mode === "/") return value.replaceAll(from, () => to);
  if (mode === "#") return value.startsWith(from) ? to + value.slice(from.length) : value;
  if (mode === "%") return value.endsWith(from) ? value.slice(0, -from.length) + to : value;
  return value.replace(from, () => to);
}

/** `#` and `##` cut the shortest and longest beginning that fits, `%` and `%%` the end. */
function trimOf(value: string, side: string, glob: string): string {
  const source = glob
    .replace(/[.+^${}()|/-]/g, "\\$&")
    .replaceAll("*", "[^]*")
    .replaceAll("?", "[^]");
  const pattern = new RegExp(`^(?:${source})$`);
  const lengths = Array.from({ length: value.length + 1 }, (_, length) => length);
  const tries = side.length === 1 ? lengths : lengths.reverse();
  const fromStart = side.startsWith("#");
  const cut = tries.find((length) =>
    pattern.test(fromStart ? value.slice(0, length) : value.slice(value.length - length)),
  );
  if (cut === undefined) return value;
  return fromStart ? value.slice(cut) : value.slice(0, value.length - cut);
}
