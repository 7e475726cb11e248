// The tail of a log file, filtered and redacted (dashboard.md §11.3).
import { join } from "node:path";
import { createLogFilter, type LogFilter, parseLogLevel, parseLogLine } from "#base/log-lines.ts";
import { LOG_FILES, type LogFile } from "#protocol/http-sessions.ts";
import { fail } from "../errors.ts";
import { readTail } from "../log-tail.ts";
import { intParam, textParam } from "../query.ts";
import { json, type Registrars } from "../routing.ts";
import { profileOf, type RouteServices } from "../route-services.ts";

/** Components of our log lines (agent.md §11.3). */
export const LOG_COMPONENTS = ["cli", "dashboard", "gateway", "agent", "session", "cron"] as const;

export function registerLogs(routes: Registrars, services: RouteServices): void {
  routes.session("GET /api/logs", {
    async handler(context) {
      const { query } = context;
      const profile = await profileOf(services, context);
      const file = fileOf(query);
      const lines = intParam(query, "lines", { fallback: 100, least: 1, most: 500 });
      const keep = createLogFilter(filterOf(query));
      const tail = await readTail(join(profile.home, "logs", `${file}.log`));
      const kept = tail.filter((line) => keep(parseLogLine(line))).slice(-lines);
      return json({ file, lines: kept.map((line) => profile.redactor.text(line)) });
    },
  });
}

function fileOf(query: URLSearchParams): LogFile {
  const name = query.get("file") ?? "agent";
  const file = LOG_FILES.find((known) => known === name);
  if (!file) throw fail(400, "invalid", `Unknown log file; there are ${LOG_FILES.join(", ")}`);
  return file;
}

function filterOf(query: URLSearchParams): LogFilter {
  const search = textParam(query, "search");
  const minLevel = levelOf(chosen(query, "level"));
  const component = componentOf(chosen(query, "component"));
  return {
    ...(search === undefined ? {} : { search }),
    ...(minLevel === undefined ? {} : { minLevel }),
    ...(component === undefined ? {} : { component }),
  };
}

/** `ALL` in any case is no filter. */
function chosen(query: URLSearchParams, name: string): string | undefined {
  const text = textParam(query, name);
  return text?.toLowerCase() === "all" ? undefined : text;
}

function levelOf(text: string | undefined) {
  if (text === undefined) return undefined;
  const level = parseLogLevel(text);
  if (!level) throw fail(400, "invalid", "Unknown level; there are debug, info, warning, error");
  return level;
}

function componentOf(text: string | undefined): string | undefined {
  if (text === undefined || LOG_COMPONENTS.some((known) => known === text)) return text;
  throw fail(400, "invalid", `Unknown component; there are ${LOG_COMPONENTS.join(", ")}`);
}
