// Reads one line of a log file: JSON lines of ours, anything else as plain text.

export type Severity = "debug" | "info" | "warning" | "error" | "none";

export interface LogLine {
  /** ISO 8601 UTC; null when the line has no time. */
  readonly at: string | null;
  readonly severity: Severity;
  readonly component: string | null;
  readonly text: string;
}

/** Severity from the parsed level only: a line that merely mentions "error" is not one. */
function severityOf(level: unknown): Severity {
  if (typeof level === "number") {
    if (level >= 50) return "error";
    if (level >= 40) return "warning";
    return level >= 30 ? "info" : "debug";
  }
  switch (String(level).toUpperCase()) {
    case "TRACE":
    case "DEBUG":
      return "debug";
    case "INFO":
      return "info";
    case "WARN":
    case "WARNING":
      return "warning";
    case "ERROR":
    case "FATAL":
    case "CRITICAL":
      return "error";
    default:
      return "none";
  }
}

function timeOf(value: unknown): string | null {
  if (typeof value !== "string" && typeof value !== "number") return null;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

const KNOWN = ["ts", "time", "at", "level", "component", "name", "msg", "message", "event"];

export function readLogLine(line: string): LogLine {
  const plain: LogLine = { at: null, severity: "none", component: null, text: line };
  if (!line.startsWith("{")) return plain;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return plain;
  }
  const record = value as Record<string, unknown>;
  const message = record["msg"] ?? record["message"] ?? record["event"];
  const rest = Object.entries(record).filter(([name]) => !KNOWN.includes(name));
  const extra = rest.map(([name, entry]) => `${name}=${JSON.stringify(entry)}`).join(" ");
  const component = record["component"] ?? record["name"];
  return {
    at: timeOf(record["ts"] ?? record["time"] ?? record["at"]),
    severity: severityOf(record["level"]),
    component: typeof component === "string" ? component : null,
    text: [typeof message === "string" ? message : "", extra].filter(Boolean).join(" "),
  };
}
