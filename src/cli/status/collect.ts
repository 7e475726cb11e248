// What `hermes status` knows: asked from its sources now, never from old files (agent.md §11.2, container.md §8).
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Problem } from "#base/errors.ts";
import { isHermesError, messageOf } from "#base/errors.ts";
import { VARIABLES } from "#config/env.ts";
import { configPathOf } from "#config/files.ts";
import { profileOf, rootOf } from "#config/homes.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import { readBootRecord, type Role } from "#container/boot-record.ts";
import type { ServiceBody, ServiceState } from "#protocol/http-status.ts";
import { processName } from "#supervisor/identity.ts";
import type { ManagerKind } from "#supervisor/port.ts";
import { type PlatformNote, readObserved } from "#supervisor/service-files.ts";
import { readServices } from "#supervisor/services.ts";
import { openServices } from "../gateway/manager.ts";
import { openConfigSource } from "../config-source.ts";
import type { Launch } from "../context.ts";
import { isInContainer } from "../in-container.ts";
import { readCommit, readVersion } from "../version.ts";

/** Sessions of the last hour that did not end count as active. */
const ACTIVE_SECONDS = 3600;
/** Below this a window is too small for comfort (agent.md §3.3). */
const SMALL_WINDOW = 32_768;

export interface StatusReport {
  readonly version: string;
  readonly build: { readonly sha: string | null; readonly node: string };
  readonly home: string;
  readonly profile: string;
  readonly container: {
    readonly inside: boolean;
    readonly role: Role | null;
    readonly uid: number | null;
    /** Name of the first process. */
    readonly pid1: string | null;
    readonly stop_grace: number | null;
  };
  readonly manager: {
    readonly kind: ManagerKind;
    readonly label: string;
    readonly scandir: string | null;
  };
  readonly services: readonly ServiceBody[];
  readonly profiles: readonly {
    readonly name: string;
    readonly active: boolean;
    readonly gateway: ServiceState;
  }[];
  /** Of the gateway of this profile, while its own record is valid. */
  readonly platforms: Readonly<Record<string, PlatformNote>>;
  readonly boot: { readonly at: string; readonly warnings: readonly string[] } | null;
  readonly model: {
    readonly provider: string;
    readonly id: string;
    readonly context: number;
    readonly source: string;
    readonly demo: boolean;
  } | null;
  readonly credentials: readonly { readonly name: string; readonly set: boolean }[];
  /** null: the store cannot be read; the notice says why. */
  readonly sessions: { readonly total: number; readonly active: number } | null;
  readonly cron: { readonly enabled: boolean; readonly next: null };
  readonly config: {
    readonly path: string;
    readonly state: "ok" | "missing" | "broken" | "refused";
    readonly version: number | null;
    readonly latest: number | null;
    readonly problems: readonly Problem[];
  };
  readonly notices: readonly string[];
}

/** Never throws: what cannot be told is null, with a notice that says why. */
export async function collectStatus(launch: Launch): Promise<StatusReport> {
  const root = rootOf(launch.home);
  const notices: string[] = [];
  const { loaded, config } = readConfig(launch);
  const { version } = readVersion(launch.project);
  const boot = readBootRecord();
  const opened = await openServices({ launch, io: { note: (text) => void notices.push(text) } });
  const { manager, lock } = opened;
  const [services, sessions] = await Promise.all([
    readServices(manager, { root, lock }),
    sessionCounts(launch.home, loaded, notices),
  ]);
  const profiles = await profileStates(root, services);
  notices.push(...(boot?.notices ?? []));
  return {
    version,
    build: { sha: readCommit(launch.project), node: process.version },
    home: launch.home,
    profile: profileOf(launch.home),
    container: {
      inside: isInContainer(launch),
      role: boot?.role ?? null,
      uid: process.getuid?.() ?? null,
      pid1: processName(1),
      stop_grace: boot?.stop_grace ?? null,
    },
    manager: { kind: manager.kind, label: manager.label, scandir: manager.scandir },
    services,
    profiles,
    platforms: platformsOf(launch.home, services),
    boot: boot === null ? null : { at: boot.at, warnings: boot.warnings },
    model: loaded === null ? null : await modelState(loaded, notices),
    credentials: credentialStates(launch, loaded),
    sessions,
    cron: { enabled: loaded?.config.cron.enabled ?? false, next: null },
    config,
    notices,
  };
}

function readConfig(launch: Launch): {
  readonly loaded: LoadedConfig | null;
  readonly config: StatusReport["config"];
} {
  try {
    const loaded = openConfigSource(launch).loaded();
    const { path, file, version, latestVersion, problems } = loaded;
    return {
      loaded,
      config: { path, state: file.state, version, latest: latestVersion, problems },
    };
  } catch (error) {
    const known = isHermesError(error) ? error.problems : [];
    const own: Problem = {
      code: isHermesError(error) ? error.code : "CONFIG_REFUSED",
      level: "error",
      setting: null,
      message: messageOf(error),
      fix: isHermesError(error) ? error.fix : null,
    };
    const problems = known.length > 0 ? known : [own];
    const path = configPathOf(launch.home);
    return {
      loaded: null,
      config: { path, state: "refused", version: null, latest: null, problems },
    };
  }
}

async function modelState(loaded: LoadedConfig, notices: string[]): Promise<StatusReport["model"]> {
  const { readiness, secretReader } = await import("../model-access.ts");
  const { modelInfo } = await import("#model/info.ts");
  const { systemClock } = await import("#base/clock.ts");
  const state = readiness(loaded);
  if (!state.ready) {
    notices.push(state.reason);
    return null;
  }
  const { provider, model, source, demo } = state.choice;
  const cacheDir = join(loaded.home, "cache");
  const info = modelInfo({
    settings: loaded.config,
    secret: secretReader(loaded),
    cacheDir,
    clock: systemClock,
  });
  const context = info.effective_context_length;
  if (context > 0 && context < SMALL_WINDOW && !demo) {
    notices.push(
      `${model} has a window of ${context} tokens; below ${SMALL_WINDOW} long work suffers.`,
    );
  }
  return { provider, id: model, context, source, demo };
}

/** Names of secrets that this version uses, never their values. Without a configuration only the process is asked. */
function credentialStates(
  launch: Launch,
  loaded: LoadedConfig | null,
): StatusReport["credentials"] {
  const isSet = (name: string): boolean =>
    loaded ? loaded.env.get(name) !== undefined : Boolean(launch.env[name]);
  return VARIABLES.filter(
    (entry) =>
      entry.secret && entry.tier === 1 && (entry.area === "models" || entry.area === "chats"),
  ).map(({ name }) => ({ name, set: isSet(name) }));
}

async function sessionCounts(
  home: string,
  loaded: LoadedConfig | null,
  notices: string[],
): Promise<StatusReport["sessions"]> {
  const path = join(home, "state.db");
  if (!existsSync(path)) return { total: 0, active: 0 };
  const { systemClock, epochSeconds } = await import("#base/clock.ts");
  const { silentLog } = await import("#base/log.ts");
  try {
    const { openStore } = await import("#store/open.ts");
    const store = await openStore({
      path,
      backupsDir: join(home, "backups"),
      journalMode: loaded?.config.database.journal_mode ?? "auto",
      clock: systemClock,
      log: silentLog,
    });
    try {
      const { total } = await store.ping();
      const active = await store.countActive(epochSeconds(systemClock) - ACTIVE_SECONDS);
      return { total, active };
    } finally {
      await store.close();
    }
  } catch (error) {
    notices.push(`sessions: ${messageOf(error)}`);
    return null;
  }
}

async function profileStates(
  root: string,
  services: readonly ServiceBody[],
): Promise<StatusReport["profiles"]> {
  const { findProfiles } = await import("#profile/find.ts");
  const { readActiveName } = await import("#profile/active.ts");
  const active = readActiveName(root);
  return findProfiles(root).profiles.map(({ name }) => ({
    name,
    active: name === active,
    gateway: services.find(({ profile }) => profile === name)?.state ?? "stopped",
  }));
}

function platformsOf(home: string, services: readonly ServiceBody[]): StatusReport["platforms"] {
  const own = services.find(({ profile }) => profile === profileOf(home));
  const observed = readObserved(home);
  const isValid = own !== undefined && own.pid !== null && observed?.pid === own.pid;
  return isValid ? observed.platforms : {};
}
