// Help texts and the reference page, made from the registry. The build writes them into a table that the launcher prints.
import { Command, Option } from "commander";
import {
  COMMANDS,
  GLOBAL_OPTIONS,
  spellings,
  type CommandSpec,
  type OptionSpec,
} from "./registry.ts";

/** What the launcher needs to answer `--help`. Keys are a command's words (`sessions list`); "" is the whole program. */
export interface HelpTable {
  readonly texts: Readonly<Record<string, string>>;
  /** Spellings of the options that take a value, so that one that reads `--help` is not taken for a question. */
  readonly values: Readonly<Record<string, readonly string[]>>;
}

export function helpTable(): HelpTable {
  const texts: Record<string, string> = { "": programHelp() };
  const values: Record<string, readonly string[]> = {};
  const add = (path: readonly string[], spec: CommandSpec): void => {
    texts[path.join(" ")] = commandHelp(path, spec);
    values[path.join(" ")] = valueOptions(spec.options ?? []);
    for (const child of spec.subcommands ?? []) add([...path, child.name], child);
  };
  for (const command of COMMANDS) {
    for (const word of [command.name, ...(command.aliases ?? [])]) add([word], command);
  }
  return { texts, values };
}

function valueOptions(options: readonly OptionSpec[]): string[] {
  return options
    .map(spellings)
    .filter((entry) => entry.value === "required")
    .flatMap((entry) => entry.names);
}

function programHelp(): string {
  const program = base("hermes", "A self-hosted AI agent.", GLOBAL_OPTIONS);
  program.usage("[options] [command]");
  program.option("-V, --version", "print the version");
  program.option("-h, --help", "print this, or explain a command");
  for (const command of COMMANDS.filter(({ internal }) => internal !== true)) {
    program.addCommand(base(synopsis(command), command.summary, []));
  }
  return `${program.helpInformation()}\nWithout a command hermes starts a conversation. More: hermes help COMMAND\n`;
}

function commandHelp(path: readonly string[], spec: CommandSpec): string {
  const command = base(`hermes ${path.join(" ")}`, `${spec.summary}.`, spec.options ?? []);
  command.usage(usageOf(spec));
  for (const child of spec.subcommands ?? []) {
    command.addCommand(base(synopsis(child), child.summary, []));
  }
  const notes = spec.notes === undefined ? "" : `\n${spec.notes}\n`;
  return `${command.helpInformation()}${notes}\nGlobal options: hermes help\n`;
}

function usageOf(spec: CommandSpec): string {
  const words = [
    ...(spec.options ? ["[options]"] : []),
    ...(spec.subcommands ? [spec.bare ? "[command]" : "command"] : []),
    ...(spec.operands ?? []),
  ];
  return words.join(" ");
}

function synopsis(spec: CommandSpec): string {
  return [[spec.name, ...(spec.aliases ?? [])].join("|"), ...(spec.operands ?? [])].join(" ");
}

function base(name: string, summary: string, options: readonly OptionSpec[]): Command {
  const command = new Command().name(name).description(summary).usage("").helpOption(false);
  command.helpCommand(false).configureHelp({ helpWidth: 96 });
  for (const option of options) command.addOption(new Option(option.flags, describe(option)));
  return command;
}

function describe(option: OptionSpec): string {
  return option.choices ? `${option.help}: ${option.choices.join(", ")}` : option.help;
}
