// The input: several lines, a cursor of our own, and what Tab or a slash could become.
import { Box, Text } from "ink";
import { commandsFor } from "./completion.ts";
import { after, type Editor } from "./editor.ts";
import { shown } from "./shown-text.ts";
import { Toned } from "./tone.tsx";

const MOST_LINES = 8;

interface InputBoxProps {
  readonly editor: Editor;
  readonly candidates: readonly string[];
  readonly columns: number;
  /** Rows that it may take at most. */
  readonly rows: number;
  /** Another box has the keys. */
  readonly isIdle: boolean;
}

export function InputBox({ editor, candidates, columns, rows, isIdle }: InputBoxProps) {
  const { head, at, tail } = windowOf(editor, Math.min(MOST_LINES, rows), columns);
  const hints = candidates.length > 0 ? candidates : hintsFor(editor);
  return (
    <Box flexDirection="column" width={columns}>
      <Box>
        <Toned tone="cyan">{"› "}</Toned>
        <Text>
          {head}
          <Text inverse={!isIdle}>{at}</Text>
          {tail}
        </Text>
      </Box>
      {hints.length === 0 ? null : (
        <Toned tone="dim" wrap="truncate-end">{`  ${hints.map(shown).join("  ")}`}</Toned>
      )}
    </Box>
  );
}

function hintsFor(editor: Editor): readonly string[] {
  if (!/^\/[\w-]*$/.test(editor.text) || editor.cursor !== editor.text.length) return [];
  return commandsFor(editor.text).slice(0, 12);
}

interface Shown {
  readonly head: string;
  /** The grapheme under the cursor. */
  readonly at: string;
  readonly tail: string;
}

/** The lines around the cursor; of a very long text only what can be on the screen. */
function windowOf({ text, cursor }: Editor, lines: number, columns: number): Shown {
  // Half as many as would fit: characters may be two columns wide.
  const room = Math.floor((lines * columns) / 4);
  const cut = nthLineBreak(text, cursor, lines - 1);
  const from = Math.max(cut, cursor - room);
  const end = after(text, cursor);
  const under = text.slice(cursor, end);
  const isBreak = under === "" || under === "\n";
  const rest = text.slice(isBreak ? cursor : end, cursor + room);
  const head = text.slice(from, cursor);
  const left = lines - head.split("\n").length;
  return {
    head: shown(from > cut ? `…${head}` : head),
    at: isBreak ? " " : shown(under),
    tail: shown(
      rest
        .split("\n")
        .slice(0, left + 1)
        .join("\n"),
    ),
  };
}

/** Where the text begins that has `count` line breaks before the cursor. */
function nthLineBreak(text: string, cursor: number, count: number): number {
  let at = cursor;
  for (let n = 0; n <= count; n++) {
    const found = at === 0 ? -1 : text.lastIndexOf("\n", at - 1);
    if (found === -1) return 0;
    at = found;
  }
  return at + 1;
}
