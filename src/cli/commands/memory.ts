// `hermes memory` (agent.md §9.3).
import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { memoryPath, type MemoryTarget } from "#tools/memory-files.ts";
import { confirm } from "../confirm.ts";
import { usageError } from "../command-line.ts";
import { openConfigSource } from "../config-source.ts";
import type { Context } from "../context.ts";
import { MEMORY_TARGETS, memoryText, readMemory } from "../memory-text.ts";

export async function run(context: Context): Promise<ExitCode> {
  return context.line.path[1] === "show" ? show(context) : clear(context);
}

function show({ launch, io }: Context): ExitCode {
  const loaded = openConfigSource(launch).loaded();
  if (io.json) {
    const files = MEMORY_TARGETS.map((target) => {
      const { entries, used, limit } = readMemory(loaded, target);
      return [target, { entries, used, limit }] as const;
    });
    io.object(Object.fromEntries(files));
  } else io.line(memoryText(loaded));
  return EXIT.ok;
}

async function clear(context: Context): Promise<ExitCode> {
  const { launch, line, io } = context;
  const targets = targetsOf(line.operands[0]);
  const paths = targets
    .map((target) => memoryPath(launch.home, target))
    .filter((path) => existsSync(path));
  await confirm(
    context,
    `Empty ${paths.map((path) => basename(path)).join(" and ") || "nothing"}?`,
    "hermes memory clear -y",
  );
  const folder = join(launch.home, "backups");
  for (const path of paths) {
    mkdirSync(folder, { recursive: true, mode: 0o750 });
    copyFileSync(path, join(folder, `${basename(path)}.before-clear`));
    writeFileAtomic(path, "", { mode: 0o600 });
  }
  if (io.json) io.object({ cleared: paths });
  else
    io.line(
      paths.length === 0 ? "There was nothing to clear." : `Emptied; copies lie in ${folder}.`,
    );
  return EXIT.ok;
}

function targetsOf(word: string | undefined): readonly MemoryTarget[] {
  if (word === undefined) return MEMORY_TARGETS;
  const target = MEMORY_TARGETS.find((name) => name === word);
  if (target) return [target];
  throw usageError(`hermes memory clear takes memory or user, not "${word}".`);
}
