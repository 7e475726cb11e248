// Tab: slash commands at the start of the message, paths elsewhere (agent.md §10).
import { slashCommandsOf } from "#protocol/slash-commands.ts";

const MOST = 20;

export interface Completion {
  /** Where the word begins that is completed. */
  readonly from: number;
  /** What takes its place; the word itself when nothing more is sure. */
  readonly text: string;
  /** What it could be, when there is a choice. */
  readonly candidates: readonly string[];
}

/** null: nothing fits. `completePath` gives whole words for the beginning of one. */
export function completeAt(
  text: string,
  cursor: number,
  completePath: (word: string) => readonly string[],
): Completion | null {
  const before = text.slice(0, cursor);
  const isCommand = /^\/[\w-]*$/.test(before);
  const word = isCommand ? before : (/\S*$/.exec(before)?.[0] ?? "");
  if (word === "") return null;
  const found = isCommand ? commandsFor(word) : completePath(word);
  const [only] = found;
  if (only === undefined) return null;
  const from = cursor - word.length;
  if (found.length === 1) {
    return { from, text: only.endsWith("/") ? only : `${only} `, candidates: [] };
  }
  return { from, text: commonStart(found), candidates: found.slice(0, MOST) };
}

/** Commands that go on from what is typed, for the list under the input. */
export function commandsFor(word: string): readonly string[] {
  const names = slashCommandsOf("terminal").map((entry) => `/${entry.name}`);
  return names.filter((name) => name.startsWith(word.toLowerCase()));
}

function commonStart(words: readonly string[]): string {
  let start = words[0] ?? "";
  for (const word of words) {
    while (!word.startsWith(start)) start = start.slice(0, -1);
  }
  return start;
}
