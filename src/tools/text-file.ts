// Opening a file that a tool was asked for: only regular files, only text, only where reading is allowed (agent.md §5.1, §5.2).
import { constants, readdirSync, readlinkSync, statSync, type Stats } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { errnoOf, messageOf } from "#base/errors.ts";
import { nearestWords } from "#base/text.ts";
import { ToolError } from "#agent/ports/tool.ts";
import type { PathGuard } from "./paths.ts";

/** Files that are rewritten as a whole must fit. */
export const MAX_EDIT_BYTES = 5 * 1024 * 1024;
const SNIFF_BYTES = 8192;

/**
 * Opens a regular file for reading. Throws ToolError NOT_FOUND (with the nearest names), NOT_A_FILE, PROTECTED_PATH,
 * UNREADABLE. Nothing but a regular file is ever opened: a FIFO would wait and a device could act.
 */
export async function openRegular(path: string, guard: PathGuard): Promise<FileHandle> {
  regularStats(path);
  guard.checkRead(path);
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw new ToolError("UNREADABLE", `${path} cannot be read: ${messageOf(error)}`);
  }
  try {
    // The name may have been swapped since: what is open now is judged again.
    if (!(await handle.stat()).isFile()) throw notAFile(path, "changed while it was opened");
    const real = openPath(handle.fd);
    if (real !== null) guard.checkRead(real);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function openPath(descriptor: number): string | null {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return null;
  }
}

/** Facts of a regular file. Throws NOT_FOUND, NOT_A_FILE, UNREADABLE. */
export function regularStats(path: string): Stats {
  let stats: Stats;
  try {
    stats = statSync(path);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT" || errno === "ENOTDIR") throw notFound(path);
    throw new ToolError("UNREADABLE", `${path} cannot be read: ${messageOf(error)}`);
  }
  if (!stats.isFile()) throw notAFile(path, kindOf(stats));
  return stats;
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return "a folder";
  if (stats.isFIFO()) return "a named pipe";
  if (stats.isSocket()) return "a socket";
  return "a device";
}

function notAFile(path: string, what: string): ToolError {
  return new ToolError("NOT_A_FILE", `${path} is not a regular file: ${what}`);
}

function notFound(path: string): ToolError {
  const nearest = nearestNames(path);
  const hint = nearest.length > 0 ? `; nearest names: ${nearest.join(", ")}` : "";
  return new ToolError("NOT_FOUND", `${path} does not exist${hint}`, { nearest });
}

function nearestNames(path: string): readonly string[] {
  try {
    return nearestWords(basename(path), readdirSync(dirname(path)).slice(0, 5000), 5);
  } catch {
    return [];
  }
}

const MAGIC: readonly (readonly [string, string])[] = [
  ["89504e47", "PNG image"],
  ["ffd8ff", "JPEG image"],
  ["47494638", "GIF image"],
  ["52494646", "RIFF (WebP, WAV, AVI)"],
  ["25504446", "PDF document"],
  ["504b0304", "ZIP archive or office document"],
  ["1f8b", "gzip archive"],
  ["425a68", "bzip2 archive"],
  ["fd377a585a00", "xz archive"],
  ["28b52ffd", "zstd archive"],
  ["7f454c46", "ELF program"],
  ["53514c69746520666f726d6174203300", "SQLite database"],
  ["cafebabe", "Java class or Mach-O program"],
  ["0061736d", "WebAssembly module"],
  ["fffe", "UTF-16 text"],
  ["feff", "UTF-16 text"],
];

/** What a binary file is, or null for text. */
export function binaryType(start: Buffer): string | null {
  const hex = start.subarray(0, 16).toString("hex");
  const known = MAGIC.find(([magic]) => hex.startsWith(magic))?.[1] ?? null;
  if (start.subarray(0, SNIFF_BYTES).includes(0)) return known ?? "binary data";
  return known === "PDF document" || known === "gzip archive" ? known : null;
}

export function binaryError(path: string, type: string, size: number): ToolError {
  return new ToolError("BINARY", `${path} is no text: ${type}, ${size} bytes`, { type, size });
}

/** The whole text of a file to edit. Throws also TOO_LARGE and BINARY: a rewrite must not damage what it cannot decode. */
export async function readEditable(path: string, guard: PathGuard): Promise<string> {
  const handle = await openRegular(path, guard);
  try {
    const { size } = await handle.stat();
    if (size > MAX_EDIT_BYTES) {
      throw new ToolError(
        "TOO_LARGE",
        `${path} has ${size} bytes, at most ${MAX_EDIT_BYTES} are edited`,
      );
    }
    const bytes = await handle.readFile();
    const type = binaryType(bytes);
    if (type !== null) throw binaryError(path, type, size);
    return decodeStrict(path, bytes);
  } finally {
    await handle.close();
  }
}

function decodeStrict(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw binaryError(path, "text that is not UTF-8", bytes.length);
  }
}

const PLACEHOLDER = /\[redacted(?::[^\]\s]{1,128})?\]/g;

/** Throws REDACTED_PLACEHOLDER when `text` holds one that is not in the file as it stands (agent.md §5.2). */
export function refusePlaceholders(path: string, text: string, onDisk: string): void {
  for (const [placeholder] of text.matchAll(PLACEHOLDER)) {
    if (onDisk.includes(placeholder)) continue;
    throw new ToolError(
      "REDACTED_PLACEHOLDER",
      `the text for ${path} holds ${placeholder}, which stands for a secret that you were not shown; leave that part of the file as it is`,
    );
  }
}
