// Starts the dashboard of this home and keeps it until a signal ends it (dashboard.md §1.3, §1.5).
import { closeSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ProviderRegistry } from "#auth/providers/registry.ts";
import { systemClock } from "#base/clock.ts";
import { HermesError } from "#base/errors.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { systemRandom } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import { rootOf } from "#config/homes.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import { readDashboardSettings, type DashboardSettings } from "#dashboard/settings.ts";
import { startDashboard } from "#dashboard/start.ts";
import { openWorkspace, type Workspace } from "../compose.ts";
import { openTerminalHost } from "../terminal/host.ts";
import { terminalProgram } from "../terminal/program.ts";
import { flagOption, numberOption, textOption, type Context } from "../context.ts";
import { isInImage } from "../in-container.ts";
import { configFlags } from "../run-flags.ts";
import { readVersion } from "../version.ts";
import { browserOpener } from "./browser.ts";
import { openServiceDesk } from "./service-desk.ts";
import { IMAGE_HOST } from "./slot.ts";
import { openProfiles, type OpenProfiles } from "./profiles.ts";

/** The slot that this process runs in (container.md §6.3). */
interface Slot {
  ready(): Promise<void>;
}

/**
 * Returns when the dashboard was told to stop and has stopped: 75 in a slot, where s6's wanted state decides about the restart
 * (container.md §6.4), else 0. Throws what its start refuses with.
 */
export async function serve(context: Context, slot: Slot | null = null): Promise<ExitCode> {
  const { launch, line } = context;
  if (process.getuid?.() === 0 && isInImage(launch)) throw asRoot();
  const root = rootOf(launch.home);
  const workspace = await openWorkspace(launch, {
    flags: configFlags(line.options),
    component: "dashboard",
    file: "gui",
  });
  const profiles = openProfiles(context, workspace, root);
  try {
    return await serveUntilSignal(context, workspace, profiles, root, slot);
  } finally {
    await profiles.close();
    await workspace.close();
  }
}

/** container.md §12: never in the image, whatever HERMES_DOCKER_EXEC_AS_ROOT says of the CLI. */
function asRoot(): HermesError {
  return new HermesError("DASHBOARD_ROOT", "The dashboard does not run as root.", {
    exit: EXIT.refused,
    setting: "HERMES_DOCKER_EXEC_AS_ROOT",
    fix: "Leave HERMES_DOCKER_EXEC_AS_ROOT out: the CLI then goes on as hermes.",
  });
}

async function serveUntilSignal(
  context: Context,
  workspace: Workspace,
  profiles: OpenProfiles,
  root: string,
  slot: Slot | null,
): Promise<ExitCode> {
  const { io, launch } = context;
  const loaded = workspace.loaded();
  const { version, releaseDate } = readVersion(launch.project);
  const signal = nextSignal();
  const openBrowser = browserOpener(context);
  const services = openServiceDesk(context, workspace, root);
  const running = await startDashboard({
    services,
    settings: readSettings(context, loaded),
    home: root,
    version,
    releaseDate,
    profiles: profiles.directory,
    providers: await openProviders(loaded, workspace.log),
    lock: workspace.lock,
    terminals: openTerminalHost({
      program: (request) =>
        terminalProgram({ env: launch.env, project: launch.project, root }, request),
      project: launch.project,
      log: workspace.log,
    }),
    processEnv: launch.env,
    auditLog: {
      maxBytes: loaded.config.logging.max_size_mb * 1024 * 1024,
      backups: loaded.config.logging.backup_count,
    },
    clock: systemClock,
    random: systemRandom,
    log: workspace.log,
    redact: (text) => profiles.redact(text),
    webDist: resolve(loaded.env.get("HERMES_WEB_DIST") ?? join(launch.project, "dist", "web")),
    whenReady: slot === null ? readyByte(launch.env["HERMES_READY_FD"]) : () => slot.ready(),
    print: (text) => io.line(text),
    warn: (text) => io.note(text),
    ...(openBrowser === null ? {} : { openBrowser }),
  });
  await signal;
  services.watch.close();
  await running.stop();
  return slot === null ? EXIT.ok : EXIT.restart;
}

/** Judged by their settings; loaded here, so that commands without a server do not pay for it. */
async function openProviders(loaded: LoadedConfig, log: Log): Promise<ProviderRegistry> {
  const { collectProviders } = await import("#auth/providers/collect.ts");
  const { createRegistry } = await import("#auth/providers/registry.ts");
  const { readProviderSettings } = await import("#auth/providers/settings.ts");
  const deps = { clock: systemClock, random: systemRandom, log };
  return createRegistry(collectProviders(readProviderSettings(loaded), deps), log);
}

function readSettings(context: Context, loaded: LoadedConfig): DashboardSettings {
  const { options } = context.line;
  const host = textOption(options, "host") ?? hostOfImage(context, loaded);
  const port = numberOption(options, "port");
  const { settings, problems } = readDashboardSettings(loaded, {
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port: String(port) }),
    ...(flagOption(options, "insecure") ? { insecure: true } : {}),
  });
  for (const problem of [...loaded.problems, ...problems]) {
    if (problem.level === "warning") context.io.note(`hermes: ${problem.message}`);
  }
  if (settings !== null) return settings;
  const errors = problems.filter((problem) => problem.level === "error");
  throw new HermesError("CONFIG_REFUSED", "The dashboard cannot start with these settings.", {
    exit: EXIT.refused,
    problems: errors,
  });
}

/** D12: a page that is bound to the container's own loopback could not be reached. The gate is on there. */
function hostOfImage({ launch }: Context, loaded: LoadedConfig): string | undefined {
  const isSet = Boolean(loaded.env.get("HERMES_DASHBOARD_HOST")?.trim());
  return !isSet && isInImage(launch) ? IMAGE_HOST : undefined;
}

/** The first SIGTERM, SIGINT or SIGHUP; a second one does not wait for the clean end. */
function nextSignal(): Promise<void> {
  return new Promise((resolveSignal) => {
    let isEnding = false;
    for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      process.on(name, () => {
        if (isEnding) process.exit(EXIT.failed);
        isEnding = true;
        resolveSignal();
      });
    }
  });
}

/** Whoever starts us without a slot of ours may still want to know (`HERMES_READY_FD`). */
function readyByte(text: string | undefined): () => void {
  if (text === undefined || !/^\d{1,4}$/.test(text)) return () => undefined;
  return () => {
    writeSync(Number(text), "\n");
    closeSync(Number(text));
  };
}
