// `config check`: everything about the file that the reader keeps quiet about, with lines (agent.md §1.5, §2.2).
import { nearestWords } from "#base/text.ts";
import { parseConfigText, type ConfigDocument, type Place } from "./document.ts";
import { openEffectiveEnv, type ProcessEnv } from "./effective-env.ts";
import { evaluateText } from "./evaluation.ts";
import { configPathOf, envPathOf, readText } from "./files.ts";
import { profileOf } from "./homes.ts";
import { joinKey } from "./keys.ts";
import { isUnreadKey, modernise, type Modern } from "./old-spellings.ts";
import { isMapping } from "./plain.ts";
import { leavesOf, treeRoot, type TreeNode } from "./shape.ts";

interface At {
  readonly line: number | null;
  readonly column: number | null;
}

export interface ConfigCheck {
  readonly path: string;
  readonly state: "ok" | "missing" | "unreadable" | "broken";
  /** Why it is unreadable or broken, with the place. */
  readonly error: (At & { readonly message: string }) | null;
  /** Kept, but no setting of ours; `nearest` are known keys that look alike. */
  readonly unknown: readonly (At & { readonly key: string; readonly nearest: readonly string[] })[];
  readonly invalid: readonly (At & {
    readonly key: string;
    readonly level: "error" | "warning";
    readonly message: string;
  })[];
  /** Old spellings and keys that nothing reads; `means` is today's key, or null. */
  readonly legacy: readonly (At & {
    readonly key: string;
    readonly means: string | null;
    readonly note: string;
  })[];
}

/** Never throws on a bad file, never writes. */
export function checkConfig(input: {
  readonly home: string;
  readonly processEnv: ProcessEnv;
}): ConfigCheck {
  const path = configPathOf(input.home);
  const none = { path, unknown: [], invalid: [], legacy: [] };
  const file = readText(path);
  switch (file.state) {
    case "missing":
      return { ...none, state: "missing", error: null };
    case "unreadable":
      return {
        ...none,
        state: "unreadable",
        error: { ...at(null), message: file.problem.message },
      };
    case "binary":
      return { ...none, state: "broken", error: { ...at(null), message: "Not UTF-8 text" } };
    case "text": {
      const parsed = parseConfigText(file.text);
      if (parsed.ok) return { ...checkDocument(input, parsed.document), path };
      return { ...none, state: "broken", error: { ...at(parsed.place), message: parsed.message } };
    }
  }
}

function checkDocument(
  input: { readonly home: string; readonly processEnv: ProcessEnv },
  document: ConfigDocument,
): Omit<ConfigCheck, "path"> {
  const modern = modernise(document.raw);
  const envFile = readText(envPathOf(input.home));
  const { env } = openEffectiveEnv({
    processEnv: input.processEnv,
    envText: envFile.state === "text" ? envFile.text : null,
    envPath: envPathOf(input.home),
    profile: profileOf(input.home),
  });
  const { findings } = evaluateText(document, (name) => env.get(name));
  return {
    state: "ok",
    error: null,
    unknown: unknownKeys(modern, document),
    invalid: findings.map(({ setting, level, message, place }) => ({
      key: setting,
      level,
      message,
      ...at(place),
    })),
    legacy: modern.legacy.map(({ path, means, note }) => ({
      key: joinKey(path),
      means,
      note,
      ...at(document.placeOf(path)),
    })),
  };
}

function at(place: Place | null): At {
  return { line: place?.line ?? null, column: place?.column ?? null };
}

function unknownKeys(modern: Modern, document: ConfigDocument): ConfigCheck["unknown"] {
  return [...unknownPaths(treeRoot(), modern.raw, [])].map((path) => {
    const origin = modern.originOf(path);
    const key = joinKey(origin);
    return { key, nearest: nearestKeys(key), ...at(document.placeOf(origin)) };
  });
}

function* unknownPaths(
  node: TreeNode,
  value: unknown,
  path: readonly string[],
): Generator<readonly string[]> {
  if (node.kind === "leaf" || !isMapping(value)) return;
  for (const [key, item] of Object.entries(value)) {
    const child = node.kind === "map" ? node.value : node.children.get(key);
    const here = [...path, key];
    if (child !== undefined) yield* unknownPaths(child, item, here);
    else if (!isUnreadKey(here)) yield here;
  }
}

/** Known keys that look like this one: whole keys, sections, and leaves whose last word is alike. */
export function nearestKeys(key: string): string[] {
  const known = new Set<string>();
  for (const { path } of leavesOf()) {
    for (let depth = 1; depth <= path.length; depth++) known.add(path.slice(0, depth).join("."));
  }
  const whole = nearestWords(key, known);
  const last = key.split(".").at(-1) ?? "";
  const byLast = [...known].filter((name) => name.includes(".") && name.endsWith(`.${last}`));
  return [...new Set([...whole, ...byLast])].slice(0, 3);
}
