// search_files: lines by regular expression, or files by name (agent.md §5.1). ripgrep where it is found, else our walker.
import { readFileSync, statSync } from "node:fs";
import { basename, relative } from "node:path";
import picomatch from "picomatch";
import * as z from "zod/mini";
import { cutStart } from "#base/text.ts";
import { ToolError, type Tool, type ToolContext } from "#agent/ports/tool.ts";
import { defineTool, type ToolOutput } from "./define.ts";
import type { ToolBoxDeps } from "./deps.ts";
import { contains, expandPath, type PathGuard } from "./paths.ts";
import { runRipgrep } from "./ripgrep.ts";
import { compileLineMatcher } from "./search-lines.ts";
import { findProgram } from "./terminal.ts";
import { binaryType } from "./text-file.ts";
import { toolEnvironment, toolHome } from "./tool-env.ts";
import { walkFiles } from "./walk.ts";

const DEADLINE_MS = 20_000;
const MAX_FILE_BYTES = 10 * 1024 * 1024;
/** Matches are counted up to here; then `truncated`. */
const MAX_COUNTED = 10_000;
const MAX_TEXT_CHARS = 500;

const INPUT = z.object({
  pattern: z
    .string()
    .check(
      z.minLength(1),
      z.maxLength(2000),
      z.describe("Regular expression for content; part of a name or a glob for files."),
    ),
  target: z.optional(z.enum(["content", "files"]).check(z.describe("content (default) or files."))),
  path: z.optional(
    z.string().check(z.describe("Folder or file to search; the working directory by default.")),
  ),
  glob: z.optional(
    z.string().check(z.maxLength(500), z.describe("Only files of this form: *.ts, src/**")),
  ),
  context: z.optional(
    z.int().check(z.minimum(0), z.maximum(5), z.describe("Lines around each match.")),
  ),
  limit: z.optional(
    z.int().check(z.minimum(1), z.maximum(200), z.describe("How many matches (50).")),
  ),
  offset: z.optional(z.int().check(z.minimum(0), z.describe("How many matches to skip."))),
});
type Input = z.output<typeof INPUT>;

export function createSearchFiles(deps: ToolBoxDeps, guard: PathGuard): Tool {
  return defineTool({
    name: "search_files",
    toolset: "file",
    description:
      "Search files for lines (regular expression) or for names. What .gitignore names is left out.",
    input: INPUT,
    run: (input, context) => run(deps, guard, input, context),
  });
}

interface Search {
  readonly deps: ToolBoxDeps;
  readonly guard: PathGuard;
  readonly input: Input;
  readonly context: ToolContext;
  readonly root: string;
  readonly found: Found;
  readonly accepts: (path: string) => boolean;
  /** Milliseconds left; 0 or less: stop. */
  left(): number;
}

async function run(
  deps: ToolBoxDeps,
  guard: PathGuard,
  input: Input,
  context: ToolContext,
): Promise<ToolOutput> {
  const root = guard.checkRead(expandPath(input.path ?? ".", context.cwd, toolHome(deps)));
  if (!statSync(root, { throwIfNoEntry: false })) {
    throw new ToolError("NOT_FOUND", `${root} does not exist`);
  }
  const started = context.clock.monotonicMs();
  const search: Search = {
    deps,
    guard,
    input,
    context,
    root,
    found: new Found(input.offset ?? 0, input.limit ?? 50, context.cwd),
    accepts: fileFilter(input.glob, root),
    left: () =>
      context.signal.aborted ? 0 : DEADLINE_MS - (context.clock.monotonicMs() - started),
  };
  if (input.target === "files") await searchNames(search);
  else await searchContent(search);
  context.signal.throwIfAborted();
  return search.found.result(search.left() <= 0);
}

function fileFilter(glob: string | undefined, root: string): (path: string) => boolean {
  if (glob === undefined) return () => true;
  const negated = glob.startsWith("!");
  const plain = negated ? glob.slice(1) : glob;
  const matches = picomatch(plain, { dot: true });
  return (path) => {
    const hit = matches(relative(root, path)) || (!plain.includes("/") && matches(basename(path)));
    return hit !== negated;
  };
}

async function searchContent(search: Search): Promise<void> {
  const program = findProgram("rg", search.deps.env("PATH"));
  if (program === null) await searchWithWalker(search);
  else await searchWithRipgrep(search, program);
}

async function searchWithRipgrep(search: Search, program: string): Promise<void> {
  const { input, found, guard } = search;
  const stop = new AbortController();
  const timer = search.context.clock.after(DEADLINE_MS, () => stop.abort());
  const group = new ContextGroup(found, input.context ?? 0);
  await runRipgrep({
    program,
    pattern: input.pattern,
    path: search.root,
    glob: input.glob ?? null,
    context: input.context ?? 0,
    env: toolEnvironment(search.deps, search.context.cwd),
    signal: AbortSignal.any([stop.signal, search.context.signal]),
    onLine(line, isMatch) {
      if (!guard.isReadClosed(line.path)) group.add(line.path, line.line, line.text, isMatch);
      return !found.full;
    },
  }).finally(() => timer.cancel());
  group.end();
}

/** Joins the context lines that ripgrep tells one by one to the match they stand around. */
class ContextGroup {
  readonly #found: Found;
  readonly #context: number;
  #path = "";
  #lines: { line: number; text: string; isMatch: boolean }[] = [];

  constructor(found: Found, context: number) {
    this.#found = found;
    this.#context = context;
  }

  add(path: string, line: number, text: string, isMatch: boolean): void {
    if (this.#context === 0) {
      this.#found.add(path, line, text);
      return;
    }
    if (path !== this.#path) this.end();
    this.#path = path;
    this.#lines.push({ line, text, isMatch });
  }

  end(): void {
    for (const match of this.#lines.filter((entry) => entry.isMatch)) {
      const around = this.#lines.filter(
        (entry) => Math.abs(entry.line - match.line) <= this.#context,
      );
      this.#found.add(this.#path, match.line, withContext(around, match.line));
    }
    this.#lines = [];
  }
}

function withContext(lines: readonly { line: number; text: string }[], match: number): string {
  return lines
    .map(
      ({ line, text }) => `${line}${line === match ? ":" : "-"} ${cutStart(text, MAX_TEXT_CHARS)}`,
    )
    .join("\n");
}

async function searchWithWalker(search: Search): Promise<void> {
  const matcher = compileLineMatcher(search.input.pattern);
  const around = search.input.context ?? 0;
  for await (const path of filesOf(search)) {
    if (search.left() <= 0 || search.found.full) return;
    const text = readText(path);
    if (text === null) continue;
    const numbers = matcher.match(text, Math.min(search.left(), 5000));
    if (numbers.length === 0) continue;
    const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
    for (const at of numbers) {
      const near = lines
        .slice(Math.max(0, at - around), at + around + 1)
        .map((line, index) => ({ line: Math.max(0, at - around) + index + 1, text: line }));
      search.found.add(path, at + 1, around === 0 ? (lines[at] ?? "") : withContext(near, at + 1));
    }
  }
}

async function* filesOf(search: Search): AsyncGenerator<string> {
  if (statSync(search.root).isFile()) {
    yield search.root;
    return;
  }
  for await (const path of walkFiles(search.root, {
    stop: () => search.left() <= 0 || search.found.full,
  })) {
    if (search.accepts(path) && !search.guard.isReadClosed(path)) yield path;
  }
}

function readText(path: string): string | null {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > MAX_FILE_BYTES) return null;
    const bytes = readFileSync(path);
    return binaryType(bytes) === null ? bytes.toString("utf8") : null;
  } catch {
    return null;
  }
}

async function searchNames(search: Search): Promise<void> {
  const { pattern } = search.input;
  const isGlob = /[*?[{]/.test(pattern);
  const matches = isGlob
    ? fileFilter(pattern, search.root)
    : (path: string) => relative(search.root, path).toLowerCase().includes(pattern.toLowerCase());
  for await (const path of filesOf(search)) {
    if (matches(path)) search.found.add(path, 0, "");
    if (search.found.full) return;
  }
}

class Found {
  readonly #offset: number;
  readonly #limit: number;
  readonly #cwd: string;
  readonly #matches: { path: string; line?: number; text?: string }[] = [];
  #total = 0;

  constructor(offset: number, limit: number, cwd: string) {
    this.#offset = offset;
    this.#limit = limit;
    this.#cwd = cwd;
  }

  get full(): boolean {
    return this.#total >= MAX_COUNTED;
  }

  add(path: string, line: number, text: string): void {
    const index = this.#total++;
    if (index < this.#offset || this.#matches.length >= this.#limit) return;
    const shown = contains(this.#cwd, path) ? relative(this.#cwd, path) || path : path;
    const lines = text.includes("\n") ? text : cutStart(text, MAX_TEXT_CHARS);
    this.#matches.push(line === 0 ? { path: shown } : { path: shown, line, text: lines });
  }

  result(outOfTime: boolean): ToolOutput {
    const truncated = outOfTime || this.full || this.#total > this.#offset + this.#matches.length;
    return {
      matches: this.#matches,
      total: this.#total,
      truncated,
      ...(outOfTime ? { note: "the search ran out of time; narrow it with path or glob" } : {}),
    };
  }
}
