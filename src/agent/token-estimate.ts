// Tokens guessed from characters, for what came since the provider last counted (agent.md §4.7).
import type { StoredMessage } from "#protocol/messages.ts";

/** Role, ids and separators of one message. */
const PER_MESSAGE = 4;

/** Characters / 4 for ASCII, / 1.5 otherwise. */
export function estimateText(text: string): number {
  let other = 0;
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) > 0x7f) other++;
  }
  return (text.length - other) / 4 + other / 1.5;
}

export function estimateRow(row: Pick<StoredMessage, "content" | "toolCalls">): number {
  const calls = row.toolCalls ?? [];
  return calls.reduce(
    (sum, call) => sum + estimateText(call.name) + estimateText(call.arguments) + PER_MESSAGE,
    estimateText(row.content ?? "") + PER_MESSAGE,
  );
}

export function estimateRows(
  rows: readonly Pick<StoredMessage, "content" | "toolCalls">[],
): number {
  return Math.ceil(rows.reduce((sum, row) => sum + estimateRow(row), 0));
}
