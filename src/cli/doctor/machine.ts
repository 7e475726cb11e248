// Doctor: runtime, directories, tools: what this machine offers.
import { accessSync, constants, existsSync, type Stats, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { placeOf } from "#store/file-system.ts";
import { errnoOf } from "#base/errors.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import type { Launch } from "../context.ts";
import { isInContainer } from "../in-container.ts";
import { error, off, ok, warning, type DoctorItem, type DoctorSection } from "./report.ts";

export function runtimeSection(launch: Launch): DoctorSection {
  const uid = process.getuid?.();
  const where = isInContainer(launch) ? "in a container" : "on a host";
  const items = [
    ok("NODE", `Node ${process.version} ${where}`),
    ok("USER", `uid ${uid ?? "unknown"}`),
    homeItem(launch.home),
  ];
  return { id: "runtime", title: "Runtime", items };
}

function homeItem(home: string): DoctorItem {
  const { type, journalMode } = placeOf(join(home, "state.db"), "auto");
  const place = `${home} on ${type ?? "an unknown file system"}, journal mode ${journalMode}`;
  const path = nearestExisting(home);
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const fix = "Give this user the directory, or set HERMES_HOME to one that it may write.";
    return error("HOME_NOT_WRITABLE", `${path} cannot be written: ${errnoOf(cause)}`, fix);
  }
  return path === home
    ? ok("HOME", place)
    : off("HOME_MISSING", `${home} is made at the first start`);
}

function nearestExisting(path: string): string {
  let at = path;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  return at;
}

/** Folder or file, the mode that we would make it with, and the bits that it must not have. */
const PLACES: readonly (readonly [name: string, mode: number, forbidden: number])[] = [
  ["memories", 0o750, 0o007],
  ["sessions", 0o750, 0o007],
  ["skills", 0o750, 0o007],
  ["logs", 0o750, 0o007],
  ["cron", 0o750, 0o007],
  ["workspace", 0o750, 0o007],
  ["home", 0o750, 0o007],
  ["cache", 0o700, 0o077],
  [".env", 0o600, 0o077],
  ["state.db", 0o600, 0o077],
];

export interface WrongMode {
  readonly path: string;
  readonly mode: number;
  readonly wanted: number;
}

export function missingFolders(home: string): readonly string[] {
  return PLACES.map(([name]) => name)
    .filter((name) => !name.includes("."))
    .filter((name) => !existsSync(join(home, name)));
}

/** null: not there, or in a home that this user may not enter, which the runtime's section says. */
function lookAt(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/** Too open ones only: a stricter mode is the owner's choice. */
export function wrongModes(home: string): readonly WrongMode[] {
  return PLACES.flatMap(([name, wanted, forbidden]) => {
    const path = join(home, name);
    const found = lookAt(path);
    const mode = found ? found.mode & 0o777 : 0;
    return (mode & forbidden) === 0 ? [] : [{ path, mode, wanted }];
  });
}

/** One line for all of them. Where no conversation was kept yet, nothing is amiss. */
function missingItems(home: string, fix: string): readonly DoctorItem[] {
  const names = missingFolders(home).join(", ");
  if (names === "") return [];
  return existsSync(join(home, "state.db"))
    ? [warning("DIRECTORY_MISSING", `missing in ${home}: ${names}`, fix)]
    : [off("DIRECTORIES_NOT_MADE", `not made yet, the first use makes them: ${names}`)];
}

export function directoriesSection(home: string): DoctorSection {
  const fix = "hermes doctor --fix";
  const items: DoctorItem[] = [...missingItems(home, fix)];
  for (const { path, mode } of wrongModes(home)) {
    items.push(
      warning("MODE_TOO_OPEN", `${path} has mode ${mode.toString(8)}: others can read it`, fix),
    );
  }
  const uid = process.getuid?.();
  for (const [name] of PLACES) {
    const owner = lookAt(join(home, name))?.uid;
    if (owner !== undefined && uid !== undefined && owner !== uid) {
      const path = join(home, name);
      items.push(
        warning(
          "OTHER_OWNER",
          `${path} belongs to uid ${owner}, we are ${uid}`,
          `chown ${uid} ${path}`,
        ),
      );
    }
  }
  if (items.length === 0) items.push(ok("DIRECTORIES", "All there, modes as they should be"));
  return { id: "directories", title: "Directories", items };
}

const PROGRAMS = [
  ["bash", "error", "The terminal tool needs it: install bash."],
  ["rg", "warning", "Search works without it, slower: install ripgrep."],
  ["git", "warning", "Needed only where work is kept in git: install git."],
] as const;

export function toolsSection(launch: Launch, loaded: LoadedConfig | null): DoctorSection {
  const path = launch.env["PATH"] ?? "";
  const items: DoctorItem[] = PROGRAMS.map(([program, level, fix]) => {
    const found = findProgram(program, path);
    if (found !== null) return ok("PROGRAM", `${program}: ${found}`);
    return { level, code: "PROGRAM_MISSING", message: `${program} is not on PATH`, fix };
  });
  if (loaded) {
    const { backend, searxng_url } = loaded.config.web;
    const hasSearch =
      searxng_url !== "" ||
      ["BRAVE_API_KEY", "TAVILY_API_KEY"].some((name) => loaded.env.get(name));
    items.push(
      hasSearch || backend === "none"
        ? ok("SEARCH", `web search: ${backend}`)
        : off(
            "SEARCH_OFF",
            "web search is off: no web.searxng_url, BRAVE_API_KEY or TAVILY_API_KEY",
          ),
    );
  }
  return { id: "tools", title: "Tools", items };
}

function findProgram(name: string, path: string): string | null {
  for (const folder of path.split(delimiter).filter((entry) => entry !== "")) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      if (statSync(file).isFile()) return file;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}
