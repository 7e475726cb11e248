// What the composition root hands to the dashboard. It may not import the model, store and tools rooms: their help comes in here.
import type { ProviderRegistry } from "#auth/providers/registry.ts";
import type { Clock } from "#base/clock.ts";
import type { RandomBytes } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import type { ProcessLock } from "#base/process-lock.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import type { LocalServerBody } from "#protocol/http-chat.ts";
import type { ModelInfoBody, ModelOptionsBody } from "#protocol/http-config.ts";
import type { ModelTestStage } from "#protocol/http-errors.ts";
import type {
  ChangeProfileInput,
  CreateProfileBody,
  CreateProfileInput,
  ProfileBody,
} from "#protocol/http-status.ts";
import type { Redactor, SessionArchive } from "#session/archive.ts";
import type { SessionService } from "#session/types.ts";
import type { ServiceManager } from "#supervisor/port.ts";
import type { ServiceWatch } from "#supervisor/watch.ts";
import type { TerminalHost } from "./pty-port.ts";
import type { DashboardSettings } from "./settings.ts";

/** Which model a new session would get, or why none. Never holds a key. */
export type ModelReadiness =
  | {
      readonly ready: true;
      readonly provider: string;
      readonly model: string;
      readonly demo: boolean;
    }
  | { readonly ready: false; readonly reason: string };

export interface ModelTestInput {
  readonly provider: string;
  /** Absent: the provider's first model. */
  readonly model?: string;
  /** Absent: the one that is configured. */
  readonly apiKey?: string;
  readonly baseUrl?: string;
}

export type ModelTestResult =
  | {
      readonly ok: true;
      readonly provider: string;
      readonly model: string;
      readonly contextWindow: number;
      readonly latencyMs: number;
      /** Variable that holds the key of this provider; null when it needs none. */
      readonly keyName: string | null;
    }
  | { readonly ok: false; readonly stage: ModelTestStage; readonly message: string };

/** Questions to the model room, for one profile. None throws except where said. */
export interface ModelHelpers {
  /** No network, no disk. Zeros when nothing is configured. */
  info(): ModelInfoBody;
  readiness(): ModelReadiness;
  /** Whether this version or `providers.<id>` knows the provider; a missing key does not matter. */
  isProvider(id: string): boolean;
  /** At most 50 models each; `refresh` asks the providers again (5 s limit). */
  options(query: {
    readonly includeUnconfigured: boolean;
    readonly refresh: boolean;
  }): Promise<ModelOptionsBody>;
  /** Asks exactly the local servers of agent.md §3.2, in parallel, 300 ms each. */
  detectLocalServers(): Promise<readonly LocalServerBody[]>;
  /** One tiny real request, at most 20 s. The key is used for this request only and never logged. */
  test(input: ModelTestInput, signal: AbortSignal): Promise<ModelTestResult>;
}

/** What is known of a profile without its store and conversations. */
export type ProfileGlance = Pick<ProfileServices, "name" | "loaded" | "models">;

/** Everything of one profile. Kept open for the life of the dashboard by whoever hands it in. */
export interface ProfileServices {
  /** `default` or the profile's name. */
  readonly name: string;
  readonly home: string;
  /** The configuration as it is now: read again when a file changed. Throws CONFIG_REFUSED. */
  loaded(): LoadedConfig;
  /** After a write of ours: reads the files again at once. */
  reload(): LoadedConfig;
  readonly sessions: SessionService;
  readonly archive: SessionArchive;
  /** Known secrets of this profile and patterns. */
  readonly redactor: Redactor;
  readonly models: ModelHelpers;
}

export interface ProfileDirectory {
  /**
   * The services of a profile by its name; without a name those of the active one, found out at each call (C12).
   * Throws HermesError `PROFILE_UNKNOWN` or `PROFILE_NAME_INVALID`.
   */
  open(name?: string): Promise<ProfileServices>;
  /** The active profile as its configuration is; nothing is opened. Throws CONFIG_REFUSED. */
  glance(): ProfileGlance;
  /** The profiles that are open, without opening one: for status and shutdown. */
  opened(): readonly ProfileServices[];
  /** Reads the disk at each call. `gateway` is filled in by the dashboard. */
  list(): Promise<readonly Omit<ProfileBody, "gateway">[]>;
  /** Throws `PROFILE_NAME_INVALID` and `PROFILE_EXISTS`. */
  create(input: CreateProfileInput): Promise<CreateProfileBody>;
  /**
   * Another name or description. Throws `PROFILE_NOT_FOUND`, `PROFILE_FIXED`, `PROFILE_EXISTS`, and `GATEWAY_RUNNING` for another
   * name while its gateway is wanted up.
   */
  change(name: string, input: ChangeProfileInput): Promise<CreateProfileBody>;
  /** With its gateway stopped first. Throws `PROFILE_NOT_FOUND`, `PROFILE_FIXED`, `PROFILE_NOT_DELETED`: then it is still there. */
  remove(name: string): Promise<CreateProfileBody>;
  /** The step that failed, once more. Throws `PROFILE_NOT_FOUND`. */
  register(name: string): Promise<CreateProfileBody>;
  /** What a plain `hermes` means from now on. Throws `PROFILE_NOT_FOUND`. */
  use(name: string): void;
  /** Home of a profile. Throws `PROFILE_NOT_FOUND`. */
  homeOf(name: string): string;
}

/** Who supervises the services of this home, and a copy of their states that costs nothing to read (product.md D4, D13). */
export interface ServiceDesk {
  readonly manager: ServiceManager;
  readonly watch: ServiceWatch;
  /** GATEWAY_HEALTH_URL; null without. */
  readonly gatewayHealthUrl: string | null;
}

export interface DashboardDeps {
  readonly services: ServiceDesk;
  readonly settings: DashboardSettings;
  /** Home of the dashboard itself (lock, dashboard.json): the root home. */
  readonly home: string;
  readonly version: string;
  /** `YYYY-MM-DD` */
  readonly releaseDate: string;
  readonly profiles: ProfileDirectory;
  /** Who may sign in, and why the other providers are not there. No network was used to find out. */
  readonly providers: ProviderRegistry;
  readonly lock: ProcessLock;
  /** Starts what the terminal tab shows; the dashboard itself starts no process. */
  readonly terminals: TerminalHost;
  /** The process environment as it was at the start: config writers resolve `${NAME}` with it. */
  readonly processEnv: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
  /** Removes the secrets of every open profile: the last sink before an error body or a log line. */
  readonly redact: (text: string) => string;
  /** Rotation of logs/dashboard-auth.log (`logging.max_size_mb`, `.backup_count`). */
  readonly auditLog: { readonly maxBytes: number; readonly backups: number };
  /** Folder with index.html, absolute. */
  readonly webDist: string;
  /** Called once, after the dashboard answered its own request (product.md D3). */
  readonly whenReady: () => void | Promise<void>;
  /** One line to stdout, after everything is up: the start line. */
  readonly print: (line: string) => void;
  /** One line to stderr: warnings of the start. */
  readonly warn: (line: string) => void;
  /** Opens the page; absent when not asked for or not possible. Must not throw. */
  readonly openBrowser?: (url: string) => void;
}

export interface OpenCounts {
  readonly sockets: number;
  readonly streams: number;
  readonly watchers: number;
  readonly terminals: number;
}

export interface RunningDashboard {
  /** As printed: `http://<host>:<port>`. */
  readonly url: string;
  readonly port: number;
  /** What is open now: for tests and metrics. */
  counts(): OpenCounts;
  /**
   * Stops accepting, closes sockets with 1001, ends streams, interrupts running turns, gives answers in flight 2 s, and
   * frees the lock. Resolves within 3 s; safe to call twice. The exit code is the caller's business.
   */
  stop(): Promise<void>;
}
