// Is there a program of that name on PATH? Shell builtins and keywords do not count (container.md §4).
import { accessSync, constants, statSync } from "node:fs";
import { join } from "node:path";

export function isProgram(word: string, path: string | undefined): boolean {
  if (word === "" || word.includes("\0")) return false;
  return (path ?? "")
    .split(":")
    .some((folder) => folder !== "" && isExecutable(join(folder, word)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
