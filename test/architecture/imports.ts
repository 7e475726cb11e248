// Reads the import specifiers of the sources.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export interface Import {
  /** File, relative to the folder that was read. */
  readonly file: string;
  readonly specifier: string;
  readonly typeOnly: boolean;
}

const IMPORT =
  /(?:^|[\n;])\s*(?:import|export)\s+(?<type>type\s)?(?:[^'"();]*?\sfrom\s*)?["'](?<from>[^"']+)["']|\bimport\(\s*["'](?<dynamic>[^"']+)["']\s*\)/gu;

export function sourceFiles(root: string, folder = root): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : sourceFiles(root, path);
    return /\.(?:ts|tsx|mjs)$/u.test(entry.name) ? [relative(root, path)] : [];
  });
}

export function importsOf(root: string, file: string, text?: string): Import[] {
  const source = stripComments(text ?? readFileSync(join(root, file), "utf8"));
  return [...source.matchAll(IMPORT)].map((match) => ({
    file,
    specifier: match.groups?.["from"] ?? match.groups?.["dynamic"] ?? "",
    typeOnly: match.groups?.["type"] !== undefined,
  }));
}

/** Comments may quote imports; the text of strings stays, specifiers are strings. */
export function stripComments(source: string): string {
  return source
    .replaceAll(/\/\*[\s\S]*?\*\//gu, "")
    .replaceAll(/(?<before>^|[\s;{}(])\/\/[^\n]*/gu, "$<before>");
}

/** Where a specifier leads: `agent/ports/tool.ts` for ours, the name for a package. */
export function targetOf(file: string, specifier: string): string {
  if (specifier.startsWith("#")) return specifier.slice(1);
  if (specifier.startsWith(".")) return join(dirname(file), specifier);
  return specifier;
}
