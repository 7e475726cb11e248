// Health, status, profiles, themes and plugins (dashboard.md §11.1, §11.2, §11.6, §11.7).
import type { ThemeDefinition } from "./theme.ts";

export interface HealthBody {
  readonly ok: true;
  readonly version: string;
  readonly auth_required: boolean;
}

/** D4's words. */
export type ServiceState =
  | "disabled"
  | "stopped"
  | "starting"
  | "ready"
  | "degraded"
  | "stopping"
  | "crash-looping"
  | "refused"
  | "unknown";

/** One supervised slot (container.md §8). */
export interface ServiceBody {
  readonly name: string;
  readonly kind: "dashboard" | "gateway";
  readonly profile: string | null;
  readonly state: ServiceState;
  readonly reason: string | null;
  readonly desired: "running" | "stopped" | null;
  readonly pid: number | null;
  readonly since: string | null;
  readonly restarts: number;
  readonly restarts_60s: number;
  readonly last_exit: {
    readonly code: number | null;
    readonly signal: string | null;
    readonly at: string;
  } | null;
  readonly next_start_at: string | null;
  /** Why it will not run, as the process itself wrote it (container.md §6.4). */
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly ways_out: readonly string[];
  } | null;
  readonly log: string | null;
}

export type GatewayState =
  | "running"
  | "degraded"
  | "starting"
  | "draining"
  | "stopped"
  | "startup_failed";

/** `updated_at` and the error fields are only in the full answer. */
export interface PlatformState {
  readonly state: string;
  readonly updated_at?: string | null;
  readonly error_code?: string | null;
  readonly error_message?: string | null;
}

/** GET /api/status to a stranger: exactly these 11 keys (D13). */
export interface PublicStatusBody {
  readonly version: string;
  readonly release_date: string;
  readonly config_version: number;
  readonly latest_config_version: number;
  readonly gateway_running: boolean;
  readonly gateway_state: GatewayState | null;
  readonly gateway_platforms: Readonly<Record<string, PlatformState>>;
  readonly gateway_updated_at: string | null;
  readonly active_sessions: number;
  readonly auth_required: boolean;
  readonly auth_providers: readonly string[];
}

/** With a valid credential, or in local mode on a loopback bind. */
export interface FullStatusBody extends PublicStatusBody {
  readonly hermes_home: string;
  readonly config_path: string;
  readonly env_path: string;
  readonly gateway_pid: number | null;
  readonly gateway_health_url: string | null;
  readonly gateway_exit_reason: string | null;
  readonly services: readonly ServiceBody[];
}

export type StatusBody = PublicStatusBody | FullStatusBody;

export interface AuthProvidersBody {
  readonly providers: readonly {
    readonly name: string;
    readonly display_name: string;
    readonly supports_password: boolean;
  }[];
}

export interface AuthProvidersStatusBody {
  readonly providers: readonly {
    readonly name: string;
    readonly status: "ready" | "skipped" | "invalid";
    readonly reason: string | null;
    readonly warnings: readonly string[];
  }[];
}

/** GET /api/auth/me: who is signed in. */
export interface MeBody {
  readonly user_id: string;
  readonly email: string;
  readonly display_name: string;
  readonly org_id: string;
  readonly provider: string;
  /** Unix seconds: the absolute end of the session. */
  readonly expires_at: number;
}

/** The sessions of the user who asks. */
export interface AuthSessionsBody {
  readonly sessions: readonly {
    /** Prefix of the record's digest; says nothing about the cookie. */
    readonly id: string;
    readonly kind: "browser" | "native";
    readonly provider: string;
    readonly created_at: string;
    readonly last_seen_at: string;
    readonly ip: string;
    readonly user_agent: string;
    readonly current: boolean;
  }[];
}

/** POST /auth/native/token (RFC 7636 §4.5). */
export interface NativeTokenInput {
  readonly code: string;
  readonly code_verifier: string;
}

export interface NativeRefreshInput {
  readonly refresh_token: string;
}

/** POST /auth/logout and /auth/password-login, to callers that take JSON. */
export interface LogoutBody {
  readonly ok: true;
  readonly login_url: string;
}

/** Single use, in `?ticket=` of an upgrade. */
export interface WsTicketBody {
  readonly ticket: string;
  readonly ttl_seconds: 30;
}

export interface ReadyBody {
  readonly ready: boolean;
  readonly services: {
    readonly dashboard: ServiceState;
    readonly gateway: ServiceState;
  };
}

export interface ProfileBody {
  readonly name: string;
  readonly path: string;
  readonly is_default: boolean;
  readonly active: boolean;
  readonly model: string | null;
  readonly provider: string | null;
  readonly has_env: boolean;
  readonly skill_count: number;
  readonly gateway: ServiceState;
}

export interface ProfilesBody {
  readonly profiles: readonly ProfileBody[];
}

export interface CreateProfileInput {
  readonly name: string;
  readonly clone_from?: string;
  readonly clone_from_default?: boolean;
  readonly no_skills?: boolean;
}

/** 201. `ok: false` with code `partial`: the profile is there, the step after it failed. */
export interface CreateProfileBody {
  readonly ok: boolean;
  readonly code?: "partial";
  readonly name: string;
  readonly path: string;
  readonly service: { readonly registered: boolean; readonly detail: string | null };
}

export interface ChangeProfileInput {
  readonly new_name?: string;
  readonly description?: string;
}

export interface ActivateProfileInput {
  readonly name: string;
}

/** SOUL.md of a profile; "" without one. */
export interface SoulBody {
  readonly content: string;
}

export interface SetupCommandBody {
  /** What a terminal of the same machine or container is told. */
  readonly command: string;
}

export interface ThemesBody {
  readonly themes: readonly {
    readonly name: string;
    readonly label: string;
    readonly description: string;
    /** Only of themes that are not built in. */
    readonly definition?: ThemeDefinition;
  }[];
  readonly active: string;
}

export interface SetThemeInput {
  readonly name: string;
}

export interface SetThemeBody {
  readonly ok: true;
  readonly theme: string;
}

/** GET /api/dashboard/plugins: a bare array of the enabled ones. */
export type PluginsBody = readonly {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly icon: string;
  readonly version: string;
  readonly tab: {
    readonly path: string;
    readonly position: string;
    readonly override?: string;
    readonly hidden?: boolean;
  };
  readonly slots: readonly string[];
  readonly entry: string;
  readonly css: string | null;
  readonly has_api: boolean;
  readonly source: string;
}[];

export interface OkBody {
  readonly ok: true;
}
