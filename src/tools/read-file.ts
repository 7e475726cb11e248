// read_file: numbered lines of a text file, a page at a time (agent.md §5.1).
import type { FileHandle } from "node:fs/promises";
import { StringDecoder } from "node:string_decoder";
import * as z from "zod/mini";
import { cutStart } from "#base/text.ts";
import { ToolError, type Tool } from "#agent/ports/tool.ts";
import { defineTool, type ToolOutput } from "./define.ts";
import type { ToolBoxDeps } from "./deps.ts";
import { expandPath, type PathGuard } from "./paths.ts";
import { binaryError, binaryType, openRegular } from "./text-file.ts";
import { toolHome } from "./tool-env.ts";

const MAX_LINE_CHARS = 2000;
const MAX_CONTENT_BYTES = 100 * 1024;
const CHUNK_BYTES = 256 * 1024;
/** Lines beyond this are not counted: `total_lines` is then null. */
const MAX_SCAN_BYTES = 512 * 1024 * 1024;

const INPUT = z.object({
  path: z
    .string()
    .check(z.minLength(1), z.describe("Absolute, or from the working directory; ~ works.")),
  offset: z.optional(z.int().check(z.minimum(1), z.describe("First line, from 1."))),
  limit: z.optional(
    z.int().check(z.minimum(1), z.maximum(2000), z.describe("How many lines (500).")),
  ),
});

export function createReadFile(deps: ToolBoxDeps, guard: PathGuard): Tool {
  return defineTool({
    name: "read_file",
    toolset: "file",
    description:
      "Read a text file as numbered lines. Long files come in pages: pass offset and limit.",
    input: INPUT,
    async run(input, context) {
      const path = expandPath(input.path, context.cwd, toolHome(deps));
      const handle = await openRegular(path, guard);
      try {
        return await readPage(handle, path, input.offset ?? 1, input.limit ?? 500, context.signal);
      } finally {
        await handle.close();
      }
    },
  });
}

async function readPage(
  handle: FileHandle,
  path: string,
  offset: number,
  limit: number,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { size } = await handle.stat();
  const page = new Page(offset, limit);
  const decoder = new StringDecoder("utf8");
  const buffer = Buffer.alloc(CHUNK_BYTES);
  let scanned = 0;
  while (scanned < MAX_SCAN_BYTES) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, null);
    if (bytesRead === 0) break;
    const bytes = buffer.subarray(0, bytesRead);
    const type = scanned === 0 ? binaryType(bytes) : null;
    if (type !== null) throw binaryError(path, type, size);
    scanned += bytesRead;
    page.push(decoder.write(bytes));
  }
  page.end(decoder.end());
  return page.result(path, size, scanned >= MAX_SCAN_BYTES);
}

class Page {
  readonly #offset: number;
  readonly #limit: number;
  readonly #lines: string[] = [];
  #bytes = 0;
  #full = false;
  #cutLines = false;
  #number = 1;
  /** Beginning of the current line; what is over the limit is counted, not kept. */
  #current = "";
  #currentStarted = false;

  constructor(offset: number, limit: number) {
    this.#offset = offset;
    this.#limit = limit;
  }

  push(text: string): void {
    let at = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", at)) {
      this.#add(text.slice(at, end));
      this.#finishLine();
      at = end + 1;
    }
    if (at < text.length) this.#add(text.slice(at));
  }

  end(rest: string): void {
    if (rest !== "") this.#add(rest);
    if (this.#currentStarted) this.#finishLine();
  }

  #add(piece: string): void {
    this.#currentStarted = true;
    if (this.#wanted() && this.#current.length <= MAX_LINE_CHARS)
      this.#current += piece.slice(0, MAX_LINE_CHARS + 2);
  }

  #wanted(): boolean {
    return !this.#full && this.#number >= this.#offset && this.#lines.length < this.#limit;
  }

  #finishLine(): void {
    if (this.#wanted()) this.#keep(this.#current.replace(/\r$/, ""));
    this.#current = "";
    this.#currentStarted = false;
    this.#number++;
  }

  #keep(line: string): void {
    const long = line.length > MAX_LINE_CHARS;
    const text = `${String(this.#number).padStart(6)}\t${long ? `${cutStart(line, MAX_LINE_CHARS)}…` : line}`;
    const bytes = Buffer.byteLength(text) + 1;
    if (this.#bytes + bytes > MAX_CONTENT_BYTES) {
      this.#full = true;
      return;
    }
    if (long) this.#cutLines = true;
    this.#bytes += bytes;
    this.#lines.push(text);
  }

  result(path: string, size: number, incomplete: boolean): ToolOutput {
    const total = this.#number - 1;
    if (this.#offset > Math.max(1, total)) {
      throw new ToolError(
        "OFFSET_BEYOND_END",
        `${path} has ${total} lines; offset ${this.#offset} is beyond them`,
      );
    }
    const next = this.#offset + this.#lines.length;
    return {
      content: this.#lines.join("\n"),
      total_lines: incomplete ? null : total,
      size,
      ...(next <= total
        ? { truncated: true, next_offset: next }
        : this.#cutLines
          ? { truncated: true }
          : {}),
    };
  }
}
