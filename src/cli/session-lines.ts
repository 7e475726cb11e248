// Sessions as lines of a list.
import type { SessionRow } from "#protocol/messages.ts";

const TITLE_WIDTH = 44;

/** id, when, source, messages, title; one line each. */
export function sessionLines(sessions: readonly SessionRow[]): readonly string[] {
  if (sessions.length === 0) return ["No sessions."];
  return sessions.map((row) => {
    const when = localMinute(row.lastActiveAt);
    const state = row.state === "idle" ? "" : ` (${row.state})`;
    const title = (row.title ?? "").padEnd(TITLE_WIDTH);
    return `${row.id}  ${when}  ${title}  ${row.source}, ${row.messageCount} messages${state}`;
  });
}

/** Seconds since 1970 → `2026-05-20 10:11` in local time. */
export function localMinute(seconds: number): string {
  const at = new Date(seconds * 1000);
  const two = (n: number): string => String(n).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}
