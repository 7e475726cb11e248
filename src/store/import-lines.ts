// Exported lines as sessions with their messages, each value checked before anything is stored (agent.md §6.6).
import { HermesError } from "#base/errors.ts";
import { isRecord } from "./rows.ts";
import type { Value } from "./sqlite.ts";
import { affinityOf, TABLES, typeOf } from "./tables.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Values by column. */
export type Columns = ReadonlyMap<string, Value>;

export interface ImportedSession {
  readonly id: string;
  readonly columns: Columns;
  readonly messages: readonly Columns[];
}

/** One session at a time. A bad line throws IMPORT_INVALID with its number, before its session is handed out. */
export async function* readSessions(lines: AsyncIterable<string>): AsyncIterable<ImportedSession> {
  let session: (Omit<ImportedSession, "messages"> & { messages: Columns[] }) | null = null;
  let number = 0;
  for await (const text of lines) {
    number++;
    if (text.trim() === "") continue;
    const fields = parseLine(text, number);
    if (fields["type"] === "message") {
      if (!session) throw invalid(number, "a message stands before the first session");
      session.messages.push(messageColumns(fields, number));
      continue;
    }
    if (session) yield session;
    session = { ...sessionColumns(fields, number), messages: [] };
  }
  if (session) yield session;
}

function parseLine(text: string, number: number): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(number, "it is not JSON");
  }
  if (!isRecord(value)) throw invalid(number, "it is not an object");
  if (value["type"] === "session" || value["type"] === "message") return value;
  throw invalid(number, '"type" is neither "session" nor "message"');
}

const SESSION_COLUMNS = columnsOf("sessions");
const MESSAGE_COLUMNS = columnsOf("messages");

function columnsOf(name: string): ReadonlyMap<string, string> {
  const table = TABLES.find((candidate) => candidate.name === name);
  return new Map(Object.entries(table?.columns ?? {}));
}

function sessionColumns(fields: Fields, number: number): { id: string; columns: Columns } {
  const { type: _, model_config: config, ...rest } = fields;
  const columns = new Map<string, Value>();
  const unknown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(rest)) {
    const declared = SESSION_COLUMNS.get(name);
    if (declared === undefined) unknown[name] = value;
    else columns.set(name, toValue(name, value, declared, number));
  }
  // Fields that we do not know are kept, so that nothing is lost on the way from another version.
  const kept = { ...(isRecord(config) ? config : {}), ...unknown };
  if (Object.keys(kept).length > 0) columns.set("model_config", JSON.stringify(kept));
  const id = columns.get("id");
  if (typeof id !== "string" || id === "") throw invalid(number, '"id" is missing');
  if (typeof columns.get("started_at") !== "number")
    throw invalid(number, '"started_at" is missing');
  return { id, columns };
}

function messageColumns(fields: Fields, number: number): Columns {
  const columns = new Map<string, Value>();
  for (const [name, value] of Object.entries(fields)) {
    const declared = MESSAGE_COLUMNS.get(name);
    if (declared === undefined || name === "id" || name === "session_id") continue;
    columns.set(name, toValue(name, value, declared, number));
  }
  if (typeof columns.get("role") !== "string") throw invalid(number, '"role" is missing');
  if (typeof columns.get("timestamp") !== "number") throw invalid(number, '"timestamp" is missing');
  return columns;
}

const STRUCTURED: ReadonlySet<string> = new Set(["tool_calls", "reasoning_details"]);

function toValue(name: string, value: unknown, declared: string, number: number): Value {
  if (value === null) return null;
  if (STRUCTURED.has(name)) return typeof value === "string" ? value : JSON.stringify(value);
  if (affinityOf(typeOf(declared)) === "TEXT") {
    if (typeof value === "string") return value;
    throw invalid(number, `"${name}" is not text`);
  }
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value;
  throw invalid(number, `"${name}" is not a number`);
}

function invalid(number: number, reason: string): HermesError {
  return new HermesError("IMPORT_INVALID", `line ${number} cannot be imported: ${reason}`, {
    fix: "Correct the line, or export again, and repeat: what is in already is skipped.",
    data: { line: number },
  });
}
