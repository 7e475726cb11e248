// Commands that only need the store: no log files are opened unless there is something to log, no home is made.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { SessionStore } from "#agent/ports/session-store.ts";
import { systemClock } from "#base/clock.ts";
import type { Log, LogFields } from "#base/log.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import { openConfigSource, type ConfigSource } from "./config-source.ts";
import type { Launch } from "./context.ts";
import { openLogFiles } from "./log-files.ts";

export interface StoreAccess {
  readonly store: SessionStore;
  readonly config: ConfigSource;
  readonly loaded: LoadedConfig;
}

/** null where no conversation was ever kept here: nothing is made for a question. */
export async function withStore<T>(
  launch: Launch,
  work: (access: StoreAccess) => Promise<T>,
): Promise<T | null> {
  if (!existsSync(join(launch.home, "state.db"))) return null;
  return withNewStore(launch, work);
}

/** Makes the store where there is none. */
export async function withNewStore<T>(
  launch: Launch,
  work: (access: StoreAccess) => Promise<T>,
): Promise<T> {
  const config = openConfigSource(launch);
  const loaded = config.loaded();
  const { home, config: settings } = loaded;
  const log = new LateLog();
  const { openStore } = await import("#store/open.ts");
  const store = await openStore({
    path: join(home, "state.db"),
    backupsDir: join(home, "backups"),
    journalMode: settings.database.journal_mode,
    clock: systemClock,
    log,
  });
  try {
    return await work({ store, config, loaded });
  } finally {
    await store.close();
    await log.write(config);
  }
}

type Entry = readonly [level: "info" | "warn" | "error", message: string, fields: LogFields];

/** Keeps what was logged and writes it at the end, so that a quiet command opens no log file. */
class LateLog implements Log {
  readonly #entries: Entry[] = [];
  debug(): void {
    // A short command's debug lines are not worth a file.
  }
  info(message: string, fields: LogFields = {}): void {
    this.#entries.push(["info", message, fields]);
  }
  warn(message: string, fields: LogFields = {}): void {
    this.#entries.push(["warn", message, fields]);
  }
  error(message: string, fields: LogFields = {}): void {
    this.#entries.push(["error", message, fields]);
  }

  async write(config: ConfigSource): Promise<void> {
    if (!this.#entries.some(([level]) => level !== "info")) return;
    const { home, profile, config: settings } = config.loaded();
    const { createProcessLock } = await import("#store/process-lock.ts");
    const files = await openLogFiles({
      home,
      profile,
      component: "cli",
      file: "agent",
      settings: settings.logging,
      redactor: config.redactor,
      lock: createProcessLock(),
    });
    for (const [level, message, fields] of this.#entries) files.log[level](message, fields);
    await files.close();
  }
}
