// Searching with ripgrep: its JSON lines become matches (rg --json, "JSON output" of its manual).
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { ToolError } from "#agent/ports/tool.ts";

export interface LineMatch {
  /** Absolute. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

export interface RipgrepRun {
  readonly program: string;
  readonly pattern: string;
  /** Absolute: the folder or file to search. */
  readonly path: string;
  readonly glob: string | null;
  readonly context: number;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Called for each match and context line, in order; false ends the search. */
  onLine(line: LineMatch, isMatch: boolean): boolean;
}

/** Ends when ripgrep ends, or `onLine` says so. Throws ToolError BAD_PATTERN or SEARCH_FAILED. */
export async function runRipgrep(run: RipgrepRun): Promise<void> {
  const child = spawn(run.program, argumentsOf(run), {
    env: run.env,
    stdio: ["ignore", "pipe", "pipe"],
    signal: run.signal,
    killSignal: "SIGKILL",
  });
  let errors = "";
  child.stderr.setEncoding("utf8");
  child.stderr.on("data", (text: string) => {
    errors = (errors + text).slice(0, 2000);
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("close", (code) => resolve(code));
  });
  let stopped = false;
  for await (const line of createInterface({ input: child.stdout })) {
    const found = parseLine(line);
    if (!found || run.onLine(found, found.isMatch)) continue;
    stopped = true;
    child.kill("SIGKILL");
    break;
  }
  const code = await ended;
  if (stopped || run.signal.aborted || code === 0 || code === 1) return;
  // 2 with matches means that some files could not be read.
  if (code === 2 && !/regex parse error/.test(errors)) return;
  const bad = /regex parse error/.test(errors);
  throw new ToolError(
    bad ? "BAD_PATTERN" : "SEARCH_FAILED",
    errors.trim() || "ripgrep did not run",
  );
}

function argumentsOf(run: RipgrepRun): readonly string[] {
  return [
    "--no-config",
    "--json",
    "--hidden",
    "--no-require-git",
    "--sort=path",
    "--glob=!.git",
    "--max-columns=0",
    `--context=${run.context}`,
    ...(run.glob === null ? [] : [`--glob=${run.glob}`]),
    `--regexp=${run.pattern}`,
    "--",
    run.path,
  ];
}

type Parsed = LineMatch & { readonly isMatch: boolean };

interface RipgrepText {
  readonly text?: string;
  readonly bytes?: string;
}

function parseLine(line: string): Parsed | null {
  let entry: {
    type?: string;
    data?: { path?: RipgrepText; lines?: RipgrepText; line_number?: number };
  };
  try {
    entry = JSON.parse(line) as typeof entry;
  } catch {
    return null;
  }
  if (entry.type !== "match" && entry.type !== "context") return null;
  return {
    path: decode(entry.data?.path),
    line: entry.data?.line_number ?? 0,
    text: decode(entry.data?.lines).replace(/\r?\n$/, ""),
    isMatch: entry.type === "match",
  };
}

function decode(field: RipgrepText | undefined): string {
  if (field?.text !== undefined) return field.text;
  return Buffer.from(field?.bytes ?? "", "base64").toString("utf8");
}
