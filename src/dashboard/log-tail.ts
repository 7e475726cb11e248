// The end of a log file, whatever its size.
import { open, type FileHandle } from "node:fs/promises";
import { errnoOf } from "#base/errors.ts";
import { fail } from "./errors.ts";

const TAIL_BYTES = 2 * 1024 * 1024;
const TAIL_LINES = 2000;

/** The last 2,000 lines within the last 2 MiB; none for a missing file. */
export async function readTail(path: string): Promise<string[]> {
  let handle: FileHandle;
  try {
    handle = await open(path);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw fail(503, "internal", "The log file cannot be read");
  }
  try {
    const { size } = await handle.stat();
    const length = Math.min(size, TAIL_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    const lines = buffer.toString("utf8", 0, bytesRead).split("\n");
    // The first line of a cut tail is half a line.
    if (length < size) lines.shift();
    return lines.filter((line) => line !== "").slice(-TAIL_LINES);
  } finally {
    await handle.close();
  }
}
