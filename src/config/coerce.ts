// From what a file, a variable or a flag says to what a leaf takes.
import * as z from "zod/mini";
import { parseSwitch } from "#base/booleans.ts";
import { isMapping, toPlain, WrittenNumber } from "./plain.ts";
import type { LeafNode } from "./shape.ts";

export type Taken = { readonly ok: true; readonly value: unknown } | { readonly ok: false };

const WRONG: Taken = { ok: false };

/**
 * `isText`: the value is a text that stands for any type (a variable, or a reference that was replaced), so a list may
 * be comma separated. In YAML a list must be one.
 */
export function take(node: LeafNode, value: unknown, isText: boolean): Taken {
  const shaped = shape(node, value, isText);
  if (shaped === undefined) return WRONG;
  const parsed = z.safeParse(node.schema, shaped);
  return parsed.success ? { ok: true, value: parsed.data } : WRONG;
}

function shape(node: LeafNode, value: unknown, isText: boolean): unknown {
  switch (node.type) {
    case "boolean":
      return toBoolean(value);
    case "auto-flag":
      return value === "auto" ? value : toBoolean(value);
    case "number":
      return toNumber(value);
    case "text":
      return toText(value);
    case "choice":
      return toChoice(node.options, toText(value));
    case "list":
      return toList(value, isText);
    case "object":
      return isMapping(value) ? toPlain(value) : undefined;
  }
}

/** Words of product.md D9; anything else is a wrong value. */
function toBoolean(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  const text = toText(value);
  const state = text === undefined ? "unclear" : parseSwitch(text.trim());
  return state === "unclear" ? undefined : state === "on";
}

function toNumber(value: unknown): number | undefined {
  if (value instanceof WrittenNumber) return value.value;
  if (typeof value === "number") return value;
  const isNumber = typeof value === "string" && /^[+-]?\d+(\.\d+)?$/.test(value.trim());
  return isNumber ? Number(value) : undefined;
}

function toText(value: unknown): string | undefined {
  if (value instanceof WrittenNumber) return value.text;
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value : undefined;
}

/** A word of the list, in any case. */
function toChoice(words: readonly string[], text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const isExact = words.includes(text);
  return isExact ? text : words.find((word) => word.toLowerCase() === text.trim().toLowerCase());
}

function toList(value: unknown, isText: boolean): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => (isMapping(item) ? toPlain(item) : (toText(item) ?? item)));
  }
  return isText && typeof value === "string" ? splitList(value) : undefined;
}

/** Comma separated; empty parts are dropped. */
function splitList(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
