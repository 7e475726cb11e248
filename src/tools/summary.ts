// One line for people: what a call did.
import { cutStart } from "#base/text.ts";

type Json = Readonly<Record<string, unknown>>;

/** At most ~120 characters of one line; `output` is the result object or `{error, code}`. */
export function summaryOf(name: string, input: unknown, output: Json): string {
  if (typeof output["error"] === "string") return oneLine(output["error"]);
  const fields = (typeof input === "object" && input !== null ? input : {}) as Json;
  return oneLine(describe(name, fields, output));
}

function describe(name: string, input: Json, output: Json): string {
  const text = (value: unknown): string =>
    typeof value === "string" || typeof value === "number" ? String(value) : "";
  const count = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
  switch (name) {
    case "terminal":
      if ("process_id" in output)
        return `started ${text(output["process_id"])}: ${text(input["command"])}`;
      return `exit ${text(output["exit_code"]) || text(output["signal"])}: ${text(input["command"])}`;
    case "process":
      return `${text(input["action"])} ${text(input["process_id"])} ${text(output["state"])}`;
    case "read_file":
      return `${text(input["path"])}, ${text(output["total_lines"])} lines`;
    case "write_file":
      return `${text(input["path"])} +${text(output["added"])} −${text(output["removed"])}`;
    case "patch":
      return `${text(input["path"])}, ${text(output["replacements"])} replaced (${text(output["strategy"])})`;
    case "search_files":
      return `${text(output["total"])} matches for ${text(input["pattern"])}`;
    case "web_search":
      return `${count(output["results"])} results for ${text(input["query"])}`;
    case "web_extract":
      return `${count(output["results"])} pages`;
    case "memory":
      return `${text(input["action"])} ${text(input["target"])}, ${text(output["used"])} of ${text(output["limit"])}`;
    case "todo":
      return `${count(output["todos"])} todos`;
    default:
      return name;
  }
}

function oneLine(text: string): string {
  return cutStart(text.replace(/\s+/g, " ").trim(), 120);
}
