// Flags, environment and config.yaml -> the dashboard's settings, all problems collected (dashboard.md §1.1). What has a key
// in config.yaml was checked by the config room; here stand the few that have none.
import { parseSwitch } from "#base/booleans.ts";
import type { Problem } from "#base/errors.ts";
import { variableOf } from "#config/env.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import { isHost } from "#config/value-rules.ts";
import type { GateSettings } from "#auth/settings.ts";
import { parsePrefix } from "#auth/prefix.ts";
import { serviceLinkOf } from "./service-link.ts";

/** As the user typed them on the command line. */
export interface DashboardFlags {
  readonly host?: string;
  readonly port?: string;
  readonly insecure?: boolean;
}

export interface DashboardSettings extends GateSettings {
  /** 0: the kernel picks (only from the flag). */
  readonly port: number;
  /** Pinned local token; null: random per process. */
  readonly sessionToken: string | null;
  /** The terminal tab; chat stays either way. */
  readonly pty: boolean;
}

export interface SettingsReading {
  /** null when a problem is an error. */
  readonly settings: DashboardSettings | null;
  /** Errors (exit 78, printed together) and warnings. */
  readonly problems: readonly Problem[];
}

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_PORT = 9119;

/**
 * Precedence: flag, environment (non-empty after trim), config.yaml, default. Reads nothing but its arguments.
 * `names`: variables of the process, for a notice about those of ours that nothing reads.
 */
export function readDashboardSettings(
  loaded: Pick<LoadedConfig, "config" | "env">,
  flags: DashboardFlags,
  names: Iterable<string> = [],
): SettingsReading {
  const problems: Problem[] = [...names].filter(isUnread).map(notUsed);
  const variable = (name: string): string | undefined => loaded.env.get(name)?.trim() || undefined;
  const { dashboard } = loaded.config;
  const host = readHost(flags.host, variable("HERMES_DASHBOARD_HOST"), problems);
  const port = readPort(flags.port, variable("HERMES_DASHBOARD_PORT"), problems);
  const sessionToken = readToken(loaded.env.get("HERMES_DASHBOARD_SESSION_TOKEN"), problems);
  const insecure = readInsecure(flags.insecure, loaded, problems);
  if (host === null || port === null || problems.some(({ level }) => level === "error")) {
    return { settings: null, problems };
  }
  return {
    problems,
    settings: {
      host,
      port,
      sessionToken,
      insecure,
      publicUrl: dashboard.public_url === "" ? null : new URL(dashboard.public_url),
      basePath: parsePrefix(dashboard.base_path) ?? "",
      allowedHosts: dashboard.allowed_hosts,
      trustedProxies: dashboard.trusted_proxies,
      corsOrigins: dashboard.cors_origins,
      hsts: dashboard.hsts,
      autoSso: dashboard.auto_sso,
      sessionSecret: dashboard.session.secret || dashboard.basic_auth.secret || null,
      lifetimes: {
        ttlSeconds: dashboard.session.ttl_seconds,
        idleSeconds: dashboard.session.idle_seconds,
        basicTtlSeconds: dashboard.basic_auth.session_ttl_seconds,
      },
      pty: dashboard.pty,
      csp: {
        img: dashboard.csp.img_origins,
        font: dashboard.csp.font_origins,
        style: dashboard.csp.style_origins,
      },
    },
  };
}

function readHost(flag: string | undefined, variable: string | undefined, out: Problem[]) {
  const host = flag ?? variable ?? DEFAULT_HOST;
  if (isHost(host)) return host;
  const setting = flag === undefined ? "HERMES_DASHBOARD_HOST" : "--host";
  return refuse(
    out,
    setting,
    `${setting}: ${quote(host)} is no address and no host name.`,
    "Give an address to listen on, such as 127.0.0.1 or ::1.",
  );
}

function readPort(flag: string | undefined, variable: string | undefined, out: Problem[]) {
  const text = flag ?? variable ?? String(DEFAULT_PORT);
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  const least = flag === undefined ? 1 : 0;
  if (port >= least && port <= 65535) return port;
  const setting = flag === undefined ? "HERMES_DASHBOARD_PORT" : "--port";
  const link = flag === undefined ? serviceLinkOf(text) : null;
  if (link !== null) return refuse(out, setting, link.message, link.fix);
  return refuse(
    out,
    setting,
    `${setting}: ${quote(text)} is no port.`,
    "Give a number from 1 to 65535; 0 works with --port only.",
  );
}

function readToken(token: string | undefined, out: Problem[]): string | null {
  if (token === undefined) return null;
  if (token.length >= 16) return token;
  const setting = "HERMES_DASHBOARD_SESSION_TOKEN";
  return refuse(
    out,
    setting,
    `${setting} has ${token.length} characters; it needs at least 16.`,
    "Make it longer, or unset it: then each start makes a random one.",
  );
}

function readInsecure(
  flag: boolean | undefined,
  { env }: Pick<LoadedConfig, "env">,
  out: Problem[],
): boolean {
  if (flag === true) return true;
  const setting = "HERMES_DASHBOARD_INSECURE";
  const state = parseSwitch(env.get(setting));
  if (state === "unclear") {
    out.push({
      code: "SWITCH_UNCLEAR",
      level: "warning",
      setting,
      message: `${setting} is neither an on-word nor an off-word: it counts as off.`,
      fix: "Use 1 or 0.",
    });
  }
  return state === "on";
}

const PREFIX = "HERMES_DASHBOARD_";

function isUnread(name: string): boolean {
  if (!name.startsWith(PREFIX)) return false;
  const twin = name.endsWith("_FILE") ? variableOf(name.slice(0, -"_FILE".length)) : null;
  return variableOf(name) === null && twin?.secret !== true;
}

function notUsed(name: string): Problem {
  return {
    code: "VARIABLE_NOT_USED",
    level: "warning",
    setting: name,
    message: `${name} is set, but not used.`,
    fix: "Look up its spelling in docs/reference/environment.md.",
  };
}

function refuse(out: Problem[], setting: string, message: string, fix: string): null {
  out.push({ code: "SETTING_INVALID", level: "error", setting, message, fix });
  return null;
}

/** A value of somebody else in a message: short and on one line. */
function quote(value: string): string {
  return JSON.stringify(value.slice(0, 80));
}
