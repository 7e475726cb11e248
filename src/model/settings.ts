// The parts of the configuration that this room needs, spelled as in YAML (agent.md §2.2). Config fits it by shape.
import type { ReasoningEffort } from "#agent/ports/model-client.ts";

export type ApiMode = "openai-chat" | "anthropic-messages";

/** `providers.<id>.models.<m>`. */
export interface ModelEntrySettings {
  /** Window in tokens; 0 or absent: find out. */
  readonly context_length?: number | undefined;
  readonly tools?: boolean | undefined;
  readonly vision?: boolean | undefined;
}

/** `providers.<id>`: changes a built-in provider, or makes a new one when it has a `base_url`. */
export interface ProviderSettings {
  readonly base_url?: string | undefined;
  /** Name of the variable that holds the key; naming it lets the key go to `base_url`. */
  readonly key_env?: string | undefined;
  /** Old spelling: the key itself in YAML. */
  readonly api_key?: string | undefined;
  readonly api_mode?: ApiMode | undefined;
  readonly extra_headers?: Readonly<Record<string, string>> | undefined;
  readonly extra_body?: Readonly<Record<string, unknown>> | undefined;
  readonly request_timeout_seconds?: number | undefined;
  readonly stale_timeout_seconds?: number | undefined;
  readonly models?: Readonly<Record<string, ModelEntrySettings>> | undefined;
}

export interface AuxiliarySettings {
  readonly provider: string;
  readonly model: string;
  readonly base_url: string;
  /** Seconds for the whole call. */
  readonly timeout: number;
}

export interface ModelSettings {
  readonly model: {
    readonly default: string;
    readonly provider: string;
    readonly base_url: string;
    readonly context_length: number;
    readonly max_output_tokens: number;
    readonly aliases: Readonly<Record<string, string>>;
    /** Old spelling: the key itself in YAML. */
    readonly api_key?: string | undefined;
  };
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  readonly fallback_providers: readonly { readonly provider: string; readonly model: string }[];
  readonly auxiliary: Readonly<Record<string, AuxiliarySettings>>;
  readonly agent: { readonly reasoning_effort: ReasoningEffort };
  readonly model_catalog: { readonly enabled: boolean; readonly ttl_hours: number };
}

/** Reads a variable of the effective environment: keys, and endpoints such as `OLLAMA_HOST`. Empty counts as unset. */
export type SecretReader = (name: string) => string | undefined;
