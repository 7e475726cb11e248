// The one table of environment variables (agent.md §2.5, container.md §5, dashboard.md §1.1, §5).

export type EnvArea = "models" | "agent" | "paths" | "chats" | "dashboard" | "container" | "usual";

export interface Variable {
  readonly name: string;
  /** Setting that it beats; null when it has no counterpart in `config.yaml`. */
  readonly sets: string | null;
  /** Values of a switch that stands for a setting of another type. */
  readonly switch?: { readonly on: string; readonly off?: string };
  /** True: read by D9, although it has no setting. */
  readonly flag?: true;
  /** Has a `<NAME>_FILE` twin; goes to `.env`; never shown. */
  readonly secret: boolean;
  /** A named profile takes it from its own `.env` only. */
  readonly perProfile: boolean;
  /** 1 is built now, 2 has its place. */
  readonly tier: 1 | 2;
  readonly area: EnvArea;
  readonly description: string;
}

type Extra = Partial<Pick<Variable, "switch" | "flag" | "secret" | "perProfile" | "tier">>;

function rows(area: EnvArea, shared: Extra, list: readonly Row[]): readonly Variable[] {
  return list.map(([name, sets, description, extra]) => ({
    secret: false,
    perProfile: false,
    tier: 1,
    ...shared,
    ...extra,
    name,
    sets,
    area,
    description,
  }));
}

type Row = readonly [name: string, sets: string | null, description: string, extra?: Extra];

const FLAG = { flag: true } as const;
const SECRET = { secret: true } as const;
const LATER = { tier: 2 } as const;

const CHATS = [
  ["telegram", "Telegram", 1],
  ["discord", "Discord", 2],
  ["slack", "Slack", 2],
  ["xmpp", "XMPP", 1],
] as const;

/** Chat platforms that have a home channel and an allow-list. */
export const CHAT_PLATFORMS: readonly string[] = CHATS.map(([id]) => id);

const chatRows = CHATS.flatMap(([id, label, tier]): readonly Variable[] => {
  const name = id.toUpperCase();
  return rows("chats", { perProfile: true, tier }, [
    [`${name}_ALLOWED_USERS`, `platforms.${id}.allowed_users`, `Who may talk on ${label}, CSV`],
    [`${name}_ALLOW_ALL_USERS`, null, `Everybody may talk on ${label}`, FLAG],
    [`${name}_HOME_CHANNEL`, `platforms.${id}.home_channel`, `Chat for what ${label} sends itself`],
  ]);
});

export const VARIABLES: readonly Variable[] = [
  ...rows("models", SECRET, [
    ["OPENROUTER_API_KEY", null, "Key of OpenRouter"],
    ["OPENAI_API_KEY", null, "Key of OpenAI, or of the server that OPENAI_BASE_URL names"],
    ["ANTHROPIC_API_KEY", null, "Key of Anthropic"],
    ["GEMINI_API_KEY", null, "Key of Gemini", LATER],
    ["DEEPSEEK_API_KEY", null, "Key of DeepSeek", LATER],
    ["GROQ_API_KEY", null, "Key of Groq", LATER],
    ["MISTRAL_API_KEY", null, "Key of Mistral", LATER],
    ["XAI_API_KEY", null, "Key of xAI", LATER],
    ["NOUS_API_KEY", null, "Key of Nous Research", LATER],
    ["BRAVE_API_KEY", null, "Key of Brave Search"],
    ["TAVILY_API_KEY", null, "Key of Tavily"],
  ]),
  ...rows("models", {}, [
    ["OPENAI_BASE_URL", null, "Endpoint of the provider openai"],
    ["OLLAMA_HOST", null, "Address of Ollama"],
    ["LM_BASE_URL", null, "Endpoint of LM Studio"],
    ["LLAMACPP_BASE_URL", null, "Endpoint of llama.cpp"],
    ["HERMES_INFERENCE_MODEL", "model.default", "Model id; PROVIDER:ID names both"],
    ["HERMES_INFERENCE_PROVIDER", "model.provider", "Provider id, or auto"],
    ["HERMES_DEMO_DELAY_MS", null, "Pause between two words of the demo model; 15"],
  ]),
  ...rows("agent", {}, [
    ["HERMES_MAX_ITERATIONS", "agent.max_turns", "Tool rounds per turn"],
    ["HERMES_YOLO_MODE", "approvals.mode", "As --yolo", { switch: { on: "off" } }],
    ["HERMES_TUI", "display.interface", "Full screen", { switch: { on: "tui", off: "cli" } }],
    ["HERMES_TUI_RESUME", null, "Id of the session that the full-screen interface opens"],
    ["HERMES_DATABASE_URL", null, "The PostgreSQL store", { secret: true, tier: 2 }],
  ]),
  ...rows("paths", {}, [
    ["HERMES_HOME", null, "Data directory; ~/.hermes, in the image /opt/data"],
    ["HERMES_HOME_MODE", null, "Octal mode that is forced on the home"],
    ["HERMES_WRITE_SAFE_ROOT", null, "Only below these directories (list with :) may tools write"],
    ["HERMES_GATEWAY_LOCK_DIR", null, "Directory of the locks on bot tokens"],
    ["HERMES_WEB_DIST", null, "Directory of the built browser app"],
  ]),
  ...rows("chats", { secret: true, perProfile: true }, [
    ["TELEGRAM_BOT_TOKEN", null, "Bot token; switches Telegram on"],
    ["DISCORD_BOT_TOKEN", null, "Bot token; switches Discord on", LATER],
    ["SLACK_BOT_TOKEN", null, "Bot token; switches Slack on", LATER],
    ["SLACK_APP_TOKEN", null, "App token of Slack's socket mode", LATER],
    ["XMPP_PASSWORD", null, "Password of platforms.xmpp.jid; switches XMPP on"],
    ["API_SERVER_KEY", null, "Bearer of the API server, at least 16 characters"],
    ["WEBHOOK_SECRET", null, "Secret of webhook routes that have none of their own"],
  ]),
  ...chatRows,
  ...rows("chats", { perProfile: true }, [
    ["GATEWAY_ALLOWED_USERS", null, "Who may talk on every platform, CSV"],
    ["GATEWAY_ALLOW_ALL_USERS", null, "Everybody may talk on every platform", FLAG],
    ["API_SERVER_ENABLED", "platforms.api_server.enabled", "Serve the API"],
    ["API_SERVER_HOST", "platforms.api_server.host", "Address of the API server"],
    ["API_SERVER_PORT", "platforms.api_server.port", "Port of the API server"],
    [
      "API_SERVER_CORS_ORIGINS",
      "platforms.api_server.cors_origins",
      "Origins that may call it, CSV",
    ],
    ["API_SERVER_MODEL_NAME", "platforms.api_server.model_name", "Name of the offered model"],
    ["WEBHOOK_ENABLED", "platforms.webhook.enabled", "Serve webhooks"],
    ["WEBHOOK_HOST", "platforms.webhook.host", "Address of the webhook server"],
    ["WEBHOOK_PORT", "platforms.webhook.port", "Port of the webhook server"],
  ]),
  ...rows("dashboard", {}, [
    ["HERMES_DASHBOARD_HOST", null, "Address; 127.0.0.1, in the image 0.0.0.0"],
    ["HERMES_DASHBOARD_PORT", null, "Port; 9119"],
    ["HERMES_DASHBOARD_INSECURE", null, "No login, whatever the address: open to everyone", FLAG],
    ["HERMES_DASHBOARD_PUBLIC_URL", "dashboard.public_url", "Address that browsers use"],
    ["HERMES_DASHBOARD_BASE_PATH", "dashboard.base_path", "Path under which a proxy publishes it"],
    ["HERMES_DASHBOARD_ALLOWED_HOSTS", "dashboard.allowed_hosts", "Further host names, CSV"],
    ["HERMES_DASHBOARD_TRUSTED_PROXIES", "dashboard.trusted_proxies", "Believed proxies, CSV"],
    ["HERMES_DASHBOARD_CORS_ORIGINS", "dashboard.cors_origins", "Other origins that may call, CSV"],
    ["HERMES_DASHBOARD_SESSION_SECRET", "dashboard.session.secret", "Key of the logins", SECRET],
    ["HERMES_DASHBOARD_SESSION_TTL_SECONDS", "dashboard.session.ttl_seconds", "Longest login"],
    ["HERMES_DASHBOARD_SESSION_IDLE_SECONDS", "dashboard.session.idle_seconds", "Unused login"],
    ["HERMES_DASHBOARD_SESSION_TOKEN", null, "Local token, at least 16 characters", SECRET],
    ["HERMES_DASHBOARD_TUI", "dashboard.pty", "Offer the terminal tab"],
    ["HERMES_DASHBOARD_OAUTH_CLIENT_ID", "dashboard.oauth.client_id", "Client id, agent:…"],
    ["HERMES_DASHBOARD_PORTAL_URL", "dashboard.oauth.portal_url", "Address of the portal"],
    ["HERMES_DASHBOARD_OIDC_ISSUER", "dashboard.oauth.self_hosted.issuer", "OIDC issuer"],
    ["HERMES_DASHBOARD_OIDC_CLIENT_ID", "dashboard.oauth.self_hosted.client_id", "OIDC client id"],
    [
      "HERMES_DASHBOARD_OIDC_CLIENT_SECRET",
      "dashboard.oauth.self_hosted.client_secret",
      "OIDC client secret",
      SECRET,
    ],
    ["HERMES_DASHBOARD_OIDC_SCOPES", "dashboard.oauth.self_hosted.scopes", "OIDC scopes"],
    [
      "HERMES_DASHBOARD_OIDC_ID_TOKEN_LEEWAY",
      "dashboard.oauth.self_hosted.id_token_leeway",
      "Forgiven clock difference, seconds",
    ],
    [
      "HERMES_DASHBOARD_OIDC_ALLOWED_USERS",
      "dashboard.oauth.self_hosted.allowed_users",
      "Who may sign in, CSV",
    ],
    [
      "HERMES_DASHBOARD_OIDC_ALLOWED_DOMAINS",
      "dashboard.oauth.self_hosted.allowed_domains",
      "Domains that may sign in, CSV",
    ],
    [
      "HERMES_DASHBOARD_OIDC_ALLOWED_GROUPS",
      "dashboard.oauth.self_hosted.allowed_groups",
      "Groups that may sign in, CSV",
    ],
    ["HERMES_DASHBOARD_BASIC_AUTH_USERNAME", "dashboard.basic_auth.username", "User name"],
    [
      "HERMES_DASHBOARD_BASIC_AUTH_PASSWORD_HASH",
      "dashboard.basic_auth.password_hash",
      "Hash of the password",
      SECRET,
    ],
    ["HERMES_DASHBOARD_BASIC_AUTH_PASSWORD", "dashboard.basic_auth.password", "Password", SECRET],
    [
      "HERMES_DASHBOARD_BASIC_AUTH_SECRET",
      "dashboard.basic_auth.secret",
      "Alias of the session secret",
      SECRET,
    ],
    [
      "HERMES_DASHBOARD_BASIC_AUTH_TTL_SECONDS",
      "dashboard.basic_auth.session_ttl_seconds",
      "Longest login by password",
    ],
    ["HERMES_DASHBOARD_DRAIN_SECRET", null, "Bearer that may drain the gateway", SECRET],
    ["HERMES_METRICS_TOKEN", null, "Bearer that may read /metrics", SECRET],
    ["HERMES_ENABLE_PROJECT_PLUGINS", null, "Plugins of the working directory too", FLAG],
  ]),
  ...rows("container", {}, [
    ["HERMES_UID", null, "Runtime user id"],
    ["HERMES_GID", null, "Runtime group id"],
    ["PUID", null, "As HERMES_UID"],
    ["PGID", null, "As HERMES_GID"],
    ["HERMES_DASHBOARD", null, "Dashboard slot on or off at each boot", FLAG],
    ["HERMES_GATEWAY_PROFILES", null, "Gateways that this container serves: CSV, or none"],
    ["HERMES_HEALTH_PROFILES", null, "Profiles whose gateways count for probe --self, CSV"],
    ["HERMES_DOCKER_SOCKET", null, "Let the runtime user reach Docker's socket", FLAG],
    ["HERMES_GATEWAY_NO_SUPERVISE", null, "gateway run stays in the foreground", FLAG],
    ["HERMES_GATEWAY_BOOTSTRAP_STATE", null, "Desired state of a gateway that never ran"],
    ["GATEWAY_HEALTH_URL", null, "Health address of a gateway in another container"],
    ["HERMES_AUTH_JSON_BOOTSTRAP", null, "First content of auth.json", SECRET],
    ["HERMES_SKIP_CONFIG_MIGRATION", null, "Do not migrate config.yaml at the start", FLAG],
    ["HERMES_STOP_GRACE", null, "Seconds until a stop kills; 10"],
    ["HERMES_LOG_NO_TEE", null, "Do not copy slot logs to the container's output", FLAG],
    ["HERMES_BOOT_LOG", null, "Print what the boot does", FLAG],
    ["HERMES_DOCKER_EXEC_AS_ROOT", null, "Root stays root in the CLI", FLAG],
    ["HERMES_ALLOW_ROOT_GATEWAY", null, "The gateway may run as root", FLAG],
    ["HERMES_SCANDIR", null, "Scan directory of the slots"],
    ["HERMES_PID1_BASE", null, "Set by us: where PID 1 keeps its files"],
    ["HERMES_SLOT", null, "Set by us: name of the slot"],
    ["HERMES_SLOT_DIR", null, "Set by us: directory of the slot"],
    ["HERMES_READY_FD", null, "Set by us: descriptor that gets the readiness byte"],
    ["HERMES_S6_SUPERVISED_CHILD", null, "Set by us: this process runs in a slot", FLAG],
  ]),
  ...rows("usual", {}, [
    ["TZ", null, "Time zone where `timezone` is empty"],
    ["NO_COLOR", null, "No colours"],
    ["FORCE_COLOR", null, "Colours without a terminal too"],
    ["XDG_STATE_HOME", null, "Base of the directory of token locks"],
    ["EDITOR", null, "Program of `config edit`"],
    [
      "HTTP_PROXY",
      null,
      "Proxy for http requests to login providers and of `probe`; lower case wins",
    ],
    ["HTTPS_PROXY", null, "The same for https"],
    ["NO_PROXY", null, "Hosts that are asked directly; loopback always is"],
  ]),
];

const BY_NAME: ReadonlyMap<string, Variable> = new Map(VARIABLES.map((row) => [row.name, row]));

export function variableOf(name: string): Variable | null {
  return BY_NAME.get(name) ?? null;
}

/** Names whose value belongs in `.env` and is never shown: the table's, and own ones that read like it. */
export function isSecretName(name: string): boolean {
  return (
    BY_NAME.get(name)?.secret ??
    /^[A-Z][A-Z0-9_]*_(?:API_KEY|KEY|TOKEN|SECRET|PASSWORD)$/.test(name)
  );
}

/** Names that `.env` may not set: they change which program runs, or widen what it may do (agent.md §2.4). */
const REFUSED_NAMES: ReadonlySet<string> = new Set([
  "PATH",
  "NODE_OPTIONS",
  "NODE_PATH",
  "BASH_ENV",
  "ENV",
  "IFS",
  "SHELL",
  "HOME",
  "EDITOR",
  "HERMES_HOME",
  "HERMES_YOLO_MODE",
  "HERMES_WRITE_SAFE_ROOT",
  "HERMES_DASHBOARD_INSECURE",
  "HERMES_DOCKER_EXEC_AS_ROOT",
  "HERMES_ALLOW_ROOT_GATEWAY",
]);

export function isRefusedName(name: string): boolean {
  return REFUSED_NAMES.has(name) || /^(?:LD_|DYLD_|PYTHON)/.test(name);
}
