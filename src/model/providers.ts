// The providers that come with Hermes, as data (agent.md §3.2). `providers.<id>` in the configuration changes or adds rows.

export type Wire = "openai-chat" | "anthropic-messages";
export type LocalKind = "ollama" | "lmstudio" | "llamacpp";

export interface ProviderRow {
  readonly id: string;
  readonly label: string;
  /** `none`: no HTTP at all (the demo model). */
  readonly wire: Wire | "none";
  /** Root of the API; for local servers the address where they are found by themselves. Empty: has to be configured. */
  readonly baseURL: string;
  /** Variables that hold the key, first set one wins. Empty: needs no key. */
  readonly keyEnv: readonly string[];
  /** The only host that gets the key, over https; null where there is none. */
  readonly host: string | null;
  /** Variable that names another endpoint. */
  readonly baseURLEnv: string | null;
  readonly local: LocalKind | null;
  readonly aliases: readonly string[];
  /** Bundled list for the picker; the first is what a bare key gets. */
  readonly models: readonly string[];
}

export const PROVIDERS: readonly ProviderRow[] = [
  {
    id: "openrouter",
    label: "OpenRouter",
    wire: "openai-chat",
    baseURL: "https://openrouter.ai/api/v1",
    keyEnv: ["OPENROUTER_API_KEY"],
    host: "openrouter.ai",
    baseURLEnv: null,
    local: null,
    aliases: ["open-router"],
    models: [
      "anthropic/claude-sonnet-5.5",
      "anthropic/claude-opus-5.5",
      "anthropic/claude-haiku-5.5",
      "openai/gpt-5.5",
      "openai/gpt-5.4-mini",
      "google/gemini-3.5-flash",
      "deepseek/deepseek-v3.2",
      "moonshotai/kimi-k2.6",
    ],
  },
  {
    id: "openai",
    label: "OpenAI",
    wire: "openai-chat",
    baseURL: "https://api.openai.com/v1",
    keyEnv: ["OPENAI_API_KEY"],
    host: "api.openai.com",
    baseURLEnv: "OPENAI_BASE_URL",
    local: null,
    aliases: [],
    models: ["gpt-5.5", "gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano", "gpt-5", "gpt-4.1", "o3"],
  },
  {
    id: "anthropic",
    label: "Anthropic",
    wire: "anthropic-messages",
    baseURL: "https://api.anthropic.com/v1",
    keyEnv: ["ANTHROPIC_API_KEY"],
    host: "api.anthropic.com",
    baseURLEnv: null,
    local: null,
    aliases: ["claude"],
    models: [
      "claude-sonnet-5-5",
      "claude-opus-5-5",
      "claude-haiku-5-5",
      "claude-opus-4-8",
      "claude-sonnet-4-6",
      "claude-haiku-4-5",
    ],
  },
  {
    id: "ollama",
    label: "Ollama",
    wire: "openai-chat",
    baseURL: "http://127.0.0.1:11434",
    keyEnv: [],
    host: null,
    baseURLEnv: "OLLAMA_HOST",
    local: "ollama",
    aliases: [],
    models: [],
  },
  {
    id: "lmstudio",
    label: "LM Studio",
    wire: "openai-chat",
    baseURL: "http://127.0.0.1:1234",
    keyEnv: [],
    host: null,
    baseURLEnv: "LM_BASE_URL",
    local: "lmstudio",
    aliases: ["lm-studio"],
    models: [],
  },
  {
    id: "llamacpp",
    label: "llama.cpp",
    wire: "openai-chat",
    baseURL: "http://127.0.0.1:8080",
    keyEnv: [],
    host: null,
    baseURLEnv: "LLAMACPP_BASE_URL",
    local: "llamacpp",
    aliases: ["llama.cpp", "llama-cpp"],
    models: [],
  },
  {
    id: "custom",
    label: "Custom endpoint",
    wire: "openai-chat",
    baseURL: "",
    keyEnv: [],
    host: null,
    baseURLEnv: null,
    local: null,
    aliases: [],
    models: [],
  },
  {
    id: "demo",
    label: "Demo model (not an AI)",
    wire: "none",
    baseURL: "",
    keyEnv: [],
    host: null,
    baseURLEnv: null,
    local: null,
    aliases: [],
    models: ["demo"],
  },
];

/** The built-in row of an id or alias, in any case. */
export function findProvider(name: string): ProviderRow | null {
  const word = name.trim().toLowerCase();
  return PROVIDERS.find((row) => row.id === word || row.aliases.includes(word)) ?? null;
}
