// What a resumed conversation was about: the last ten exchanges, tool calls as one line each (agent.md §6.6).
import type { SessionStore } from "#agent/ports/session-store.ts";
import { cutStart } from "#base/text.ts";
import type { StoredMessage } from "#protocol/messages.ts";

const EXCHANGES = 10;
const ROWS = 200;
const MINIMAL_LIMIT = 160;

/** Lines to show, oldest first; empty when `mode` is off or nothing was said yet. */
export async function recapLines(
  store: Pick<SessionStore, "readMessages">,
  sessionId: string,
  mode: "full" | "minimal" | "off",
): Promise<readonly string[]> {
  if (mode === "off") return [];
  const page = await store.readMessages(sessionId, { limit: ROWS, order: "desc" });
  const rows = page.messages.filter((row) => row.active && row.kind !== "nudge").reverse();
  const users = rows.flatMap((row, index) => (row.role === "user" ? [index] : []));
  const first = users.at(-EXCHANGES) ?? 0;
  return rows.slice(first).flatMap((row) => describe(row, mode));
}

function describe(row: StoredMessage, mode: "full" | "minimal"): string[] {
  const text = (row.content ?? "").trim();
  const shown = mode === "full" ? text : oneLine(text);
  switch (row.role) {
    case "user":
      return text === "" ? [] : [`› ${row.kind === "summary" ? "[summary] " : ""}${shown}`];
    case "assistant": {
      const calls = (row.toolCalls ?? []).map((call) => call.name);
      const mark = row.finishReason === "interrupted" ? " [interrupted]" : "";
      return [
        ...(text === "" ? [] : [`${shown}${mark}`]),
        ...(calls.length === 0 ? [] : [`⚙ ${calls.join(", ")}`]),
      ];
    }
    case "tool":
    case "system":
      return [];
  }
}

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length > MINIMAL_LIMIT ? `${cutStart(line, MINIMAL_LIMIT)}…` : line;
}
