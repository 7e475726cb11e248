// What the rules say of one shell command: hard block, approvals.deny, dangerous, command_allowlist (agent.md §5.3).
import { hostname } from "node:os";
import { basename, dirname } from "node:path";
import picomatch from "picomatch";
import { HARMLESS, type Assessment, type RuleHit } from "#agent/ports/tool.ts";
import { compileRules, type CommandHit, type RuleNames } from "./command-rules.ts";
import type { ToolBoxDeps } from "./deps.ts";
import { normaliseShell, type NormalisedShell, type SimpleCommand } from "./normalise.ts";
import type { PathGuard } from "./paths.ts";
import { resolvePath } from "./shell-paths.ts";
import { DANGEROUS, HARD_BLOCK, READERS, type ProtectedPath } from "./policy.ts";
import { toolEnvironment, toolHome } from "./tool-env.ts";

export type CommandJudge = (command: string, cwd: string) => Assessment;

/** The rules are compiled at the first command. */
export function createCommandJudge(deps: ToolBoxDeps, guard: PathGuard): CommandJudge {
  let rules: ReturnType<typeof compileAll> | null = null;
  return (command, cwd) => {
    rules ??= compileAll(deps);
    const shell = normaliseShell(command, {
      cwd,
      userHome: toolHome(deps),
      env: toolEnvironment(deps, cwd),
      pid: process.pid,
    });
    const dangerous = [...rules.dangerous.match(shell), ...namedProtected(shell, guard)];
    const allow = allowKeyOf(command);
    return {
      ...HARMLESS,
      hardBlock: hitOf(rules.hard.match(shell)[0]),
      denied: deniedBy(deps.settings.approvals.deny, command, shell),
      dangerous: hitOf(dangerous[0]),
      allowListed:
        dangerous.length > 0 &&
        isAllowListed(deps.settings.command_allowlist, command, dangerous, shell),
      kind: "command",
      title: "Run a command",
      detail: command,
      allowKey: allow,
    };
  };
}

function compileAll(
  deps: ToolBoxDeps,
): Record<"hard" | "dangerous", ReturnType<typeof compileRules>> {
  const names: RuleNames = {
    HOME: deps.home,
    ROOT: deps.root,
    USERHOME: toolHome(deps),
    PID: String(process.pid),
    HOST: hostname(),
  };
  return {
    hard: compileRules("hard-block", HARD_BLOCK, names),
    dangerous: compileRules("dangerous", DANGEROUS, names),
  };
}

function hitOf(hit: CommandHit | undefined): RuleHit | null {
  return hit ? { id: hit.id, reason: hit.reason } : null;
}

function deniedBy(
  globs: readonly string[],
  command: string,
  shell: NormalisedShell,
): RuleHit | null {
  const texts = [
    collapse(command),
    ...shell.scripts,
    ...shell.pipelines,
    ...shell.commands.flatMap((entry) => [entry.text, entry.resolved, entry.words.join(" ")]),
  ];
  const glob = globs.find((entry) => texts.some((text) => commandGlob(entry).test(text)));
  return glob === undefined
    ? null
    : { id: `approvals.deny/${glob}`, reason: "approvals.deny forbids it" };
}

/**
 * An entry covers a command when it is that command, or when each part that a rule stopped at matches an entry. An entry
 * without `>` never covers a redirection into a file.
 */
function isAllowListed(
  entries: readonly string[],
  command: string,
  hits: readonly CommandHit[],
  shell: NormalisedShell,
): boolean {
  const whole = collapse(command);
  if (entries.some((entry) => isPlain(entry) && unescapeGlob(entry) === whole)) return true;
  const redirecting = new Set(
    shell.commands.filter((entry) => writesFile(entry)).map((entry) => entry.text),
  );
  return hits.every((hit) =>
    entries.some(
      (entry) =>
        commandGlob(entry).test(hit.subject) &&
        (entry.includes(">") || !redirecting.has(hit.subject)),
    ),
  );
}

function writesFile(command: SimpleCommand): boolean {
  return command.redirects.some(
    (redirect) => redirect.op.includes(">") && redirect.path !== "/dev/null",
  );
}

/** What "always" adds to `command_allowlist`: the exact command; its own `*` and `?` are no patterns. */
export function allowKeyOf(command: string): string {
  return collapse(command).replace(/[\\*?]/g, "\\$&");
}

function collapse(text: string): string {
  return text.replace(/[ \t]+/g, " ").trim();
}

function isPlain(entry: string): boolean {
  return !/(?<!\\)(?:\\\\)*[*?]/.test(entry);
}

function unescapeGlob(entry: string): string {
  return entry.replace(/\\([\\*?])/g, "$1");
}

/** `*` is any text, `?` one character, a backslash takes the meaning away. */
export function commandGlob(glob: string): RegExp {
  const source = glob
    .trim()
    .replace(/\\([\\*?])|([*?])|([.+^${}()|[\]\\])/g, (_all, escaped, wild, special) => {
      if (escaped !== undefined) return `\\${escaped}`;
      if (wild !== undefined) return wild === "*" ? "[\\s\\S]*" : "[\\s\\S]";
      return `\\${special}`;
    });
  return new RegExp(`^${source}$`);
}

const MAX_WORDS = 400;

/** Commands that name a path of policy/protected-paths.json. */
function namedProtected(shell: NormalisedShell, guard: PathGuard): readonly CommandHit[] {
  const hits: CommandHit[] = [];
  let budget = MAX_WORDS;
  for (const command of shell.commands) {
    for (const named of pathsIn(command)) {
      if (budget-- <= 0) return hits;
      const entry = protectionOf(named, command, guard);
      if (!entry) continue;
      hits.push({
        id: `protected-path/${entry.id}`,
        reason: `names ${named.path}: ${entry.reason}`,
        subject: command.text,
      });
    }
  }
  return hits;
}

interface NamedPath {
  readonly path: string;
  readonly glob: boolean;
  readonly written: boolean;
}

function* pathsIn(command: SimpleCommand): Iterable<NamedPath> {
  for (const redirect of command.redirects) {
    yield { path: redirect.path, glob: false, written: redirect.op.includes(">") };
  }
  for (const word of command.words) {
    for (const piece of piecesOf(word)) {
      yield {
        path: resolvePath(command.cwd, piece),
        glob: command.globs.has(word),
        written: false,
      };
    }
  }
}

/** `--file=x`, `-d @x`, `-fx`, `if=x`, `host:x`: every piece that could be a path. */
function piecesOf(word: string): ReadonlySet<string> {
  if (word.length > 4096 || word.includes("\0")) return new Set();
  const pieces = new Set([word.replace(/^@/, "")]);
  for (const piece of word.split(/[=:,@\s'"()[\]]+/)) if (piece !== "") pieces.add(piece);
  if (/^-[A-Za-z]./.test(word)) pieces.add(word.slice(2));
  pieces.delete("");
  return pieces;
}

function protectionOf(
  named: NamedPath,
  command: SimpleCommand,
  guard: PathGuard,
): ProtectedPath | null {
  const entry = guard.protectionOf(named.path) ?? (named.glob ? sampleOf(named.path, guard) : null);
  if (!entry || entry.deny === "read+write" || named.written) return entry;
  return READERS.has(command.words[0] ?? "") ? null : entry;
}

/** A pattern such as `.e*` stands for a protected name that it matches. */
function sampleOf(pattern: string, guard: PathGuard): ProtectedPath | null {
  const matches = picomatch(pattern);
  const folder = dirname(pattern);
  const sample = guard.samples.find(
    ({ path }) => matches(path) || matches(`${folder}/${basename(path)}`.replace(/^\/\//, "/")),
  );
  if (!sample) return null;
  const here = guard.protectionOf(`${folder}/${basename(sample.path)}`);
  return matches(sample.path) ? sample.entry : here;
}
