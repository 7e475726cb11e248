// How the demo model puts tool results into words (agent.md §3.6).

export interface DemoResult {
  readonly tool: string;
  /** JSON text of the tool message. */
  readonly content: string;
}

const SHOWN_LINES = 20;
const SHOWN_CHARACTERS = 300;

type Bag = Readonly<Record<string, unknown>>;

/** One paragraph per result, in call order. */
export function tellResults(results: readonly DemoResult[]): string {
  return results.map(tellResult).join("\n\n");
}

function tellResult(result: DemoResult): string {
  const value = parse(result.content);
  if (typeof value["error"] === "string") return `${result.tool} did not work: ${value["error"]}`;
  const tell = WORDS[result.tool];
  return tell === undefined ? `${result.tool} returned: ${brief(result.content)}` : tell(value);
}

const WORDS: Readonly<Record<string, (value: Bag) => string>> = {
  terminal: tellCommand,
  read_file: tellFile,
  write_file: (value) =>
    `Wrote ${number(value["bytes"])} bytes${value["created"] === true ? " into a new file" : ""}.`,
  search_files: tellMatches,
  web_extract: tellPages,
  memory: (value) =>
    `Remembered. ${number(value["used"])} of ${number(value["limit"])} characters are used.`,
  session_search: tellHits,
  todo: tellTodos,
  clarify: (value) => `You answered: ${text(value["answer"])}`,
};

function tellCommand(value: Bag): string {
  if (value["process_id"] !== undefined)
    return `The command runs in the background as ${text(value["process_id"])}.`;
  const ended = `The command ended with ${number(value["exit_code"])}`;
  const output = text(value["output"]).trimEnd();
  if (output === "") return `${ended} and printed nothing.`;
  const lines = output.split("\n");
  const more = lines.length - SHOWN_LINES;
  const rest = more > 0 ? `\n… and ${more} more ${more === 1 ? "line" : "lines"}` : "";
  return `${ended}:\n${lines.slice(0, SHOWN_LINES).join("\n")}${rest}`;
}

function tellFile(value: Bag): string {
  const first = firstLine(value["content"]);
  const size = `The file has ${number(value["total_lines"])} lines`;
  return first === "" ? `${size}.` : `${size}; it begins: ${brief(first)}`;
}

function tellHits(value: Bag): string {
  const hits = list(value["hits"]);
  if (hits.length === 0) return "Found nothing in earlier conversations.";
  const lines = hits.map(
    (hit) => `- ${text(hit["title"]) || text(hit["session_id"])}: ${brief(text(hit["snippet"]))}`,
  );
  return `Found in earlier conversations:\n${lines.join("\n")}`;
}

function tellMatches(value: Bag): string {
  const matches = list(value["matches"]);
  const first = matches[0];
  const where =
    first === undefined
      ? ""
      : ` The first: ${text(first["path"])}:${number(first["line"])} ${brief(text(first["text"]))}`;
  return `Found ${number(value["total"] ?? matches.length)} matches.${where}`;
}

function tellPages(value: Bag): string {
  const pages = list(value["results"] ?? value["pages"]);
  const page = pages[0] ?? value;
  const title = text(page["title"]) || text(page["url"]) || brief(JSON.stringify(value));
  return `The page answered ${number(page["status"])}: ${title}`;
}

function tellTodos(value: Bag): string {
  const items = list(value["todos"]).map(
    (item) => `- [${item["status"] === "completed" ? "x" : " "}] ${text(item["content"])}`,
  );
  return `The list now:\n${items.join("\n")}`;
}

function parse(content: string): Bag {
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === "object" && value !== null ? (value as Bag) : { output: value };
  } catch {
    return { output: content };
  }
}

function list(value: unknown): readonly Bag[] {
  return Array.isArray(value)
    ? value.filter((item): item is Bag => typeof item === "object" && item !== null)
    : [];
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): string {
  return typeof value === "number" ? String(value) : "?";
}

function firstLine(value: unknown): string {
  return text(value).split("\n")[0] ?? "";
}

function brief(value: string): string {
  return value.length > SHOWN_CHARACTERS
    ? `${value.slice(0, SHOWN_CHARACTERS).toWellFormed()}…`
    : value;
}
