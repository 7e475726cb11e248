// The input box as data: text, cursor and history, changed by named edits only. Lines are separated by line feeds.

export interface Editor {
  readonly text: string;
  /** UTF-16 offset, never inside a grapheme. */
  readonly cursor: number;
  /** Newest first. */
  readonly history: readonly string[];
  /** Which entry of the history is shown; -1 is what was being typed. */
  readonly at: number;
  /** What was being typed when the history was entered. */
  readonly draft: string;
}

export const EMPTY_EDITOR: Editor = { text: "", cursor: 0, history: [], at: -1, draft: "" };

export const HISTORY_LIMIT = 500;

/** Edits that need nothing but their name; keys of the same name make them. */
const PLAIN_EDITS = [
  "left",
  "right",
  "word-left",
  "word-right",
  "home",
  "end",
  "up",
  "down",
  "backspace",
  "delete",
  "cut-word",
  "cut-to-start",
  "cut-to-end",
  "clear",
] as const;
type PlainEdit = (typeof PLAIN_EDITS)[number];

export type Edit =
  | { readonly edit: "insert"; readonly text: string }
  | { readonly edit: "replace"; readonly from: number; readonly text: string }
  | { readonly edit: "remember"; readonly text: string }
  | { readonly edit: PlainEdit };

export function isEditKey(name: string): name is PlainEdit {
  return PLAIN_EDITS.some((entry) => entry === name);
}

export function edit(editor: Editor, change: Edit): Editor {
  const { text, cursor } = editor;
  switch (change.edit) {
    case "insert":
      return splice(editor, cursor, cursor, change.text);
    case "replace":
      return splice(editor, change.from, cursor, change.text);
    case "remember":
      return { ...editor, history: remember(editor.history, change.text), at: -1, draft: "" };
    case "left":
      return { ...editor, cursor: before(text, cursor) };
    case "right":
      return { ...editor, cursor: after(text, cursor) };
    case "word-left":
      return { ...editor, cursor: wordStart(text, cursor) };
    case "word-right":
      return { ...editor, cursor: wordEnd(text, cursor) };
    case "home":
      return { ...editor, cursor: lineStart(text, cursor) };
    case "end":
      return { ...editor, cursor: lineEnd(text, cursor) };
    case "up":
      return up(editor);
    case "down":
      return down(editor);
    case "backspace":
      return splice(editor, before(text, cursor), cursor, "");
    case "delete":
      return splice(editor, cursor, after(text, cursor), "");
    case "cut-word":
      return splice(editor, wordStart(text, cursor), cursor, "");
    case "cut-to-start":
      return splice(editor, lineStart(text, cursor), cursor, "");
    case "cut-to-end":
      return splice(editor, cursor, Math.max(lineEnd(text, cursor), after(text, cursor)), "");
    case "clear":
      return { ...editor, text: "", cursor: 0, at: -1, draft: "" };
  }
}

function splice(editor: Editor, from: number, to: number, insert: string): Editor {
  const text = editor.text.slice(0, from) + insert + editor.text.slice(to);
  return { ...editor, text, cursor: from + insert.length };
}

function remember(history: readonly string[], text: string): readonly string[] {
  return [text, ...history.filter((entry) => entry !== text)].slice(0, HISTORY_LIMIT);
}

/** A line up; on the first line, the older entry. */
function up(editor: Editor): Editor {
  const start = lineStart(editor.text, editor.cursor);
  if (start > 0) return toLine(editor, lineStart(editor.text, start - 1), start);
  return showEntry(editor, editor.at + 1);
}

function down(editor: Editor): Editor {
  const end = lineEnd(editor.text, editor.cursor);
  const start = lineStart(editor.text, editor.cursor);
  if (end < editor.text.length) return toLine(editor, end + 1, start);
  return showEntry(editor, editor.at - 1);
}

/** The same column of another line; a column inside a grapheme moves to its start. */
function toLine(editor: Editor, target: number, start: number): Editor {
  const wanted = target + (editor.cursor - start);
  const cursor = Math.min(wanted, lineEnd(editor.text, target));
  return {
    ...editor,
    cursor: cursor === target ? cursor : after(editor.text, before(editor.text, cursor)),
  };
}

function showEntry(editor: Editor, at: number): Editor {
  const draft = editor.at === -1 ? editor.text : editor.draft;
  const text = at === -1 ? draft : editor.history[at];
  if (text === undefined || at < -1) return editor;
  return { ...editor, at, draft, text, cursor: text.length };
}

function lineStart(text: string, cursor: number): number {
  return cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1;
}

function lineEnd(text: string, cursor: number): number {
  const end = text.indexOf("\n", cursor);
  return end === -1 ? text.length : end;
}

function wordStart(text: string, cursor: number): number {
  return /\S*\s*$/u.exec(text.slice(0, cursor))?.index ?? 0;
}

function wordEnd(text: string, cursor: number): number {
  return cursor + (/^\s*\S*/u.exec(text.slice(cursor))?.[0].length ?? 0);
}

/** Longest sequence that is looked at to find a grapheme's border: flags and families fit. */
const NEAR = 64;
const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

function before(text: string, cursor: number): number {
  const near = text.slice(Math.max(0, cursor - NEAR), cursor);
  let start = 0;
  for (const { index } of graphemes.segment(near)) start = index;
  return cursor - near.length + start;
}

/** The offset behind the grapheme at `cursor`. */
export function after(text: string, cursor: number): number {
  const [first] = graphemes.segment(text.slice(cursor, cursor + NEAR));
  return cursor + (first?.segment.length ?? 0);
}

/** `text` less its last grapheme. */
export function withoutLast(text: string): string {
  return text.slice(0, before(text, text.length));
}
