// patch: replacing a piece of a text file (agent.md §5.1).
import * as z from "zod/mini";
import { cutStart } from "#base/text.ts";
import { ToolError, type Tool } from "#agent/ports/tool.ts";
import { defineTool, type ToolOutput } from "./define.ts";
import type { ToolBoxDeps } from "./deps.ts";
import { unifiedDiff } from "./line-changes.ts";
import { findMatch, nearestPlaces, type Hit, type Match } from "./patch-match.ts";
import { expandPath, type PathGuard } from "./paths.ts";
import { readEditable, refusePlaceholders } from "./text-file.ts";
import { toolHome } from "./tool-env.ts";
import { writeWhole } from "./write-file.ts";
import { assessWrite } from "./write-rules.ts";

const INPUT = z.object({
  path: z
    .string()
    .check(z.minLength(1), z.describe("Absolute, or from the working directory; ~ works.")),
  old_string: z
    .string()
    .check(
      z.minLength(1),
      z.describe("The piece to replace, with enough around it to be the only one."),
    ),
  new_string: z.string().check(z.describe("What takes its place.")),
  replace_all: z.optional(z.boolean().check(z.describe("Replace every occurrence."))),
});
type Input = z.output<typeof INPUT>;

export function createPatch(deps: ToolBoxDeps, guard: PathGuard): Tool {
  return defineTool({
    name: "patch",
    toolset: "file",
    description:
      "Replace a piece of a text file. Small differences of white space in old_string are forgiven.",
    input: INPUT,
    exclusive: true,
    assess: (input, context) =>
      assessWrite(deps, guard, { path: input.path, detail: changeOf(input) }, context.cwd),
    run: (input, context) => run(guard, expandPath(input.path, context.cwd, toolHome(deps)), input),
  });
}

function changeOf(input: Input): string {
  const mark = (text: string, sign: string): string =>
    text
      .split("\n")
      .map((line) => `${sign}${line}`)
      .join("\n");
  return cutStart(`${mark(input.old_string, "-")}\n${mark(input.new_string, "+")}`, 4000);
}

async function run(guard: PathGuard, named: string, input: Input): Promise<ToolOutput> {
  if (input.old_string === input.new_string) {
    throw new ToolError("NO_CHANGE", "old_string and new_string are the same");
  }
  const path = guard.checkWrite(named);
  const before = await readEditable(path, guard);
  refusePlaceholders(path, input.new_string, before);
  const match = findMatch(before, input.old_string, input.new_string);
  if (!match) throw noHit(path, before, input.old_string);
  const hits = chosenHits(path, match, input.replace_all === true);
  const after = replaceHits(before, hits);
  writeWhole(path, after);
  return {
    diff: await unifiedDiff(named, before, after),
    replacements: hits.length,
    strategy: match.strategy,
  };
}

function chosenHits(path: string, match: Match, all: boolean): readonly Hit[] {
  if (all || match.hits.length === 1) return match.hits;
  const lines = match.hits.map((hit) => hit.line).slice(0, 50);
  throw new ToolError(
    "AMBIGUOUS",
    `old_string occurs ${match.hits.length} times in ${path}, at lines ${lines.join(", ")}; add more of its surroundings or pass replace_all`,
    { lines },
  );
}

function noHit(path: string, file: string, oldText: string): ToolError {
  const nearest = nearestPlaces(file, oldText);
  const hint =
    nearest.length > 0
      ? `; nearest: ${nearest.map((place) => `line ${place.line}: ${place.text.trim()}`).join(" | ")}`
      : "";
  return new ToolError("NO_MATCH", `old_string does not occur in ${path}${hint}`, { nearest });
}

function replaceHits(text: string, hits: readonly Hit[]): string {
  let out = "";
  let at = 0;
  for (const hit of hits) {
    out += text.slice(at, hit.start) + hit.replacement;
    at = hit.end;
  }
  return out + text.slice(at);
}
