// Settings, keys and models (dashboard.md §11.5).

/** Stands for a secret value that is set; sent back it means "unchanged". */
export const SECRET_SET = "__set__";

/**
 * GET /api/config: the settings with `model` flattened to its name, `model_context_length` (0 = automatic), keys that
 * start with `_` dropped and secret fields as `__set__`. The answer carries an ETag.
 */
export type ConfigBody = Readonly<Record<string, unknown>>;

/** PUT /api/config, with `If-Match` = the ETag. */
export interface PutConfigInput {
  readonly config: Readonly<Record<string, unknown>>;
}

export interface RawConfigBody {
  /** "" without a file. */
  readonly yaml: string;
}

export interface PutRawConfigInput {
  readonly yaml_text: string;
}

export interface ConfigField {
  readonly type: "boolean" | "number" | "list" | "object" | "string" | "select";
  readonly description: string;
  readonly category: string;
  readonly options?: readonly string[];
}

/** GET /api/config/schema: every leaf by its dotted path, in order. */
export interface ConfigSchemaBody {
  readonly fields: Readonly<Record<string, ConfigField>>;
  readonly category_order: readonly string[];
}

/** GET /api/config/defaults */
export type ConfigDefaultsBody = Readonly<Record<string, unknown>>;

export interface EnvEntry {
  readonly is_set: boolean;
  /** `…` and at most the last four characters; null when unset. Values are never returned. */
  readonly redacted_value: string | null;
  readonly description: string;
  readonly url: string | null;
  readonly category: string;
  readonly is_password: boolean;
  readonly tools: readonly string[];
  readonly advanced: boolean;
  readonly channel_managed: boolean;
  /** In `.env`, but not a variable that we know. */
  readonly custom: boolean;
  /** `env` and `file` are read-only here. null when unset. */
  readonly source: "env" | "file" | ".env" | null;
}

/** GET /api/env: by variable name. */
export type EnvBody = Readonly<Record<string, EnvEntry>>;

export interface PutEnvInput {
  readonly key: string;
  readonly value: string;
}

export interface EnvKeyInput {
  readonly key: string;
}

export interface EnvChangedBody {
  readonly ok: true;
  readonly key: string;
}

export interface EnvRevealBody {
  readonly key: string;
  readonly value: string;
}

export interface ModelCapabilities {
  readonly supports_tools: boolean;
  readonly supports_vision: boolean;
  readonly supports_reasoning: boolean;
  readonly context_window: number;
  readonly max_output_tokens: number | null;
  readonly model_family: string;
}

/** GET /api/model/info: never fails, zeros and "" when nothing is configured. */
export interface ModelInfoBody {
  readonly model: string;
  readonly provider: string;
  readonly auto_context_length: number;
  readonly config_context_length: number;
  readonly effective_context_length: number;
  readonly capabilities: ModelCapabilities | Readonly<Record<string, never>>;
}

/** GET /api/model/options?include_unconfigured&refresh: at most 50 models each. */
export interface ModelOptionsBody {
  readonly providers: readonly {
    readonly id: string;
    readonly name: string;
    readonly configured: boolean;
    /** null when `configured`. */
    readonly missing: "key" | "server" | "address" | null;
    readonly models: readonly {
      readonly id: string;
      readonly context_window: number | null;
      readonly capabilities: Readonly<Record<string, unknown>>;
    }[];
  }[];
}

export interface AuxiliaryModelsBody {
  readonly tasks: readonly {
    readonly task: string;
    readonly provider: string;
    readonly model: string;
    readonly base_url: string;
  }[];
  readonly main: { readonly provider: string; readonly model: string };
}

/** `task`: "" = all of them; `__reset__` = all back to automatic. */
export interface SetModelInput {
  readonly scope: "main" | "auxiliary";
  readonly provider?: string;
  readonly model?: string;
  readonly task?: string;
}

export interface SetModelBody {
  readonly ok: true;
  readonly applies: "new sessions";
}
