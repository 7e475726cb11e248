// Reads exported JSON lines back into sessions with their messages (agent.md §6.6).
import { HermesError, messageOf } from "#base/errors.ts";
import type { SessionRow, StoredMessage } from "#protocol/messages.ts";

export interface ExportedSession {
  readonly session: SessionRow;
  readonly messages: readonly StoredMessage[];
}

/** One session at a time. A bad line throws `IMPORT_INVALID` with its number before its session is handed out. */
export async function* readExport(lines: AsyncIterable<string>): AsyncIterable<ExportedSession> {
  let session: SessionRow | null = null;
  let messages: StoredMessage[] = [];
  let number = 0;
  for await (const line of lines) {
    number++;
    if (line.trim() === "") continue;
    const entry = parseLine(line, number);
    if (entry.type === "session") {
      if (session) yield { session, messages };
      session = entry.row as SessionRow;
      messages = [];
    } else if (session) {
      messages.push(entry.row as StoredMessage);
    } else {
      throw invalid(number, "a message comes before any session");
    }
  }
  if (session) yield { session, messages };
}

function parseLine(line: string, number: number): { type: "session" | "message"; row: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw invalid(number, messageOf(error));
  }
  if (typeof value !== "object" || value === null || !("type" in value)) {
    throw invalid(number, "no object with a type");
  }
  const { type, ...row } = value;
  if (type !== "session" && type !== "message") throw invalid(number, "an unknown type");
  const key = type === "session" ? "id" : "role";
  if (!(key in row)) throw invalid(number, `no ${key}`);
  return { type, row };
}

function invalid(number: number, reason: string): HermesError {
  return new HermesError("IMPORT_INVALID", `line ${number} cannot be imported: ${reason}`, {
    data: { line: number },
  });
}
