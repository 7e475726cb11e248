// Reads the files that a session's system prompt is made of (agent.md §4.4).
import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { errnoOf } from "#base/errors.ts";
import type { PromptParts } from "#agent/prompt.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import { matchesInjection } from "#tools/injection.ts";
import { readMemoryFile, type MemoryTarget } from "#tools/memory-files.ts";
import { createPathGuard, realTarget, type PathGuard } from "#tools/paths.ts";

/** A prompt takes 20000 characters of a file; nobody means a file of this size as instructions. */
const MAX_FILE_BYTES = 2_000_000;

export interface PromptFacts {
  readonly loaded: LoadedConfig;
  readonly cwd: string;
  readonly safeMode: boolean;
  readonly toolNames: readonly string[];
  readonly nowMs: number;
}

/** `notice` is called for each file that was left out, with the sentence for the user. */
export function readPromptParts(facts: PromptFacts, notice: (text: string) => void): PromptParts {
  const { loaded, safeMode } = facts;
  const timeZone = loaded.config.timezone || loaded.env.get("TZ") || "UTC";
  const wants = { soul: !safeMode, context: !safeMode && loaded.config.agent.context_files };
  return {
    soul: wants.soul ? readFile(join(loaded.home, "SOUL.md"), notice) : null,
    tools: facts.toolNames,
    surfaceText: null,
    skills: [],
    context: wants.context ? readContext(facts, notice) : null,
    memory: safeMode ? null : readMemory(loaded, "memory", notice),
    user: safeMode ? null : readMemory(loaded, "user", notice),
    ...dateIn(facts.nowMs, timeZone),
    formatting: null,
  };
}

/** First match: HERMES.md or .hermes.md from the cwd up to the git root, then the names that other agents use, in the cwd. */
function readContext(
  { cwd, loaded }: PromptFacts,
  notice: (text: string) => void,
): PromptParts["context"] {
  let guard: PathGuard | null = null;
  const own = foldersUpToGitRoot(cwd).flatMap((folder) => [
    join(folder, "HERMES.md"),
    join(folder, ".hermes.md"),
  ]);
  const others = ["AGENTS.md", "CLAUDE.md", ".cursorrules"].map((name) => join(cwd, name));
  for (const path of [...own, ...others]) {
    if (!existsSync(path)) continue;
    guard ??= guardOf(loaded);
    // A project that comes from elsewhere may hold a link to a key: the prompt goes to the model's provider.
    const closed = guard.isReadClosed(realTarget(path)) ? guard.protectionOf(path) : null;
    if (closed) notice(`${path} was left out of the prompt: it leads to what ${closed.reason}`);
    const text = closed ? null : readFile(path, notice);
    if (text !== null) return { name: path.slice(dirname(path).length + 1), text };
  }
  return null;
}

function guardOf({ home, root, env }: LoadedConfig): PathGuard {
  const userHomes = [...new Set([env.get("HOME") ?? homedir(), homedir()])];
  return createPathGuard({ home, root, userHomes, safeRoots: [] });
}

function foldersUpToGitRoot(cwd: string): string[] {
  const folders = [cwd];
  for (let folder = cwd; !existsSync(join(folder, ".git"));) {
    const parent = dirname(folder);
    // Without a repository only the cwd itself counts.
    if (parent === folder) return [cwd];
    folder = parent;
    folders.push(folder);
  }
  return folders;
}

function readMemory(
  loaded: LoadedConfig,
  target: MemoryTarget,
  notice: (text: string) => void,
): PromptParts["memory"] {
  const { memory } = loaded.config;
  const on = target === "memory" ? memory.memory_enabled : memory.user_profile_enabled;
  if (!on) return null;
  const limit = target === "memory" ? memory.memory_char_limit : memory.user_char_limit;
  const file = readMemoryFile(loaded.home, target, limit);
  if (file.unreadable)
    notice(`${file.path} cannot be read (${file.unreadable}); the agent goes on without it`);
  if (file.cut)
    notice(`${file.path} is longer than its limit of ${limit} characters and is shown cut`);
  return file.text === "" ? null : { text: file.text, usedPercent: file.percent };
}

/** null when missing or left out. */
function readFile(path: string, notice: (text: string) => void): string | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat?.isFile()) return null;
    if (stat.size > MAX_FILE_BYTES) {
      notice(`${path} is larger than ${MAX_FILE_BYTES} bytes and was left out of the prompt`);
      return null;
    }
    const text = readFileSync(path, "utf8");
    const hit = matchesInjection(text);
    if (!hit) return text;
    notice(`${path} was left out of the prompt: ${hit.reason} (${hit.id})`);
  } catch (error) {
    notice(`${path} cannot be read (${errnoOf(error) ?? "error"}); the agent goes on without it`);
  }
  return null;
}

function dateIn(nowMs: number, timeZone: string): { date: string; timeZone: string } {
  try {
    // en-CA writes dates as YYYY-MM-DD.
    return { date: new Intl.DateTimeFormat("en-CA", { timeZone }).format(nowMs), timeZone };
  } catch {
    return { date: new Date(nowMs).toISOString().slice(0, 10), timeZone: "UTC" };
  }
}
