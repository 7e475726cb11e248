// Themes: the built-in ones, and the user's from `<home>/dashboard-themes` (dashboard.md §12.5). The public answer comes from
// a copy: a stranger's question reads no folder.
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "#base/errors.ts";
import type { ThemesBody } from "#protocol/http-status.ts";
import type { ThemeProblemsBody } from "#protocol/theme.ts";
import type { ThemeRules } from "./theme-definition.ts";

type Theme = ThemesBody["themes"][number];

export const BUILT_IN_THEMES: readonly Theme[] = [
  { name: "default", label: "Hermes Teal", description: "Dark teal with warm text" },
  {
    name: "default-large",
    label: "Hermes Teal (large)",
    description: "Hermes Teal in larger type",
  },
  { name: "midnight", label: "Midnight", description: "Deep blue and violet" },
  { name: "ember", label: "Ember", description: "Dark with orange light" },
  { name: "mono", label: "Mono", description: "Grey scale" },
  { name: "cyberpunk", label: "Cyberpunk", description: "Black with neon green" },
  { name: "rose", label: "Rosé", description: "Dark rose" },
  { name: "daylight", label: "Daylight", description: "Light background" },
];

const MOST_FILES = 100;
const MOST_BYTES = 1024 * 1024;
const FRESH_MS = 2000;

export interface ThemeSet {
  readonly themes: readonly Theme[];
  readonly problems: ThemeProblemsBody;
}

export interface Themes {
  /** What is known; an old copy is read anew behind the answer. */
  current(): ThemeSet;
  /** Reads the folder now. Never throws. */
  refresh(): Promise<ThemeSet>;
}

const NOTHING: ThemeProblemsBody = { broken: [], warnings: [] };

/** `monotonicMs`: the clock that says when a copy is old. */
export function createThemes(home: string, rules: ThemeRules, monotonicMs: () => number): Themes {
  const folder = join(home, "dashboard-themes");
  let known: ThemeSet = { themes: BUILT_IN_THEMES, problems: NOTHING };
  let readAt = Number.NEGATIVE_INFINITY;
  let running: Promise<ThemeSet> | null = null;
  const refresh = (): Promise<ThemeSet> => {
    running ??= readThemes(folder, rules).then((next) => {
      known = next;
      readAt = monotonicMs();
      running = null;
      return next;
    });
    return running;
  };
  return {
    refresh,
    current() {
      if (monotonicMs() - readAt >= FRESH_MS) void refresh();
      return known;
    },
  };
}

async function readThemes(folder: string, rules: ThemeRules): Promise<ThemeSet> {
  const themes = new Map(BUILT_IN_THEMES.map((theme) => [theme.name, theme]));
  const broken: { file: string; message: string }[] = [];
  const warnings: { theme: string; message: string }[] = [];
  const all = await readdir(folder).catch(() => []);
  const files = all.filter((name) => /^[^.].*\.ya?ml$/.test(name)).toSorted();
  for (const file of files.slice(0, MOST_FILES)) {
    const found = await readFileAsTheme(join(folder, file), rules);
    if (typeof found === "string") {
      broken.push({ file, message: found });
    } else if (themes.has(found.name)) {
      broken.push({ file, message: `the name ${found.name} is taken; choose another one` });
    } else {
      const { name, label, description, definition } = found;
      themes.set(name, { name, label, description, definition });
      warnings.push(...found.warnings.map((message) => ({ theme: name, message })));
    }
  }
  return { themes: [...themes.values()], problems: { broken, warnings } };
}

async function readFileAsTheme(path: string, rules: ThemeRules) {
  const { parseConfigText } = await import("#config/document.ts");
  const { toPlain } = await import("#config/plain.ts");
  const { readTheme } = await import("./theme-definition.ts");
  try {
    const facts = await stat(path);
    // A pipe of that name would never be read to its end.
    if (!facts.isFile()) return "it is not a file";
    if (facts.size > MOST_BYTES) return "the file is larger than 1 MiB";
    const parsed = parseConfigText(await readFile(path, "utf8"));
    if (!parsed.ok) {
      const where = parsed.place === null ? "" : `line ${parsed.place.line}: `;
      return `${where}${parsed.message}`;
    }
    return readTheme(toPlain(parsed.document.raw) as Readonly<Record<string, unknown>>, rules);
  } catch (error) {
    return withoutPath(messageOf(error), path);
  }
}

/** Messages of the file system name the whole path. */
function withoutPath(message: string, path: string): string {
  return message.replaceAll(path, "the file");
}
