// What a read from the terminal means. Ink names single keys; a read that holds several comes as one text (agent.md §10).
import type { Key } from "ink";

export type KeyName =
  | "enter"
  | "newline"
  | "tab"
  | "escape"
  | "up"
  | "down"
  | "left"
  | "right"
  | "word-left"
  | "word-right"
  | "home"
  | "end"
  | "backspace"
  | "delete"
  | "cut-word"
  | "cut-to-start"
  | "cut-to-end"
  | "interrupt"
  | "end-of-file"
  | "redraw"
  | "unfold"
  | "suspend";

export type TuiKey =
  | { readonly key: KeyName }
  | { readonly key: "text"; readonly text: string }
  | { readonly key: "paste"; readonly text: string };

const CONTROL: Readonly<Record<string, KeyName>> = {
  "\r": "enter",
  "\n": "newline",
  "\t": "tab",
  "\x01": "home",
  "\x02": "left",
  "\x03": "interrupt",
  "\x04": "end-of-file",
  "\x05": "end",
  "\x06": "right",
  "\x08": "backspace",
  "\x0b": "cut-to-end",
  "\x0c": "redraw",
  "\x0e": "down",
  "\x0f": "unfold",
  "\x10": "up",
  "\x15": "cut-to-start",
  "\x17": "cut-word",
  "\x1a": "suspend",
  "\x1b": "escape",
  "\x7f": "backspace",
};

/** The keys of one text event, in order. Control characters without a meaning are dropped. */
export function keysOfText(text: string): readonly TuiKey[] {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  const parts = text.match(/[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+/g) ?? [];
  return parts.flatMap((part): TuiKey[] => {
    // oxlint-disable-next-line no-control-regex -- as above
    if (!/^[\x00-\x1f\x7f]$/.test(part)) return [{ key: "text", text: part }];
    const name = CONTROL[part];
    return name === undefined ? [] : [{ key: name }];
  });
}

/** The keys of one event of Ink's `useInput`. */
export function keysOf(input: string, key: Key): readonly TuiKey[] {
  const name = nameOf(input, key);
  if (name !== null) return [{ key: name }];
  if (key.ctrl) return controlOf(input);
  return key.meta ? metaOf(input) : keysOfText(input);
}

function nameOf(input: string, key: Key): KeyName | null {
  const isWord = key.meta || key.ctrl;
  if (key.return) return key.meta || key.shift ? "newline" : "enter";
  if (key.escape) return "escape";
  if (key.tab) return key.shift ? null : "tab";
  if (key.upArrow) return "up";
  if (key.downArrow) return "down";
  if (key.leftArrow) return isWord ? "word-left" : "left";
  if (key.rightArrow) return isWord ? "word-right" : "right";
  if (key.home) return "home";
  if (key.end) return "end";
  if (key.backspace) return isWord ? "cut-word" : "backspace";
  if (key.delete) return "delete";
  return null;
}

/** Ink names Ctrl-C `c` with `ctrl`. */
function controlOf(letter: string): readonly TuiKey[] {
  if (!/^[a-z]$/.test(letter)) return [];
  return keysOfText(String.fromCharCode(letter.charCodeAt(0) - 96));
}

function metaOf(letter: string): readonly TuiKey[] {
  if (letter === "b") return [{ key: "word-left" }];
  if (letter === "f") return [{ key: "word-right" }];
  return letter === "\r" || letter === "\n" ? [{ key: "newline" }] : [];
}

/** A bracketed paste: text only, whatever it holds. */
export function keysOfPaste(text: string): readonly TuiKey[] {
  return [{ key: "paste", text: text.replaceAll(/\r\n?/g, "\n") }];
}
