// Holds policy/hard-block.json and policy/dangerous.json against a normalised command (agent.md §5.3).
import type { RuleHit } from "#agent/ports/tool.ts";
import type { NormalisedShell, SimpleCommand } from "./normalise.ts";
import type { CommandRule } from "./policy.ts";

/** What stands for `{HOME}`, `{ROOT}`, `{USERHOME}`, `{PID}`, `{HOST}` in patterns. */
export interface RuleNames {
  readonly HOME: string;
  readonly ROOT: string;
  readonly USERHOME: string;
  readonly PID: string;
  readonly HOST: string;
}

export interface CommandHit extends RuleHit {
  /** The command or pipeline that matched: what `command_allowlist` must name. */
  readonly subject: string;
}

export interface CommandMatcher {
  /** Every rule that matches, in the order of the file. */
  match(shell: NormalisedShell): readonly CommandHit[];
}

interface Compiled {
  readonly id: string;
  readonly reason: string;
  readonly scope: NonNullable<CommandRule["scope"]>;
  readonly pattern: RegExp;
}

export function compileRules(
  prefix: string,
  rules: readonly CommandRule[],
  names: RuleNames,
): CommandMatcher {
  const compiled = rules.map((rule) => ({
    id: `${prefix}/${rule.id}`,
    reason: rule.reason,
    scope: rule.scope ?? ("command" as const),
    pattern: new RegExp(fillNames(rule.pattern, names), rule.flags ?? ""),
  }));
  return { match: (shell) => compiled.flatMap((rule) => matchRule(rule, shell)) };
}

/** `{TOP}`: the root, the user's home, the data folder of the agent, or everything right inside one of them. */
function fillNames(pattern: string, names: RuleNames): string {
  const homes = [names.USERHOME, names.HOME, names.ROOT].map(escapePattern).join("|");
  return pattern
    .replaceAll("{TOP}", `(?:/(?:\\*\\*?|\\.\\*)?|(?:~|${homes})(?:/\\*\\*?|/\\.\\*)?)`)
    .replace(/\{([A-Z]+)\}/g, (all, name: string) => {
      const value = (names as unknown as Readonly<Record<string, string>>)[name];
      return value === undefined ? all : escapePattern(value);
    });
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}

function matchRule(rule: Compiled, shell: NormalisedShell): readonly CommandHit[] {
  return subjectsOf(rule.scope, shell)
    .filter((subject) => subject.texts.some((text) => rule.pattern.test(text)))
    .map((subject) => ({ id: rule.id, reason: rule.reason, subject: subject.name }));
}

interface Subject {
  readonly name: string;
  readonly texts: readonly string[];
}

function subjectsOf(scope: Compiled["scope"], shell: NormalisedShell): readonly Subject[] {
  switch (scope) {
    case "command":
      return shell.commands.map((command) => ({ name: command.text, texts: textsOf(command) }));
    case "pipeline":
      return shell.pipelines.map((pipeline) => ({ name: pipeline, texts: [pipeline] }));
    case "raw":
      return shell.scripts.map((script) => ({ name: script, texts: [script] }));
    case "fact":
      return factsOf(shell);
    default:
      return scope satisfies never;
  }
}

function textsOf(command: SimpleCommand): readonly string[] {
  const input = command.input.replace(/\s+/g, " ").trim();
  const texts = [command.text, command.resolved];
  return input === "" ? texts : [...texts, `${command.text} <<< ${input}`];
}

function factsOf(shell: NormalisedShell): readonly Subject[] {
  const unreadable = shell.commands
    .filter((command) => command.unreadable)
    .map((command) => ({ name: command.text, texts: ["unreadable"] }));
  const whole = { name: shell.scripts[0] ?? "", texts: ["incomplete"] };
  return shell.incomplete ? [...unreadable, whole] : unreadable;
}
