// memory: small facts that outlive the session (agent.md §9.3).
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import * as z from "zod/mini";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { messageOf } from "#base/errors.ts";
import { ToolError, type Tool } from "#agent/ports/tool.ts";
import { defineTool, type ToolOutput } from "./define.ts";
import type { ToolBoxDeps } from "./deps.ts";
import { matchesInjection } from "./injection.ts";
import { joinEntries, readMemoryFile, type MemoryFile, type MemoryTarget } from "./memory-files.ts";

const INPUT = z.object({
  action: z.enum(["add", "replace", "remove"]),
  target: z
    .enum(["memory", "user"])
    .check(z.describe("memory: notes of yours; user: what you know of the user.")),
  content: z.optional(
    z.string().check(z.maxLength(20_000), z.describe("The new entry, for add and replace.")),
  ),
  old_text: z.optional(
    z
      .string()
      .check(
        z.maxLength(20_000),
        z.describe("A piece that occurs in exactly one entry, for replace and remove."),
      ),
  ),
});
type Input = z.output<typeof INPUT>;

export function createMemory(deps: ToolBoxDeps): Tool {
  return defineTool({
    name: "memory",
    toolset: "memory",
    description:
      "Keep, change or drop one short fact in MEMORY.md or USER.md. They are read at the start of every session.",
    input: INPUT,
    exclusive: true,
    unavailable: () =>
      isOn(deps, "memory") || isOn(deps, "user") ? null : "memory is switched off",
    assess: (input) =>
      deps.unattended
        ? {
            dangerous: {
              id: "memory/unattended",
              reason: "changes what the agent remembers while nobody watches",
            },
            kind: "memory",
            title: `${input.action} in ${input.target}`,
            detail: input.content ?? input.old_text ?? "",
            allowKey: `memory:${input.target}`,
            allowListed: deps.settings.command_allowlist.includes(`memory:${input.target}`),
          }
        : {},
    run: (input) => Promise.resolve(run(deps, input)),
  });
}

function isOn(deps: ToolBoxDeps, target: MemoryTarget): boolean {
  const { memory } = deps.settings;
  return target === "memory" ? memory.memory_enabled : memory.user_profile_enabled;
}

function run(deps: ToolBoxDeps, input: Input): ToolOutput {
  if (!isOn(deps, input.target)) {
    throw new ToolError("MEMORY_OFF", `memory of kind ${input.target} is switched off`);
  }
  const { memory } = deps.settings;
  const limit = input.target === "memory" ? memory.memory_char_limit : memory.user_char_limit;
  // Read again before each write: another session or a person may have changed it.
  const file = readMemoryFile(deps.home, input.target, limit);
  if (file.unreadable !== null) {
    throw new ToolError("MEMORY_UNREADABLE", `${file.path} cannot be read: ${file.unreadable}`);
  }
  const entries = changed(deps, file, input);
  const text = joinEntries(entries);
  // Getting smaller is always allowed, or an over-long hand-edited file could never be repaired.
  if (text.length > limit && text.length >= file.used) throw overLimit(file, text.length);
  write(file.path, text);
  return { ok: true, used: text.length, limit };
}

function changed(deps: ToolBoxDeps, file: MemoryFile, input: Input): readonly string[] {
  switch (input.action) {
    case "add":
      return [...file.entries, newEntry(deps, file.entries, input.content)];
    case "replace": {
      const at = entryWith(file, input.old_text);
      const others = file.entries.filter((_, index) => index !== at);
      const entry = newEntry(deps, others, input.content);
      return file.entries.map((old, index) => (index === at ? entry : old));
    }
    case "remove": {
      const at = entryWith(file, input.old_text);
      return file.entries.filter((_, index) => index !== at);
    }
    default:
      return input.action satisfies never;
  }
}

/** Zero-width, bidirectional and tag characters, and controls: what a reader would not see. */
const INVISIBLE = /[\p{Cf}\u{E0000}-\u{E007F}\p{Co}]|[^\P{Cc}\n\t]/u;

function newEntry(
  deps: ToolBoxDeps,
  others: readonly string[],
  content: string | undefined,
): string {
  const entry = content?.replaceAll("\r\n", "\n").trim() ?? "";
  if (entry === "") throw new ToolError("CONTENT_MISSING", "content is empty");
  if (/^[ \t]*§[ \t]*$/m.test(entry)) {
    throw new ToolError("BAD_CONTENT", "content holds a line with only §, which separates entries");
  }
  if (INVISIBLE.test(entry))
    throw new ToolError("BAD_CONTENT", "content holds invisible characters");
  if (deps.redactor.text(entry) !== entry || entry.includes("[redacted")) {
    throw new ToolError("SECRET_IN_MEMORY", "content holds a secret; memory is no place for it");
  }
  const injection = matchesInjection(entry);
  if (injection)
    throw new ToolError("BAD_CONTENT", `content ${injection.reason} (${injection.id})`);
  if (others.includes(entry)) throw new ToolError("DUPLICATE", "there is such an entry already");
  return entry;
}

function entryWith(file: MemoryFile, piece: string | undefined): number {
  const wanted = piece?.trim() ?? "";
  if (wanted === "") throw new ToolError("OLD_TEXT_MISSING", "old_text is empty");
  const hits = file.entries.flatMap((entry, index) => (entry.includes(wanted) ? [index] : []));
  const [first] = hits;
  if (first === undefined) {
    throw new ToolError("NO_MATCH", "no entry holds old_text", { entries: file.entries });
  }
  if (hits.length > 1) {
    throw new ToolError("AMBIGUOUS", `${hits.length} entries hold old_text; use a longer piece`, {
      entries: hits.map((index) => file.entries[index]),
    });
  }
  return first;
}

function overLimit(file: MemoryFile, wanted: number): ToolError {
  return new ToolError(
    "MEMORY_FULL",
    `${wanted} characters are more than the ${file.limit} that fit; merge or remove entries first`,
    { used: file.used, limit: file.limit, entries: file.entries },
  );
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o750 });
    writeFileAtomic(path, text === "" ? "" : `${text}\n`, { mode: 0o600 });
  } catch (error) {
    throw new ToolError("WRITE_FAILED", `${path} could not be written: ${messageOf(error)}`);
  }
}
