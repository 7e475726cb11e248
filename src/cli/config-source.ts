// The configuration of one home for a process that lives on: read again when config.yaml or .env changed on disk.
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Redactor } from "#agent/ports/redactor.ts";
import type { ConfigFlags } from "#config/flags.ts";
import { loadConfig } from "#config/load.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import { createRedactor } from "#tools/redact.ts";
import type { Launch } from "./context.ts";

export interface ConfigSource {
  /** Throws CONFIG_REFUSED when what is on disk now cannot be honoured. */
  loaded(): LoadedConfig;
  /** Reads the files whether or not they look changed. */
  reload(): LoadedConfig;
  /** Knows the secrets of the newest configuration; keeps the older ones, which may still stand in output. */
  readonly redactor: Redactor;
}

/**
 * `keeps`: called with the error when files that changed cannot be honoured; what runs then goes on with what it has. For a
 * process that serves: an edit that is refused, or a home that was closed, must fail neither its requests nor its end.
 */
export function openConfigSource(
  launch: Pick<Launch, "env" | "home">,
  flags: ConfigFlags = {},
  keeps?: (error: unknown) => void,
): ConfigSource {
  const secrets = new Map<string, string>();
  let stamp = stampOf(launch.home);
  let current = read();
  let redactor = makeRedactor();

  function read(): LoadedConfig {
    return loadConfig({ processEnv: launch.env, home: launch.home, flags });
  }
  function makeRedactor(): Redactor {
    for (const [name, value] of current.env.secrets()) secrets.set(name, value);
    return createRedactor(secrets, current.config.security.redact_secrets);
  }
  function reload(): LoadedConfig {
    stamp = stampOf(launch.home);
    current = read();
    redactor = makeRedactor();
    return current;
  }
  function latest(): LoadedConfig {
    if (stampOf(launch.home) === stamp) return current;
    if (keeps === undefined) return reload();
    try {
      return reload();
    } catch (error) {
      keeps(error);
      return current;
    }
  }
  return {
    loaded: latest,
    reload,
    redactor: {
      text: (text) => redactor.text(text),
      value: (value) => redactor.value(value),
      stream: () => redactor.stream(),
    },
  };
}

function stampOf(home: string): string {
  return ["config.yaml", ".env"].map((name) => fileStamp(join(home, name))).join("|");
}

function fileStamp(path: string): string {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found ? `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}` : "missing";
  } catch {
    return "unreadable";
  }
}
