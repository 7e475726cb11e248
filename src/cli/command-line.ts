// From words to one command with its options: where the command word stands, then one flat parse by commander.
import type { Option as CommanderOption } from "commander";
import { EXIT } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import { nearestWords } from "#base/text.ts";
import {
  COMMANDS,
  commandWords,
  findCommand,
  GLOBAL_OPTIONS,
  spellings,
  type CommandSpec,
  type OptionSpec,
} from "./registry.ts";

type OptionValue = string | number | boolean | readonly string[] | undefined;
export type OptionValues = Readonly<Record<string, OptionValue>>;

export interface CommandLine {
  /** `["sessions", "list"]`; `["chat"]` when no command was named. */
  readonly path: readonly string[];
  readonly spec: CommandSpec;
  readonly operands: readonly string[];
  /** Global ones and the command's own, by commander's camel-case names. Nothing has a default here. */
  readonly options: OptionValues;
}

export function usageError(message: string, fix?: string): HermesError {
  return new HermesError("USAGE", message, {
    exit: EXIT.usage,
    ...(fix === undefined ? {} : { fix }),
  });
}

/** Throws HermesError `USAGE` (64) that names the nearest known words. Reads nothing but its argument. */
export async function parseCommandLine(words: readonly string[]): Promise<CommandLine> {
  const { path, spec, rest } = locateCommand(words);
  const { Command, Option, CommanderError } = await import("commander");
  const command = new Command(path.join(" "));
  command.exitOverride().helpOption(false).allowExcessArguments(true);
  command.configureOutput({ writeErr: () => undefined, writeOut: () => undefined });
  for (const option of [...GLOBAL_OPTIONS, ...(spec.options ?? [])]) {
    command.addOption(toCommander(option, Option));
  }
  try {
    const operands = command.argument("[words...]").parse([...rest], { from: "user" }).args;
    checkOperands(path, spec, operands);
    return { path, spec, operands, options: command.opts() };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    throw usageError(error.message.replace(/^error: /, ""), `Read: hermes help ${path.join(" ")}`);
  }
}

function toCommander(spec: OptionSpec, Option: typeof CommanderOption): CommanderOption {
  // commander wants <NAME>; the registry writes NAME, as manuals do.
  const flags = spec.flags.replace(/ ([A-Z:]+)$/, " <$1>");
  const option = new Option(flags, spec.help);
  if (spec.choices) option.choices([...spec.choices]);
  const { min } = spec;
  if (min !== undefined) {
    option.argParser((text: string) => parseCount(text, min, spec.flags));
  }
  if (spec.repeats) {
    option.argParser((text: string, before: readonly string[] | undefined) => [
      ...(before ?? []),
      text,
    ]);
  }
  // `--no-x` is told apart from "not given", so that no default overrides a global.
  if (option.negate) option.default(undefined);
  return option;
}

function parseCount(text: string, min: number, flags: string): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min) return value;
  throw usageError(`${flags}: "${text}" is not a whole number of at least ${min}.`);
}

interface Located {
  readonly path: readonly string[];
  readonly spec: CommandSpec;
  /** All words but the command's own. */
  readonly rest: readonly string[];
}

function locateCommand(words: readonly string[]): Located {
  const chat = COMMANDS[0] as CommandSpec;
  const at = nextWord(words, 0, [...GLOBAL_OPTIONS, ...(chat.options ?? [])]);
  const word = words[at];
  if (word === undefined) return { path: [chat.name], spec: chat, rest: words };
  const spec = findCommand(word);
  if (!spec) throw unknownWord("command", word, commandWords());
  const rest = words.toSpliced(at, 1);
  return spec.subcommands ? locateSubcommand(spec, rest, at) : { path: [spec.name], spec, rest };
}

function locateSubcommand(parent: CommandSpec, words: readonly string[], from: number): Located {
  const subcommands = parent.subcommands ?? [];
  const at = nextWord(words, from, [...GLOBAL_OPTIONS, ...(parent.options ?? [])]);
  const word = words[at];
  if (word === undefined) {
    if (parent.bare) return { path: [parent.name], spec: parent, rest: words };
    throw usageError(`hermes ${parent.name} needs a sub-command: ${listOf(subcommands)}.`);
  }
  const spec = findCommand(word, subcommands);
  const names = subcommands.map((entry) => entry.name);
  if (!spec) throw unknownWord(`sub-command of ${parent.name}`, word, names);
  return { path: [parent.name, spec.name], spec, rest: words.toSpliced(at, 1) };
}

/** Index of the first word from `from` on that is neither an option nor the value of one. */
function nextWord(words: readonly string[], from: number, options: readonly OptionSpec[]): number {
  const kinds = new Map(
    options.flatMap((option) => {
      const { names, value } = spellings(option);
      return names.map((name) => [name, value] as const);
    }),
  );
  for (let index = from; index < words.length; index++) {
    const word = words[index] ?? "";
    if (word === "--") return words.length;
    if (!word.startsWith("-") || word === "-") return index;
    if (kinds.get(word) === "required") index += 1;
    else if (kinds.get(word) === "optional" && takesNext(words[index + 1])) index += 1;
  }
  return words.length;
}

/** `-c chat` continues and runs `chat`; `-c "my title"` names what to continue. */
function takesNext(word: string | undefined): boolean {
  return word !== undefined && !word.startsWith("-") && !findCommand(word);
}

function unknownWord(what: string, word: string, known: readonly string[]): HermesError {
  const nearest = nearestWords(word, known);
  const hint = nearest.length > 0 ? ` Did you mean ${nearest.join(", ")}?` : "";
  return usageError(`Unknown ${what}: ${word}.${hint}`, "Read: hermes help");
}

function checkOperands(
  path: readonly string[],
  spec: CommandSpec,
  operands: readonly string[],
): void {
  const wanted = spec.operands ?? [];
  const missing = wanted.find(
    (name, index) => !name.startsWith("[") && operands[index] === undefined,
  );
  const name = `hermes ${path.join(" ")}`;
  if (missing !== undefined) {
    throw usageError(
      `${name} needs ${missing.replace("...", "")}.`,
      `Read: hermes help ${path.join(" ")}`,
    );
  }
  const repeats = wanted.at(-1)?.includes("...") ?? false;
  if (!repeats && operands.length > wanted.length) {
    throw usageError(
      `${name} does not take "${operands[wanted.length]}".`,
      `Read: hermes help ${path.join(" ")}`,
    );
  }
}

function listOf(commands: readonly CommandSpec[]): string {
  return commands.map((entry) => entry.name).join(", ");
}
