// What every command is given.
import type { ExitCode } from "#base/exit-codes.ts";
import type { CommandLine, OptionValues } from "./command-line.ts";
import type { Io } from "./io.ts";

/** What the launcher found out (bin/hermes.mjs). */
export interface Launch {
  /** The words without `-p NAME`. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The directory that holds bin/ and dist/. */
  readonly project: string;
  /** Absolute. Need not exist. */
  readonly home: string;
  /** `-p` was given, or HERMES_HOME names a profile: not merely the active one. */
  readonly isProfileGiven: boolean;
  /** Node's warnings so far. They are never printed; the log takes them. */
  readonly warnings: Error[];
}

export interface Context {
  readonly launch: Launch;
  readonly line: CommandLine;
  readonly io: Io;
}

/** A command's module. It returns the exit code, or throws HermesError. */
export interface CommandModule {
  run(context: Context): Promise<ExitCode>;
}

/** Typed reading of parsed options. A repeated option keeps its last value unless its spec says `repeats`. */
export function textOption(options: OptionValues, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

export function flagOption(options: OptionValues, name: string): boolean {
  return options[name] === true;
}

/** Every value of an option that repeats. */
export function listOption(options: OptionValues, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value : [];
}

export function numberOption(options: OptionValues, name: string): number | undefined {
  const value = options[name];
  return typeof value === "number" ? value : undefined;
}
