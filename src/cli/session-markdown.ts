// A conversation for reading: `sessions show` and `sessions export --format md`.
import type { SessionStore } from "#agent/ports/session-store.ts";
import type { SessionRow, StoredMessage } from "#protocol/messages.ts";
import { localMinute } from "./session-lines.ts";

const PAGE = 500;

/** Every row, oldest first, page by page. */
export async function readAllMessages(
  store: Pick<SessionStore, "readMessages">,
  sessionId: string,
): Promise<readonly StoredMessage[]> {
  const all: StoredMessage[] = [];
  for (;;) {
    const last = all.at(-1);
    const { messages } = await store.readMessages(sessionId, {
      limit: PAGE,
      order: "asc",
      ...(last === undefined ? {} : { after: last.id }),
    });
    all.push(...messages);
    if (messages.length < PAGE) return all;
  }
}

export function markdownOf(row: SessionRow, messages: readonly StoredMessage[]): string {
  const facts = [row.id, row.source, row.model ?? "", localMinute(row.startedAt)];
  const head = `# ${row.title ?? row.id}\n\n${facts.filter((fact) => fact !== "").join(" · ")}\n`;
  return [head, ...messages.flatMap(section)].join("\n");
}

function section(message: StoredMessage): string[] {
  const text = (message.content ?? "").trim();
  const marks = [
    ...(message.active ? [] : ["taken out"]),
    ...(message.kind === null ? [] : [message.kind]),
    ...(message.finishReason === "interrupted" ? ["interrupted"] : []),
  ];
  const mark = marks.length === 0 ? "" : ` (${marks.join(", ")})`;
  const calls = (message.toolCalls ?? []).map(
    (call) => `\`${call.name}\` ${fence(call.arguments)}`,
  );
  if (message.role === "tool")
    return [`## Result of ${message.toolName ?? "a tool"}${mark}\n\n${fence(text)}\n`];
  if (text === "" && calls.length === 0) return [];
  const body = [...(text === "" ? [] : [text]), ...calls].join("\n\n");
  return [`## ${NAMES[message.role]}${mark}\n\n${body}\n`];
}

const NAMES: Readonly<Record<StoredMessage["role"], string>> = {
  user: "You",
  assistant: "Hermes",
  tool: "Result",
  system: "System",
};

/** A fence longer than any in the text. */
function fence(text: string): string {
  let longest = 2;
  for (const match of text.matchAll(/`+/g)) longest = Math.max(longest, match[0].length);
  const ticks = "`".repeat(longest + 1);
  return `${ticks}\n${text}\n${ticks}`;
}
