// Flags + environment + files → one frozen Config. The only reader of configuration (agent.md §2.3).
import type { ProcessEnv } from "./effective-env.ts";
import { evaluateAll } from "./evaluation.ts";
import { envPathOf, readText } from "./files.ts";
import type { ConfigFlags } from "./flags.ts";
import { profileOf, rootOf } from "./homes.ts";
import type { LoadedConfig } from "./loaded.ts";
import { deepFreeze } from "./plain.ts";
import { error, refusal, sortProblems } from "./problems.ts";
import { readSettingsFile, rememberLastGood } from "./settings-file.ts";
import { CONFIG_VERSION } from "./seed.ts";
import type { Config } from "./tree.ts";

export interface LoadInput {
  readonly processEnv: ProcessEnv;
  readonly home: string;
  readonly flags?: ConfigFlags;
  /** False: the last good copy is not written (default true). */
  readonly remember?: boolean;
}

/**
 * Reads everything, collects all problems, and returns a frozen configuration; problems that are only warnings come
 * with it. Throws one HermesError `CONFIG_REFUSED` (exit 78, `problems` sorted) when the configuration cannot be
 * honoured, `FLAG_REFUSED` (exit 64) when nothing but a flag is wrong.
 */
export function loadConfig(input: LoadInput): LoadedConfig {
  const { home, processEnv, flags, remember = true } = input;
  const envPath = envPathOf(home);
  const profile = profileOf(home);
  const file = readSettingsFile(home);
  const envFile = readText(envPath);
  const evaluated = evaluateAll({
    document: file.document,
    path: file.path,
    processEnv,
    envText: envFile.state === "text" ? envFile.text : null,
    envPath,
    profile,
    ...(flags === undefined ? {} : { flags }),
  });
  const envProblems = envFile.state === "unreadable" ? [envFile.problem] : [];
  if (envFile.state === "binary") {
    const fix = "Save it as UTF-8.";
    envProblems.push(error("CONFIG_UNREADABLE", envPath, `${envPath} is not UTF-8 text`, { fix }));
  }
  const problems = sortProblems([...file.problems, ...envProblems, ...evaluated.problems]);
  if (problems.some((problem) => problem.level === "error")) throw refusal(problems);
  if (remember && file.state.state === "ok" && file.document !== null) {
    rememberLastGood(home, file.document.text);
  }
  const config = deepFreeze(evaluated.value) as unknown as Config;
  return Object.freeze({
    config,
    env: evaluated.env,
    home,
    root: rootOf(home),
    profile,
    path: file.path,
    envPath,
    file: file.state,
    // oxlint-disable-next-line no-underscore-dangle -- the key's name in YAML
    version: config._config_version,
    latestVersion: CONFIG_VERSION,
    problems,
  });
}
