// The steps from two file texts to values, shared by the reader, the check and the writers' validation.
import type { Problem } from "#base/errors.ts";
import type { ConfigDocument } from "./document.ts";
import { openEffectiveEnv, withSecrets, type EnvInput } from "./effective-env.ts";
import { isSecretName } from "./env.ts";
import { evaluate, type Finding } from "./evaluate.ts";
import type { ConfigFlags } from "./flags.ts";
import { modernise, SECRET_NOTE, type LegacyKey } from "./old-spellings.ts";
import type { EffectiveEnv } from "./loaded.ts";
import { openOverrides } from "./overrides.ts";
import { getAt, isMapping, type Mapping } from "./plain.ts";
import { sortProblems, warning } from "./problems.ts";
import { openResolver } from "./references.ts";
import { crossFindings } from "./rules.ts";
import { isReadInSafeMode } from "./safe-mode.ts";
import { treeRoot, type TreeNode } from "./shape.ts";

export interface Evaluated {
  /** Every key of the tree, unknown ones of the file too. */
  readonly value: Mapping;
  readonly env: EffectiveEnv;
  readonly findings: readonly Finding[];
  readonly legacy: readonly LegacyKey[];
  /** Everything above and what the environment had to say, sorted. */
  readonly problems: readonly Problem[];
}

export interface EvaluationInput extends Omit<EnvInput, "secretNames"> {
  readonly document: ConfigDocument | null;
  readonly flags?: ConfigFlags;
  readonly path: string;
}

export function evaluateAll(input: EvaluationInput): Evaluated {
  const { document, flags = {} } = input;
  const modern = modernise(document?.raw ?? {});
  const { env, problems: envProblems } = openEffectiveEnv({
    ...input,
    secretNames: keyNames(modern.raw),
  });
  const resolver = openResolver((name) => env.get(name));
  const overrides = openOverrides(flags, env);
  const placeOf = (path: readonly string[]): ReturnType<ConfigDocument["placeOf"]> =>
    document?.placeOf(modern.originOf(path)) ?? null;
  const { value, findings } = evaluate({
    raw: modern.raw,
    resolver,
    overrides: overrides.byKey,
    placeOf,
    isRead: flags.safeMode === true ? isReadInSafeMode : () => true,
  });
  const all = [...findings, ...crossFindings(value, placeOf)];
  const problems = sortProblems([
    ...envProblems,
    ...overrides.problems,
    ...all.map((finding) => toProblem(finding, input.path)),
    ...unsetNotices(resolver.unset()),
    ...secretNotices(modern.legacy),
  ]);
  const hidden = withSecrets(env, secretValues(value));
  return { value, env: hidden, findings: all, legacy: modern.legacy, problems };
}

/** What is wrong with a text by itself: no flag and no variable beats it; references are looked up. */
export function evaluateText(
  document: ConfigDocument,
  get: (name: string) => string | undefined,
): Pick<Evaluated, "value" | "findings" | "legacy"> {
  const modern = modernise(document.raw);
  const placeOf = (path: readonly string[]): ReturnType<ConfigDocument["placeOf"]> =>
    document.placeOf(modern.originOf(path));
  const { value, findings } = evaluate({
    raw: modern.raw,
    resolver: openResolver(get),
    overrides: new Map(),
    placeOf,
    isRead: () => true,
  });
  return {
    value,
    legacy: modern.legacy,
    findings: [...findings, ...crossFindings(value, placeOf)],
  };
}

export function toProblem(finding: Finding, path: string): Problem {
  const { code, level, setting, message, fix, place } = finding;
  const where = place === null ? "" : ` (${path}, line ${place.line})`;
  return { code, level, setting, message: `${message}${where}`, fix };
}

function unsetNotices(names: readonly string[]): Problem[] {
  return names.map((name) =>
    warning("REFERENCE_UNSET", name, `\${${name}} stands in config.yaml, but ${name} is not set`, {
      fix: `Set ${name}, or remove the reference; it stays as it is written.`,
    }),
  );
}

function secretNotices(legacy: readonly LegacyKey[]): Problem[] {
  return legacy
    .filter((key) => key.note === SECRET_NOTE)
    .map(({ path }) =>
      warning("SECRET_IN_YAML", path.join("."), `${path.join(".")} holds a secret in config.yaml`, {
        fix: "Move it to .env.",
      }),
    );
}

/** Variables that `providers.<id>.key_env` names: their values are secrets too. */
function keyNames(raw: Mapping): string[] {
  const { providers } = raw;
  if (!isMapping(providers)) return [];
  return Object.values(providers)
    .map((provider) => getAt(provider, ["key_env"]))
    .filter((name): name is string => typeof name === "string" && name !== "");
}

/** Secrets that stand in the file itself, by key. Of an MCP server's environment only names that read like one. */
function secretValues(value: Mapping): Map<string, string> {
  const found = new Map<string, string>();
  for (const [path, secret] of secretsBelow(treeRoot(), value, [])) {
    const isPlainVariable = path.at(-2) === "env" && !isSecretName(path.at(-1) ?? "");
    if (secret.length >= 8 && !isPlainVariable) found.set(path.join("."), secret);
  }
  return found;
}

type SecretAt = readonly [path: readonly string[], secret: string];

function* secretsBelow(
  node: TreeNode,
  value: unknown,
  path: readonly string[],
): Generator<SecretAt> {
  if (node.kind === "leaf") {
    if (node.meta.secret && typeof value === "string") yield [path, value];
    return;
  }
  for (const [key, item] of Object.entries(isMapping(value) ? value : {})) {
    const child = node.kind === "map" ? node.value : node.children.get(key);
    if (child !== undefined) yield* secretsBelow(child, item, [...path, key]);
  }
}
