// The effective environment: the process over `.env`, `_FILE` twins resolved, a profile's own names kept apart
// (agent.md §2.3, container.md §5).
import { readFileSync, statSync } from "node:fs";
import { errnoOf, type Problem } from "#base/errors.ts";
import { isRefusedName, isSecretName, VARIABLES, variableOf } from "./env.ts";
import { parseEnv, tokenizeEnv } from "./env-file.ts";
import type { EffectiveEnv, EnvSource } from "./loaded.ts";
import { describeAccess, error, ownUid, warning } from "./problems.ts";

export type ProcessEnv = Readonly<Record<string, string | undefined>>;

export interface EnvInput {
  readonly processEnv: ProcessEnv;
  /** Text of `.env`; null when there is no file. */
  readonly envText: string | null;
  readonly envPath: string;
  readonly profile: string;
  /** Names beyond the table whose values are secret: `providers.<id>.key_env`. */
  readonly secretNames?: readonly string[];
}

interface Value {
  readonly text: string;
  readonly source: EnvSource;
}

/** Values are read once, here: a twin's file is not read again. All problems come back, none is thrown. */
export function openEffectiveEnv(input: EnvInput): { env: EffectiveEnv; problems: Problem[] } {
  const problems: Problem[] = [];
  const layers = readLayers(input, problems);
  const twins = readTwins(input, layers, problems);
  const read = (name: string): Value | null => {
    const twin = twins.get(name);
    if (twin !== undefined) return { text: twin, source: "file" };
    return layers.read(name);
  };
  const secretNames = new Set([
    ...(input.secretNames ?? []),
    ...layers.names().filter(isSecretName),
  ]);
  for (const name of twins.keys()) secretNames.add(name);
  const secrets = new Map<string, string>();
  for (const name of [...secretNames].sort()) {
    const value = read(name);
    if (value !== null && value.text.length >= 8) secrets.set(name, value.text);
  }
  const env: EffectiveEnv = {
    get: (name) => read(name)?.text,
    source: (name) => read(name)?.source ?? null,
    secrets: () => secrets,
  };
  return { env, problems };
}

/** The same environment with further secrets to hide: those that stand in `config.yaml`. */
export function withSecrets(env: EffectiveEnv, more: ReadonlyMap<string, string>): EffectiveEnv {
  if (more.size === 0) return env;
  const all = new Map([...more, ...env.secrets()]);
  return { get: (name) => env.get(name), source: (name) => env.source(name), secrets: () => all };
}

interface Layers {
  read(name: string): Value | null;
  names(): string[];
}

function readLayers(input: EnvInput, problems: Problem[]): Layers {
  const file = readEnvText(input, problems);
  const ignored: string[] = [];
  const fromProcess = new Map<string, string>();
  for (const [name, text] of Object.entries(input.processEnv)) {
    if (text === undefined || text.trim() === "") continue;
    if (input.profile !== "default" && isPerProfile(name)) ignored.push(name);
    else fromProcess.set(name, text);
  }
  if (ignored.length > 0) problems.push(ignoredNotice(ignored.sort(), input));
  problems.push(...unusedNotices([...fromProcess.keys(), ...file.keys()]));
  return {
    names: () => [...new Set([...fromProcess.keys(), ...file.keys()])],
    read(name) {
      const text = fromProcess.get(name);
      if (text !== undefined) return { text, source: "env" };
      const own = file.get(name);
      return own === undefined ? null : { text: own, source: ".env" };
    },
  };
}

function readEnvText(input: EnvInput, problems: Problem[]): Map<string, string> {
  const text = input.envText ?? "";
  const bad = tokenizeEnv(text).filter((token) => token.kind === "bad");
  if (bad.length > 0) {
    const lines = bad.map((token) => token.line).join(", ");
    problems.push(
      warning("ENV_LINE_BAD", input.envPath, `${input.envPath}: not NAME=VALUE on line ${lines}`, {
        fix: "Correct or remove these lines; they are not read.",
      }),
    );
  }
  const values = parseEnv(text);
  for (const [name, value] of values) {
    if (value.trim() === "") values.delete(name);
    else if (isRefusedName(name)) {
      values.delete(name);
      problems.push(refusedNotice(name, input.envPath));
    }
  }
  return values;
}

function refusedNotice(name: string, envPath: string): Problem {
  const message = `${name} cannot be set in ${envPath}`;
  const fix = "Set it in the environment of the process, and remove the line.";
  // Ignoring a limit that somebody wrote down would loosen it.
  return name === "HERMES_WRITE_SAFE_ROOT"
    ? error("ENV_NAME_REFUSED", name, message, { fix })
    : warning("ENV_NAME_REFUSED", name, `${message} and is ignored there`, { fix });
}

function isPerProfile(name: string): boolean {
  const plain = variableOf(name) ?? variableOf(name.replace(/_FILE$/, ""));
  return plain?.perProfile === true;
}

function ignoredNotice(names: readonly string[], input: EnvInput): Problem {
  return warning(
    "PROFILE_ENV_IGNORED",
    null,
    `${names.join(", ")} of the process environment belong to the profile default and are ignored by ${input.profile}`,
    { fix: `Set them in ${input.envPath} for this profile.` },
  );
}

function unusedNotices(names: readonly string[]): Problem[] {
  const unused = [...new Set(names)].filter(
    (name) => name.startsWith("HERMES_DASHBOARD_") && !isKnown(name),
  );
  return unused
    .sort()
    .map((name) =>
      warning("ENV_NOT_USED", name, `${name} is not used`, { fix: "Check its name." }),
    );
}

function isKnown(name: string): boolean {
  return variableOf(name) !== null || variableOf(name.replace(/_FILE$/, ""))?.secret === true;
}

function readTwins(input: EnvInput, layers: Layers, problems: Problem[]): Map<string, string> {
  const twins = new Map<string, string>();
  const table = VARIABLES.filter((row) => row.secret).map((row) => row.name);
  for (const name of new Set([...table, ...(input.secretNames ?? [])])) {
    const path = layers.read(`${name}_FILE`);
    if (path === null) continue;
    if (layers.read(name) === null) readTwin(name, path.text.trim(), twins, problems);
    else problems.push(bothSet(name));
  }
  return twins;
}

function bothSet(name: string): Problem {
  return error("ENV_FILE_AND_VALUE", name, `${name} and ${name}_FILE are both set`, {
    fix: "Unset one of them.",
  });
}

function readTwin(
  name: string,
  path: string,
  twins: Map<string, string>,
  problems: Problem[],
): void {
  try {
    const text = readFileSync(path, "utf8").replace(/\r?\n$/, "");
    if (text.trim() !== "") twins.set(name, text);
    else
      problems.push(warning("SECRET_FILE_EMPTY", `${name}_FILE`, `${name}_FILE: ${path} is empty`));
  } catch (cause) {
    const why = `${errnoOf(cause) ?? "unreadable"}${describeAccess(path, statSync)}`;
    problems.push(
      error(
        "SECRET_FILE_UNREADABLE",
        `${name}_FILE`,
        `${name} cannot be read from ${name}_FILE=${path}: ${why}, read as uid ${ownUid()}`,
        { fix: "Make the file readable for this user, or set the variable itself." },
      ),
    );
  }
}
