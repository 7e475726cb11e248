// The last lines of a log and those that follow, also across rotation (agent.md §1.3 `logs`).
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { createLogFilter, parseLogLine, type LogFilter } from "#base/log-lines.ts";

const BLOCK = 256 * 1024;
/** Of each file, from its end: more is read with a text editor. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Rotated files that are looked into: `logging.backup_count` is 3 by default. */
const MOST_FILES = 20;

/** The newest `count` lines that fit, oldest first, from `path`, `path.1`, … */
export function readLastLines(path: string, count: number, filter: LogFilter): readonly string[] {
  const found: (readonly string[])[] = [];
  let left = count;
  for (const file of rotatedFiles(path)) {
    const lines = fitting(readTail(file), filter).slice(-left);
    found.unshift(lines);
    left -= lines.length;
    if (left <= 0) break;
  }
  return found.flat();
}

/** Newest first. */
function rotatedFiles(path: string): readonly string[] {
  const older = Array.from({ length: MOST_FILES }, (_, index) => `${path}.${index + 1}`);
  return [path, ...older].filter((file) => existsSync(file));
}

function fitting(text: string, filter: LogFilter): readonly string[] {
  const matches = createLogFilter(filter);
  return linesOf(text).filter((line) => matches(parseLogLine(line)));
}

function linesOf(text: string): readonly string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function readTail(path: string): string {
  const descriptor = openSync(path, "r");
  try {
    const { size } = fstatSync(descriptor);
    return readFrom(descriptor, Math.max(0, size - MOST_BYTES)).text;
  } finally {
    closeSync(descriptor);
  }
}

function readFrom(descriptor: number, start: number): { text: string; end: number } {
  const chunks: Buffer[] = [];
  let at = start;
  for (;;) {
    const block = Buffer.alloc(BLOCK);
    const read = readSync(descriptor, block, 0, BLOCK, at);
    if (read === 0) return { text: Buffer.concat(chunks).toString("utf8"), end: at };
    chunks.push(block.subarray(0, read));
    at += read;
  }
}

/** A file that is read on as it grows. A new file under the same name is read from its start. */
export class LogFollower {
  readonly #path: string;
  readonly #matches: (line: ReturnType<typeof parseLogLine>) => boolean;
  #inode: number | null = null;
  #position = 0;
  #partial = "";

  /** Begins at the end of what is there. */
  constructor(path: string, filter: LogFilter) {
    this.#path = path;
    this.#matches = createLogFilter(filter);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found) [this.#inode, this.#position] = [found.ino, found.size];
  }

  /** Whole lines since the last call. Bytes of a rotated file that came after the last call are not missed: they are in `.1`. */
  read(): readonly string[] {
    const now = statSync(this.#path, { throwIfNoEntry: false });
    const isOther = this.#inode !== null && now?.ino !== this.#inode;
    const rest = isOther ? this.#readRest(`${this.#path}.1`) : [];
    if (!now) return rest;
    if (isOther || now.size < this.#position) this.#position = 0;
    this.#inode = now.ino;
    return [...rest, ...this.#readOn(this.#path)];
  }

  #readRest(path: string): readonly string[] {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.ino === this.#inode ? this.#readOn(path) : [];
  }

  #readOn(path: string): readonly string[] {
    const descriptor = openSync(path, "r");
    try {
      const { text, end } = readFrom(descriptor, this.#position);
      this.#position = end;
      const lines = (this.#partial + text).split("\n");
      this.#partial = lines.pop() ?? "";
      return lines.filter((line) => this.#matches(parseLogLine(line)));
    } finally {
      closeSync(descriptor);
    }
  }
}
