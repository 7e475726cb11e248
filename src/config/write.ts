// Changing `config.yaml`: one key, several, or the whole text (agent.md §2.4). It is never replaced while it is broken.
import { join } from "node:path";
import { HermesError, type Problem } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { parseConfigText, parseYamlValue, type ConfigDocument, type Place } from "./document.ts";
import { openEffectiveEnv, type ProcessEnv } from "./effective-env.ts";
import type { Finding } from "./evaluate.ts";
import { evaluateText, toProblem } from "./evaluation.ts";
import { configPathOf, envPathOf, readText } from "./files.ts";
import { changeText, underConfigLock, type WriteTarget } from "./home-writer.ts";
import { profileOf } from "./homes.ts";
import { resolveKey } from "./keys.ts";
import { placesToWrite, type PathChange } from "./old-spellings-write.ts";
import { error } from "./problems.ts";
import { NEW_CONFIG_TEXT } from "./seed.ts";
import { editConfigText } from "./yaml-edit.ts";

export interface ConfigTarget extends WriteTarget {
  /** For references: a value may stand as `${NAME}`. */
  readonly processEnv: ProcessEnv;
}

export { NEW_CONFIG_TEXT };

export interface WriteOptions {
  /** Text that the caller changed from (null: no file); another one on disk throws `CONFIG_CHANGED`. */
  readonly expected?: string | null;
}

/**
 * `key` is dotted; `yaml` is YAML, so `true`, `5` and `[a, b]` are what they look like; `asText` takes it as it is.
 * Resolves to whether the file changed. Throws `VALUE_INVALID` (64) for YAML that is none or a value that the key does
 * not take, `CONFIG_BROKEN` (78), `CONFIG_LOCKED`, `CONFIG_CHANGED`.
 */
export async function setConfigValue(
  target: ConfigTarget,
  key: string,
  yaml: string,
  asText = false,
): Promise<boolean> {
  const value = asText ? yaml : parseValue(key, yaml);
  return changeConfig(target, {}, (document) =>
    applyChanges(document, [{ path: resolveKey(document.raw, key), value }]),
  );
}

/** Resolves to false when the key is not in the file. */
export function unsetConfigValue(target: ConfigTarget, key: string): Promise<boolean> {
  return changeConfig(target, {}, (document) =>
    applyChanges(document, [{ path: resolveKey(document.raw, key), value: undefined }]),
  );
}

/** All changes or none; an undefined value removes the key. */
export function applyConfigChanges(
  target: ConfigTarget,
  changes: readonly PathChange[],
  options: WriteOptions = {},
): Promise<boolean> {
  return changeConfig(target, options, (document) => applyChanges(document, changes));
}

/** The whole text. Bad YAML, no mapping or a wrong value throws `VALUE_INVALID` with `data.line`. */
export function replaceConfigText(
  target: ConfigTarget,
  text: string,
  options: WriteOptions = {},
): Promise<boolean> {
  return changeConfig(target, options, () => text);
}

function changeConfig(
  target: ConfigTarget,
  options: WriteOptions,
  change: (document: ConfigDocument) => string,
): Promise<boolean> {
  const path = configPathOf(target.home);
  return underConfigLock(target, () =>
    changeText({
      path,
      mode: 0o640,
      backupDir: join(target.home, "backups"),
      change(before) {
        if (options.expected !== undefined && options.expected !== before)
          throw changedOnDisk(path);
        const document = parseOnDisk(path, before ?? NEW_CONFIG_TEXT);
        const after = change(document);
        if (after === document.text) return null;
        validate(target, document, after);
        return after;
      },
    }),
  );
}

function applyChanges(document: ConfigDocument, changes: readonly PathChange[]): string {
  let current = document;
  for (const change of changes) {
    for (const edit of placesToWrite(current.raw, change)) {
      current = parseOnDisk(edit.path.join("."), editConfigText(current.text, edit));
    }
  }
  return current.text;
}

function parseOnDisk(path: string, text: string): ConfigDocument {
  const parsed = parseConfigText(text);
  if (parsed.ok) return parsed.document;
  const where =
    parsed.place === null ? "" : ` at line ${parsed.place.line}, column ${parsed.place.column}`;
  throw new HermesError("CONFIG_BROKEN", `${path} is broken${where}: ${parsed.message}`, {
    exit: EXIT.refused,
    setting: path,
    fix: "Correct the file by hand first; nothing was written.",
    data: dataOf(parsed.place),
  });
}

/** The new text as a whole. What was wrong before may stay: otherwise two mistakes could never be put right. */
function validate(target: ConfigTarget, before: ConfigDocument, after: string): void {
  const parsed = parseConfigText(after);
  if (!parsed.ok) throw invalid([error("CONFIG_BROKEN", null, parsed.message)], parsed.place);
  const get = envReader(target);
  const old = new Set(evaluateText(before, get).findings.map((finding) => finding.message));
  const found = evaluateText(parsed.document, get).findings.filter(
    (finding) => !old.has(finding.message),
  );
  if (found.length > 0) throw invalid(found.map(asError), found[0]?.place ?? null);
}

/** Of the sentence about a default nothing is left: the value is not written at all. */
function asError(finding: Finding): Problem {
  const message = finding.message.replace(/; its default is used$/, "");
  return toProblem({ ...finding, message, level: "error", place: null }, "");
}

function envReader(target: ConfigTarget): (name: string) => string | undefined {
  const envPath = envPathOf(target.home);
  const file = readText(envPath);
  const { env } = openEffectiveEnv({
    processEnv: target.processEnv,
    envText: file.state === "text" ? file.text : null,
    envPath,
    profile: profileOf(target.home),
  });
  return (name) => env.get(name);
}

function parseValue(key: string, yaml: string): unknown {
  const parsed = parseYamlValue(yaml);
  if (parsed.ok) return parsed.value ?? "";
  const message = `${key}: the value is not YAML: ${parsed.message}`;
  throw invalid(
    [error("VALUE_INVALID", key, message, { fix: "Quote it, or use --string." })],
    null,
  );
}

function invalid(problems: readonly Problem[], place: Place | null): HermesError {
  const [first] = problems;
  return new HermesError("VALUE_INVALID", problems.map((problem) => problem.message).join("\n"), {
    exit: EXIT.usage,
    ...(first?.setting ? { setting: first.setting } : {}),
    ...(first?.fix ? { fix: first.fix } : {}),
    problems,
    data: dataOf(place),
  });
}

function dataOf(place: Place | null): { line: number | null; column: number | null } {
  return { line: place?.line ?? null, column: place?.column ?? null };
}

function changedOnDisk(path: string): HermesError {
  return new HermesError("CONFIG_CHANGED", `${path} was changed by somebody else in the meantime`, {
    setting: path,
    fix: "Load it again and repeat the change.",
  });
}
