// Paths in a command line, made comparable.
import { posix } from "node:path";

/** `path` seen from `cwd`, without `.`, `..`, double and trailing slashes. */
export function resolvePath(cwd: string, path: string): string {
  const whole = posix.resolve("/", cwd, path);
  return whole === "" ? "/" : whole;
}

export function tidyPath(word: string): string {
  const match = /^([\w-]*[=:@]?)(\/[^\s]*)$/.exec(word);
  if (!match || word.includes("://")) return word;
  return `${match[1] ?? ""}${resolvePath("/", match[2] ?? "")}`;
}

export function absolute(cwd: string, word: string): string {
  if (word === "" || word.startsWith("-") || /[\s=]|:\/\//.test(word)) return tidyPath(word);
  return resolvePath(cwd, word);
}
