// Which files a tool may touch (agent.md §5.2). What is judged is the real path; policy/protected-paths.json is the list.
import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import picomatch from "picomatch";
import { errnoOf } from "#base/errors.ts";
import { ToolError } from "#agent/ports/tool.ts";
import { PROTECTED_PATHS, type ProtectedPath } from "./policy.ts";

export interface PathFacts {
  readonly home: string;
  readonly root: string;
  /** HOME of the user and HOME of tool processes: `~` means both. */
  readonly userHomes: readonly string[];
  readonly safeRoots: readonly string[];
}

export interface PathGuard {
  /** The entry that closes `path` (absolute; its real path is looked at too), or null. */
  protectionOf(path: string): ProtectedPath | null;
  /** True when the name alone closes `path` for reading; links are not followed. */
  isReadClosed(path: string): boolean;
  /** The absolute real path. Throws PROTECTED_PATH. */
  checkRead(path: string): string;
  /** The absolute real path, of a new file the parent's. Throws PROTECTED_PATH or OUTSIDE_SAFE_ROOT. */
  checkWrite(path: string): string;
  /** Paths that a file-name pattern could stand for: fixed protected names. */
  readonly samples: readonly { readonly path: string; readonly entry: ProtectedPath }[];
}

export function createPathGuard(facts: PathFacts): PathGuard {
  const entries = PROTECTED_PATHS.map((entry) => ({
    entry,
    matches: picomatch([...fillGlob(entry.glob, facts)], MATCH_OPTIONS),
  }));
  const find = (path: string, reads: boolean): ProtectedPath | null =>
    entries.find(({ entry, matches }) => (!reads || entry.deny === "read+write") && matches(path))
      ?.entry ?? null;
  const check = (path: string, reads: boolean): string => {
    const real = realTarget(path);
    const entry = find(real, reads) ?? find(path, reads);
    if (entry) throw protectedPath(path, entry, reads);
    return real;
  };
  return {
    protectionOf: (path) => find(path, false) ?? find(realTarget(path), false),
    isReadClosed: (path) => find(path, true) !== null,
    checkRead: (path) => check(path, true),
    checkWrite(path) {
      const real = check(path, false);
      if (!isInside(real, facts.safeRoots)) throw outsideSafeRoot(path, facts.safeRoots);
      return real;
    },
    samples: PROTECTED_PATHS.flatMap((entry) =>
      entry.blocks.flatMap((block) => fillPlain(block, facts).map((path) => ({ path, entry }))),
    ),
  };
}

const MATCH_OPTIONS = { dot: true, nocase: process.platform === "darwin" };

function fillPlain(text: string, facts: PathFacts): readonly string[] {
  const withHome = text.replaceAll("<home>", facts.home).replaceAll("<root>", facts.root);
  if (!withHome.startsWith("~")) return [withHome];
  return facts.userHomes.map((userHome) => withHome.replace("~", () => userHome));
}

/** Each glob for the folders as they are named and as they really are. */
function fillGlob(glob: string, facts: PathFacts): ReadonlySet<string> {
  const forms = (path: string): readonly string[] => [...new Set([path, realTarget(path)])];
  const out = new Set<string>();
  for (const home of forms(facts.home)) {
    for (const root of forms(facts.root)) {
      for (const userHome of facts.userHomes.flatMap(forms)) {
        const filled = glob
          .replaceAll("<home>", escapeGlob(home))
          .replaceAll("<root>", escapeGlob(root));
        out.add(filled.replace(/^~/, () => escapeGlob(userHome)));
      }
    }
  }
  return out;
}

function escapeGlob(path: string): string {
  return path.replace(/[\\*?[\]{}()!+@|]/g, "\\$&");
}

/** Absolute path of what the model wrote: from `cwd`, `~` expanded. */
export function expandPath(path: string, cwd: string, userHome: string): string {
  if (path === "") throw new ToolError("BAD_PATH", "the path is empty");
  if (path.includes("\0")) throw new ToolError("BAD_PATH", "the path holds a NUL character");
  return resolve(
    cwd,
    path.replace(/^~(?=\/|$)/, () => userHome),
  );
}

const MAX_PARENTS = 256;

/** The real path; where the end of it does not exist yet, the real path of the nearest parent with the rest. */
export function realTarget(path: string): string {
  const missing: string[] = [];
  let current = resolve(path);
  for (let step = 0; step < MAX_PARENTS; step++) {
    try {
      return join(realpathSync(current), ...missing);
    } catch (error) {
      const errno = errnoOf(error);
      if (errno !== "ENOENT" && errno !== "ENOTDIR" && errno !== "EACCES" && errno !== "ELOOP")
        throw error;
      const target = linkTarget(current);
      if (target !== null) {
        current = target;
        continue;
      }
      if (dirname(current) === current) break;
      missing.unshift(basename(current));
      current = dirname(current);
    }
  }
  return resolve(path);
}

/** Where a link points whose target is missing: what is written through it appears there. */
function linkTarget(path: string): string | null {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return null;
  }
}

/** True when there are no roots, or `real` lies in one of them. */
function isInside(real: string, roots: readonly string[]): boolean {
  return roots.length === 0 || roots.some((root) => contains(realTarget(root), real));
}

export function contains(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return rest === "" || (!rest.startsWith("..") && !isAbsolute(rest)) || /^\.\.[^/]/.test(rest);
}

function protectedPath(path: string, entry: ProtectedPath, reads: boolean): ToolError {
  const verb = reads ? "read" : "write";
  return new ToolError(
    "PROTECTED_PATH",
    `tools may not ${verb} ${path}: ${entry.reason} (rule ${entry.id})`,
    { rule: entry.id },
  );
}

function outsideSafeRoot(path: string, roots: readonly string[]): ToolError {
  return new ToolError(
    "OUTSIDE_SAFE_ROOT",
    `${path} lies outside HERMES_WRITE_SAFE_ROOT (${roots.join(":")}); write inside it`,
  );
}
