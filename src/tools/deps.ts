// What the tools of one session are given. Everything from outside comes in here.
import type { LookupFunction } from "node:net";
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import type { Redactor } from "#agent/ports/redactor.ts";
import type { SessionStore } from "#agent/ports/session-store.ts";

/** The parts of the configuration that tools read, spelled as in YAML (agent.md §2.2). A `Config` fits. */
export interface ToolSettings {
  readonly terminal: {
    /** Seconds. */
    readonly timeout: number;
    readonly max_timeout: number;
    readonly output_limit_chars: number;
    readonly env_passthrough: readonly string[];
    readonly home_mode: string;
  };
  readonly web: {
    readonly backend: string;
    readonly searxng_url: string;
    readonly max_page_chars: number;
  };
  readonly security: { readonly allow_private_urls: boolean };
  readonly memory: {
    readonly memory_enabled: boolean;
    readonly user_profile_enabled: boolean;
    readonly memory_char_limit: number;
    readonly user_char_limit: number;
  };
  readonly approvals: { readonly deny: readonly string[] };
  readonly command_allowlist: readonly string[];
  readonly agent: { readonly disabled_toolsets: readonly string[] };
  readonly custom_toolsets: Readonly<Record<string, readonly string[]>>;
}

export interface ToolBoxDeps {
  /** Data directory of the profile. */
  readonly home: string;
  /** The home with a trailing `profiles/<name>` removed. */
  readonly root: string;
  /** `default` or the profile's name. */
  readonly profile: string;
  readonly settings: ToolSettings;
  /** Names of sets, tools or own sets (agent.md §5.1). */
  readonly toolsets: readonly string[];
  /** Values of the effective environment; only names on the allow-list reach a child process. */
  readonly env: (name: string) => string | undefined;
  readonly inContainer: boolean;
  /** HERMES_WRITE_SAFE_ROOT, split; empty: no confinement. */
  readonly safeRoots: readonly string[];
  readonly store: SessionStore;
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly log: Log;
  /** Nobody can answer (cron, webhook, one-shot). */
  readonly unattended: boolean;
  readonly sessionId: string;
  /** Adds one line to `command_allowlist` in config.yaml. */
  rememberAllowed(key: string): Promise<void>;
  /** A background process that was started with `notify_on_complete` ended. */
  onProcessEnd(processId: string, exitCode: number | null, tail: string): void;
  /** Name resolution for web requests; the system's when absent. */
  readonly lookup?: LookupFunction;
}
