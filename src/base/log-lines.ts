// Reading and filtering lines of our logs (agent.md §11.3): JSON lines, and whatever else stands between them.

/** Severities, mildest first. */
export const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogLine {
  /** As it stands in the file, without the line end. */
  readonly raw: string;
  /** Milliseconds since 1970; null for a line without a time stamp of ours. */
  readonly at: number | null;
  readonly level: LogLevel | null;
  readonly component: string | null;
  readonly session: string | null;
  readonly profile: string | null;
  /** The human text; the whole line when it is not JSON. */
  readonly message: string;
}

/** All given conditions must hold. */
export interface LogFilter {
  readonly minLevel?: LogLevel;
  /** Milliseconds since 1970. */
  readonly since?: number;
  readonly session?: string;
  readonly component?: string;
  /** Anywhere in the raw line, in any case. */
  readonly search?: string;
}

/** `warn` and any case are accepted; null for a word that names no level. */
export function parseLogLevel(text: string): LogLevel | null {
  const word = text.trim().toLowerCase();
  if (word === "warn") return "warning";
  if (word === "fatal" || word === "critical") return "error";
  if (word === "trace") return "debug";
  return LOG_LEVELS.find((level) => level === word) ?? null;
}

export function parseLogLine(raw: string): LogLine {
  const record = raw.startsWith("{") ? parseRecord(raw) : null;
  const time = textOf(record?.["time"]);
  const at = time === null ? Number.NaN : Date.parse(time);
  return {
    raw,
    at: Number.isNaN(at) ? null : at,
    level: parseLogLevel(textOf(record?.["level"]) ?? ""),
    component: textOf(record?.["component"]),
    session: textOf(record?.["session"]),
    profile: textOf(record?.["profile"]),
    message: textOf(record?.["msg"]) ?? raw,
  };
}

/** A stateful test, line after line: one without a time stamp belongs to the one before it and shares its fate. */
export function createLogFilter(filter: LogFilter): (line: LogLine) => boolean {
  let previous = false;
  return (line) => {
    if (line.at !== null) previous = fieldsMatch(line, filter);
    else if (line.level !== null) previous = fieldsMatch(line, { ...filter, since: undefined });
    else if (isUnfiltered(filter)) previous = true;
    return previous && textMatches(line, filter.search);
  };
}

type Fields = Omit<LogFilter, "since" | "search"> & { readonly since?: number | undefined };

function fieldsMatch(line: LogLine, filter: Fields): boolean {
  if (filter.minLevel !== undefined && rank(line.level) < rank(filter.minLevel)) return false;
  if (filter.since !== undefined && line.at !== null && line.at < filter.since) return false;
  if (filter.session !== undefined && line.session !== filter.session) return false;
  return filter.component === undefined || line.component === filter.component;
}

function textMatches(line: LogLine, search: string | undefined): boolean {
  return search === undefined || line.raw.toLowerCase().includes(search.toLowerCase());
}

function isUnfiltered(filter: LogFilter): boolean {
  const { minLevel, since, session, component } = filter;
  return [minLevel, since, session, component].every((value) => value === undefined);
}

function rank(level: LogLevel | null): number {
  return level === null ? -1 : LOG_LEVELS.indexOf(level);
}

function parseRecord(raw: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
