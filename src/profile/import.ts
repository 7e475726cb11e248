// `profile import`: an archive of somebody else is looked at as a whole before anything is written (agent.md §8).
import { createReadStream, existsSync, writeFileSync } from "node:fs";
import type { ReadEntry } from "tar";
import { HermesError, messageOf } from "#base/errors.ts";
import { configPathOf, readText } from "#config/files.ts";
import { loadConfig } from "#config/load.ts";
import type { AssignedPort } from "./clone.ts";
import { buildProfile, type CreatedProfile } from "./create.ts";
import { ensureHome } from "./home.ts";
import type { ProfileHook } from "./hook.ts";
import type { ProfileName } from "./name.ts";
import { configuredPorts, freePort } from "./ports.ts";
import { withPort } from "./shareless.ts";
import { TRAVELS } from "./travels.ts";

const MAX_BYTES = 1024 * 1024 * 1024;
const MAX_ENTRIES = 200_000;

export interface ArchiveFacts {
  /** The one directory that everything is in. */
  readonly top: string;
  /** Entries that are not taken, by the name below the top. */
  readonly leftOut: readonly string[];
}

/** Reads the whole archive without writing anything. Throws `IMPORT_REFUSED` (1) naming the entry. */
export async function inspectArchive(file: string): Promise<ArchiveFacts> {
  if (!existsSync(file)) {
    throw new HermesError("IMPORT_NOT_FOUND", `There is no file ${file}`);
  }
  const seen = new Inspection();
  await readEntries(file, seen);
  return seen.result();
}

/** Ends at the first entry that is refused: a small file may unpack to more than any disk holds. */
async function readEntries(file: string, seen: Inspection): Promise<void> {
  const { Parser } = await import("tar");
  const source = createReadStream(file);
  await new Promise<void>((resolve, reject) => {
    const fail = (cause: unknown): void =>
      reject(refuse(`it is no whole .tar.gz: ${messageOf(cause)}`));
    const parser = new Parser({
      strict: true,
      onReadEntry: (entry) => {
        if (!seen.add(entry)) resolve();
      },
    });
    parser.on("end", resolve).on("error", fail);
    source.on("error", fail);
    source.on("data", (chunk: Buffer | string) => {
      try {
        if (!parser.write(Buffer.from(chunk))) source.pause();
      } catch (cause) {
        fail(cause);
      }
    });
    parser.on("drain", () => source.resume());
    source.on("end", () => parser.end());
  }).finally(() => source.destroy());
}

class Inspection {
  readonly #tops = new Set<string>();
  readonly #leftOut = new Set<string>();
  #bytes = 0;
  #count = 0;
  #trouble: string | null = null;

  /** False: nothing more needs to be looked at. */
  add(entry: ReadEntry): boolean {
    this.#count += 1;
    this.#bytes += entry.size ?? 0;
    this.#trouble ??= troubleOf(entry);
    if (this.#count > MAX_ENTRIES) this.#trouble ??= `it has more than ${MAX_ENTRIES} entries`;
    if (this.#bytes > MAX_BYTES) this.#trouble ??= "it is larger than 1 GB unpacked";
    const [top = "", first] = partsOf(entry.path);
    this.#tops.add(top);
    if (first !== undefined && !TRAVELS.includes(first)) this.#leftOut.add(first);
    entry.resume();
    return this.#trouble === null;
  }

  result(): ArchiveFacts {
    if (this.#trouble !== null) throw refuse(this.#trouble);
    const [top, ...others] = this.#tops;
    if (top === undefined) throw refuse("it is empty");
    if (others.length > 0) throw refuse("it holds more than one directory at its top");
    return { top, leftOut: [...this.#leftOut].sort() };
  }
}

function troubleOf({ path, type, size }: ReadEntry): string | null {
  const shown = JSON.stringify(path.slice(0, 200));
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return `${shown} is an absolute path`;
  if (path.split(/[\\/]/).includes("..")) return `${shown} leads out of it`;
  // oxlint-disable-next-line no-control-regex -- that is what it looks for
  if (/[\0-\x1f\\]/.test(path)) return `${shown} is a name with control characters or backslashes`;
  if (type === "Directory") return null;
  if (type !== "File" && type !== "OldFile" && type !== "ContiguousFile")
    return `${shown} is a ${type}; only files and directories are taken`;
  return (size ?? 0) < 0 ? `${shown} has no size` : null;
}

const partsOf = (path: string): readonly string[] =>
  path.split("/").filter((part) => part !== "" && part !== ".");

export interface ImportInput {
  readonly root: string;
  readonly name: ProfileName;
  /** As `inspectArchive` was asked: what it refuses never gets here. */
  readonly file: string;
  readonly facts: ArchiveFacts;
}

/** Throws `PROFILE_EXISTS`, `IMPORT_REFUSED`; a failure leaves nothing behind. */
export function importProfile(input: ImportInput, hook: ProfileHook): Promise<CreatedProfile> {
  const { root, file } = input;
  return buildProfile(input, hook, async (fresh) => {
    ensureHome(fresh);
    const { extract } = await import("tar");
    await extract({
      file,
      cwd: fresh,
      strip: 1,
      strict: true,
      preserveOwner: false,
      noMtime: false,
      filter: (path, entry) => isTaken(path, "type" in entry ? entry : null),
    });
    return freePorts(root, fresh);
  });
}

/** Asked again for each entry: the file may be another one by now. */
function isTaken(path: string, entry: ReadEntry | null): boolean {
  if (entry !== null && troubleOf(entry) !== null) throw refuse("it changed while it was read");
  const [, first] = partsOf(path);
  return first === undefined || TRAVELS.includes(first);
}

/** A port of an imported configuration that another profile has already gives way. */
function freePorts(root: string, fresh: string): readonly AssignedPort[] {
  const text = readText(configPathOf(fresh));
  if (text.state !== "text") throw refuse("its config.yaml is not text");
  const used = new Set(configuredPorts(root).map((entry) => entry.port));
  const { platforms } = loadFresh(fresh);
  const assigned: AssignedPort[] = [];
  let config = text.text;
  for (const platform of ["api_server", "webhook"] as const) {
    if (platforms[platform].enabled !== true || !used.has(platforms[platform].port)) continue;
    const port = freePort(platform, used);
    used.add(port);
    config = withPort(config, platform, port);
    assigned.push({ platform, port });
  }
  if (assigned.length > 0) writeFileSync(configPathOf(fresh), config);
  return assigned;
}

function loadFresh(fresh: string): ReturnType<typeof loadConfig>["config"] {
  try {
    return loadConfig({ processEnv: {}, home: fresh, remember: false }).config;
  } catch (cause) {
    throw refuse(`its config.yaml cannot be used: ${messageOf(cause)}`);
  }
}

function refuse(why: string): HermesError {
  return new HermesError("IMPORT_REFUSED", `The archive is refused: ${why}`, {
    fix: 'Make one with "hermes profile export NAME".',
  });
}
