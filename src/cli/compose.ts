// The composition root: one home's configuration, log, store and conversations, opened in this order and closed in reverse.
import { join } from "node:path";
import type { Redactor } from "#agent/ports/redactor.ts";
import type { SessionStore } from "#agent/ports/session-store.ts";
import { systemClock } from "#base/clock.ts";
import { systemRandom } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import type { ProcessLock } from "#base/process-lock.ts";
import type { ConfigFlags } from "#config/flags.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import type { RunOverrides } from "#session/deps.ts";
import type { SessionService } from "#session/types.ts";
import { allowCommand } from "./allow-command.ts";
import { openConfigSource, type ConfigSource } from "./config-source.ts";
import type { Launch } from "./context.ts";
import { isInContainer } from "./in-container.ts";
import { openLogFiles, type LogFiles, type LogOptions } from "./log-files.ts";

/** A home that this process works in: it exists, its configuration is read, its log is open. */
export interface Workspace {
  readonly launch: Launch;
  readonly config: ConfigSource;
  readonly redactor: Redactor;
  readonly lock: ProcessLock;
  readonly logs: LogFiles;
  readonly log: Log;
  loaded(): LoadedConfig;
  close(): Promise<void>;
}

export interface WorkspaceOptions {
  readonly flags?: ConfigFlags;
  readonly component: string;
  readonly file: LogOptions["file"];
  /** Called with what cannot be honoured of files that changed while it runs; without it such an edit is thrown. */
  readonly keeps?: (error: unknown) => void;
}

/** Makes the home if it is missing. Throws CONFIG_REFUSED (78), or what makes the home unusable. */
export async function openWorkspace(launch: Launch, options: WorkspaceOptions): Promise<Workspace> {
  const config = openConfigSource(launch, options.flags, options.keeps);
  const { home, profile } = config.loaded();
  await ensureHome(launch);
  const { createProcessLock } = await import("#store/process-lock.ts");
  const lock = createProcessLock();
  const logs = await openLogFiles({
    home,
    profile,
    component: options.component,
    file: options.file,
    settings: config.loaded().config.logging,
    redactor: config.redactor,
    lock,
  });
  logWarnings(launch, logs.log);
  return {
    launch,
    config,
    redactor: config.redactor,
    lock,
    logs,
    log: logs.log,
    loaded: () => config.loaded(),
    close: () => logs.close(),
  };
}

/** Makes what is missing of the home (agent.md §2.1). Throws HOME_NOT_WRITABLE (78). */
export async function ensureHome(launch: Pick<Launch, "home" | "env">): Promise<void> {
  const profile = await import("#profile/home.ts");
  const mode = profile.parseMode(launch.env["HERMES_HOME_MODE"] ?? "");
  profile.ensureHome(launch.home, mode ?? undefined);
}

/** What Node warned about goes to the log and nowhere else (agent.md §1.1). */
function logWarnings(launch: Launch, log: Log): void {
  const write = (warning: Error): void =>
    log.debug(`node: ${warning.message}`, { name: warning.name });
  for (const warning of launch.warnings.splice(0)) write(warning);
  process.removeAllListeners("warning");
  process.on("warning", write);
}

export async function openWorkspaceStore(workspace: Workspace): Promise<SessionStore> {
  const { openStore } = await import("#store/open.ts");
  const { home, config } = workspace.loaded();
  return openStore({
    path: join(home, "state.db"),
    backupsDir: join(home, "backups"),
    journalMode: config.database.journal_mode,
    clock: systemClock,
    log: workspace.logs.component("store"),
  });
}

export async function openSessions(
  workspace: Workspace,
  store: SessionStore,
  overrides: RunOverrides,
): Promise<SessionService> {
  const { openSessionService } = await import("#session/service.ts");
  return openSessionService({
    loaded: () => workspace.loaded(),
    overrides,
    store,
    redactor: workspace.redactor,
    clock: systemClock,
    random: systemRandom,
    log: workspace.logs.component("session"),
    processEnv: (name) => workspace.launch.env[name],
    inContainer: isInContainer(workspace.launch),
    rememberAllowed: (key) => allowCommand(workspace, key),
  });
}
