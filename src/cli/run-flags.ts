// The global options as flags of the configuration and of the session service (agent.md §1.2).
import type { ConfigFlags } from "#config/flags.ts";
import type { RunOverrides } from "#session/deps.ts";
import type { OptionValues } from "./command-line.ts";
import { flagOption, numberOption, textOption } from "./context.ts";

/** Drops what was not given: an absent key and an undefined one are not the same to whoever merges them. */
function given<T extends object>(values: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}

function onlyTrue(value: boolean): true | undefined {
  return value ? true : undefined;
}

export function configFlags(options: OptionValues): ConfigFlags {
  return given<ConfigFlags>({
    model: textOption(options, "model"),
    provider: textOption(options, "provider"),
    reasoning: textOption(options, "reasoning"),
    maxTurns: numberOption(options, "maxTurns"),
    runBudget: numberOption(options, "runBudget"),
    yolo: onlyTrue(flagOption(options, "yolo")),
    toolsets: toolsets(options),
    safeMode: onlyTrue(flagOption(options, "safeMode")),
    interface: wantedInterface(options),
  });
}

export function runOverrides(options: OptionValues): RunOverrides {
  return given<RunOverrides>({
    model: textOption(options, "model"),
    provider: textOption(options, "provider"),
    effort: textOption(options, "reasoning") as RunOverrides["effort"],
    maxTurns: numberOption(options, "maxTurns"),
    toolsets: toolsets(options),
    yolo: onlyTrue(flagOption(options, "yolo")),
    safeMode: onlyTrue(flagOption(options, "safeMode")),
  });
}

function toolsets(options: OptionValues): readonly string[] | undefined {
  const names = textOption(options, "toolsets")?.split(",");
  return names?.map((name) => name.trim()).filter((name) => name !== "");
}

/** `--cli` wins over `--tui`. */
export function wantedInterface(options: OptionValues): "cli" | "tui" | undefined {
  if (flagOption(options, "cli")) return "cli";
  return flagOption(options, "tui") ? "tui" : undefined;
}
