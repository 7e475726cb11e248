// MEMORY.md and USER.md for people.
import type { LoadedConfig } from "#config/loaded.ts";
import { readMemoryFile, type MemoryFile, type MemoryTarget } from "#tools/memory-files.ts";

export const MEMORY_TARGETS = ["memory", "user"] as const satisfies readonly MemoryTarget[];

export function readMemory(loaded: LoadedConfig, target: MemoryTarget): MemoryFile {
  const { memory_char_limit, user_char_limit } = loaded.config.memory;
  const limit = target === "memory" ? memory_char_limit : user_char_limit;
  return readMemoryFile(loaded.home, target, limit);
}

export function memoryText(loaded: LoadedConfig): string {
  return MEMORY_TARGETS.map((target) => section(readMemory(loaded, target), target)).join("\n\n");
}

function section(file: MemoryFile, target: MemoryTarget): string {
  const name = target === "memory" ? "MEMORY.md" : "USER.md";
  const head = `${name}: ${file.used} of ${file.limit} characters (${file.percent} %)`;
  if (file.unreadable !== null) return `${head}\n(cannot be read: ${file.unreadable})`;
  return `${head}\n${file.full === "" ? "(empty)" : file.full}`;
}
