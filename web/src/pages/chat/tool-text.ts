// One line for a tool's arguments, and output folded to what fits.

const MOST_LINE = 160;

/** The argument that says most, else the JSON text; one line. */
export function shortInput(input: unknown): string {
  if (typeof input === "string") return oneLine(input);
  if (typeof input !== "object" || input === null) return "";
  const record = input as Record<string, unknown>;
  for (const name of ["command", "path", "query", "pattern", "question", "urls", "goal", "name"]) {
    const value = record[name];
    if (typeof value === "string") return oneLine(value);
    if (Array.isArray(value)) return oneLine(value.map(String).join(" "));
  }
  const text = JSON.stringify(record);
  return text === "{}" ? "" : oneLine(text);
}

function oneLine(text: string): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length <= MOST_LINE ? flat : `${flat.slice(0, MOST_LINE - 1)}…`;
}

export interface Folded {
  readonly text: string;
  /** Lines that are not shown. */
  readonly hidden: number;
}

/** The last `most` lines: the end of an output says how it went. */
export function foldLines(output: string, most: number): Folded {
  const lines = output.replace(/\n$/, "").split("\n");
  if (lines.length <= most) return { text: lines.join("\n"), hidden: 0 };
  return { text: lines.slice(-most).join("\n"), hidden: lines.length - most };
}
