// The configuration's values for the providers, gathered in one place; judged by each provider (dashboard.md §5.2–5.6).
import type { EnvSource, LoadedConfig } from "#config/loaded.ts";
import type { ProxySettings } from "./proxy.ts";
import { Secret } from "./secret.ts";

export interface NousSettings {
  readonly clientId: string;
  readonly portalUrl: string;
}

export interface SelfHostedSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** null: a public client. */
  readonly clientSecret: Secret | null;
  readonly scopes: string;
  readonly leewaySeconds: number;
  readonly allowedUsers: readonly string[];
  readonly allowedDomains: readonly string[];
  readonly allowedGroups: readonly string[];
  readonly idpLogout: boolean;
}

export interface BasicSettings {
  readonly username: string;
  readonly password: Secret | null;
  readonly passwordHash: Secret | null;
  /** Which of the two counts when both are set. */
  readonly prefers: "password" | "hash";
}

export interface ProviderSettings {
  readonly nous: NousSettings;
  readonly selfHosted: SelfHostedSettings;
  readonly basic: BasicSettings;
  readonly drainSecret: Secret | null;
  readonly metricsToken: Secret | null;
  /** `plugins.disabled`. */
  readonly disabled: readonly string[];
  readonly proxy: ProxySettings;
}

export function readProviderSettings({
  config,
  env,
}: Pick<LoadedConfig, "config" | "env">): ProviderSettings {
  const { oauth, basic_auth: basic } = config.dashboard;
  const own = oauth.self_hosted;
  return {
    nous: { clientId: oauth.client_id.trim(), portalUrl: oauth.portal_url.trim() },
    selfHosted: {
      issuer: own.issuer.trim(),
      clientId: own.client_id.trim(),
      clientSecret: secretOf(own.client_secret),
      scopes: own.scopes,
      leewaySeconds: own.id_token_leeway,
      allowedUsers: own.allowed_users,
      allowedDomains: own.allowed_domains,
      allowedGroups: own.allowed_groups,
      idpLogout: own.idp_logout,
    },
    basic: {
      username: basic.username,
      password: secretOf(basic.password),
      passwordHash: secretOf(basic.password_hash),
      prefers: preferred(env),
    },
    drainSecret: secretOf(env.get("HERMES_DASHBOARD_DRAIN_SECRET")),
    metricsToken: secretOf(env.get("HERMES_METRICS_TOKEN")),
    disabled: config.plugins.disabled,
    proxy: readProxySettings(env),
  };
}

function secretOf(text: string | undefined): Secret | null {
  return text === undefined || text.trim() === "" ? null : new Secret(text);
}

const RANK: Readonly<Record<EnvSource, number>> = { env: 2, file: 2, ".env": 1 };

/** The nearer source wins: a password in the environment beats a hash in the file. The hash wins a tie. */
function preferred(env: LoadedConfig["env"]): BasicSettings["prefers"] {
  const rankOf = (name: string): number => {
    const source = env.source(`HERMES_DASHBOARD_BASIC_AUTH_${name}`);
    return source === null ? 0 : RANK[source];
  };
  return rankOf("PASSWORD") > rankOf("PASSWORD_HASH") ? "password" : "hash";
}

function readProxySettings(env: LoadedConfig["env"]): ProxySettings {
  // The lower-case spelling first, as curl and most libraries read them.
  const read = (name: string): string =>
    (env.get(name.toLowerCase()) ?? env.get(name) ?? "").trim();
  return { http: read("HTTP_PROXY"), https: read("HTTPS_PROXY"), none: read("NO_PROXY") };
}
