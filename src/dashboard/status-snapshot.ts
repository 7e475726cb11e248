// What /api/status, /api/model/info and the other open routes say, kept ready: their handlers do no I/O (product.md D13,
// field-rules I04).
import { shouldRequireAuth } from "#auth/require-auth.ts";
import type { Clock, Timer } from "#base/clock.ts";
import { messageOf } from "#base/errors.ts";
import type { Log } from "#base/log.ts";
import type { ModelInfoBody } from "#protocol/http-config.ts";
import type {
  FullStatusBody,
  PlatformState,
  PublicStatusBody,
  ServiceBody,
  ServiceState,
} from "#protocol/http-status.ts";
import type { DashboardDeps, ProfileGlance, ProfileServices } from "./deps.ts";

const FRESH_MS = 1000;
const KEEP_WARM_MS = 5000;
const ACTIVE_SECONDS = 300;

interface Facts {
  readonly configVersion: number;
  readonly latestConfigVersion: number;
  readonly activeSessions: number;
  readonly profile: string;
  readonly home: string;
  readonly configPath: string;
  readonly envPath: string;
  readonly model: ModelInfoBody;
  readonly theme: string;
}

export const NO_MODEL: ModelInfoBody = {
  model: "",
  provider: "",
  auto_context_length: 0,
  config_context_length: 0,
  effective_context_length: 0,
  capabilities: {},
};

export interface StatusSnapshot {
  /** Reads everything now; never throws. */
  refresh(): Promise<void>;
  /** What the configuration says, without opening the store; the first status after it counts the sessions. Never throws. */
  glance(): void;
  /** Of the profile that the facts are of. */
  home(): string;
  public(): PublicStatusBody;
  full(): FullStatusBody;
  /** Of a named profile, read now. Throws PROFILE_UNKNOWN. */
  fullOf(profile: string): Promise<FullStatusBody>;
  model(): ModelInfoBody;
  theme(): string;
  close(): void;
}

type SnapshotDeps = Pick<
  DashboardDeps,
  "profiles" | "services" | "version" | "releaseDate" | "clock" | "log" | "providers" | "settings"
>;

export function createStatusSnapshot(deps: SnapshotDeps, home: string): StatusSnapshot {
  let facts: Facts = {
    configVersion: 0,
    latestConfigVersion: 0,
    activeSessions: 0,
    profile: "default",
    home,
    configPath: `${home}/config.yaml`,
    envPath: `${home}/.env`,
    model: NO_MODEL,
    theme: "default",
  };
  let readAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | null = null;
  let timer: Timer | null = null;
  let closed = false;

  const refresh = (): Promise<void> => {
    running ??= readActive(deps, facts, deps.log).then((next) => {
      facts = next;
      readAt = deps.clock.monotonicMs();
      running = null;
    });
    return running;
  };
  const keepWarm = (): void => {
    if (closed) return;
    void refresh();
    timer = deps.clock.after(KEEP_WARM_MS, keepWarm);
  };
  timer = deps.clock.after(KEEP_WARM_MS, keepWarm);

  /** Starts a refresh in the background when the copy is old; the answer does not wait for it. */
  const current = (): Facts => {
    if (deps.clock.monotonicMs() - readAt >= FRESH_MS) void refresh();
    return facts;
  };
  return {
    refresh,
    glance() {
      facts = glanceAt(deps, facts);
    },
    home: () => facts.home,
    public: () => publicBody(deps, current()),
    full: () => fullBody(deps, current()),
    fullOf: async (profile) =>
      fullBody(deps, await readFacts(await deps.profiles.open(profile), facts, deps)),
    model: () => current().model,
    theme: () => current().theme,
    close() {
      closed = true;
      timer?.cancel();
    },
  };
}

async function readActive(deps: SnapshotDeps, before: Facts, log: Log): Promise<Facts> {
  try {
    return await readFacts(await deps.profiles.open(), before, deps);
  } catch (error) {
    log.debug(`status could not be refreshed: ${messageOf(error)}`);
    return before;
  }
}

function glanceAt({ profiles, log }: SnapshotDeps, before: Facts): Facts {
  try {
    return settingsOf(profiles.glance(), before);
  } catch (error) {
    log.debug(`status could not be read: ${messageOf(error)}`);
    return before;
  }
}

async function readFacts(
  profile: ProfileServices,
  before: Facts,
  { clock, log }: Pick<SnapshotDeps, "clock" | "log">,
): Promise<Facts> {
  const activeSessions = await countActive(profile, clock, log);
  return { ...settingsOf(profile, before), activeSessions };
}

function settingsOf(profile: ProfileGlance, before: Facts): Facts {
  const loaded = profile.loaded();
  return {
    configVersion: loaded.version,
    latestConfigVersion: loaded.latestVersion,
    activeSessions: before.activeSessions,
    profile: profile.name,
    home: loaded.home,
    configPath: loaded.path,
    envPath: loaded.envPath,
    model: profile.models.info(),
    theme: loaded.config.dashboard.theme || before.theme,
  };
}

/** 0 when unknown: a busy or broken store must not hide the rest. */
async function countActive({ archive }: ProfileServices, clock: Clock, log: Log): Promise<number> {
  try {
    return await archive.countActive(clock.now() / 1000 - ACTIVE_SECONDS);
  } catch (error) {
    log.debug(`active sessions could not be counted: ${messageOf(error)}`);
    return 0;
  }
}

function publicBody(deps: SnapshotDeps, facts: Facts): PublicStatusBody {
  const { state, platforms, updatedAt } = gatewayOf(deps, facts);
  return {
    version: deps.version,
    release_date: deps.releaseDate,
    config_version: facts.configVersion,
    latest_config_version: facts.latestConfigVersion,
    gateway_running: RUNNING.includes(state),
    gateway_state: gatewayWord(state),
    gateway_platforms: Object.fromEntries(
      Object.entries(platforms).map(([name, platform]) => [name, { state: platform.state }]),
    ),
    gateway_updated_at: updatedAt,
    active_sessions: facts.activeSessions,
    auth_required: shouldRequireAuth(deps.settings),
    auth_providers: deps.providers.loginProviders().map(({ name }) => name),
  };
}

function fullBody(deps: SnapshotDeps, facts: Facts): FullStatusBody {
  const { service, platforms, exitReason } = gatewayOf(deps, facts);
  return {
    ...publicBody(deps, facts),
    gateway_platforms: platforms,
    hermes_home: facts.home,
    config_path: facts.configPath,
    env_path: facts.envPath,
    gateway_pid: service?.pid ?? null,
    gateway_health_url: deps.services.gatewayHealthUrl,
    gateway_exit_reason: exitReason,
    services: deps.services.watch.services(),
  };
}

const RUNNING: readonly ServiceState[] = ["ready", "degraded", "stopping"];

interface Gateway {
  readonly state: ServiceState;
  readonly service: ServiceBody | null;
  readonly platforms: Readonly<Record<string, PlatformState>>;
  readonly updatedAt: string | null;
  readonly exitReason: string | null;
}

/** The gateway of the profile that the facts are of, from the copy that the watch keeps: no I/O (product.md D13). */
function gatewayOf({ services }: SnapshotDeps, { profile }: Facts): Gateway {
  const service = services.watch.services().find((entry) => entry.profile === profile) ?? null;
  const record = services.watch.observed(profile);
  const state = service?.state ?? "unknown";
  const all = Object.entries(record?.platforms ?? {});
  const shown = RUNNING.includes(state)
    ? all
    : all.filter(
        ([, platform]) => gatewayWord(state) === "startup_failed" && platform.state === "fatal",
      );
  return {
    state,
    service,
    platforms: Object.fromEntries(shown),
    updatedAt: record?.updatedAt == null ? null : new Date(record.updatedAt).toISOString(),
    exitReason: record?.exitReason ?? null,
  };
}

/** D4's word in the words of the Python version (dashboard.md §11.2). */
function gatewayWord(state: ServiceState): PublicStatusBody["gateway_state"] {
  switch (state) {
    case "ready":
      return "running";
    case "degraded":
    case "starting":
      return state;
    case "stopping":
      return "draining";
    case "stopped":
    case "disabled":
      return "stopped";
    case "refused":
    case "crash-looping":
      return "startup_failed";
    case "unknown":
      return null;
  }
}
