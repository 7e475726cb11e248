// Which model a run uses, from settings and keys alone: no network (agent.md §3.2).
import { byKeys } from "./auto.ts";
import { endpointOf, keyNameFor, providerIds, providerRow, readKey } from "./endpoint.ts";
import { isAuto, resolveAlias, splitModel, stripPrefix } from "./model-names.ts";
import type { LocalKind, ProviderRow, Wire } from "./providers.ts";
import {
  baseUrlMissing,
  credentialMissing,
  demoRefused,
  modelMissing,
  unknownProvider,
} from "./refusals.ts";
import type { AuxiliarySettings, ModelSettings, SecretReader } from "./settings.ts";

/** What decided: a flag, `model.*`, `model.base_url`, the only key, the model's name, or a list of others. */
export type ChoiceSource =
  | "flag"
  | "config"
  | "base-url"
  | "only-key"
  | "model-name"
  | "fallback"
  | "auxiliary";

/** A model that can be called. Holds the name of the key, never the key. */
export interface ModelChoice {
  readonly provider: string;
  readonly model: string;
  /** Provider's name for people. */
  readonly label: string;
  readonly wire: Wire | "demo";
  /** Empty for the demo model. */
  readonly baseUrl: string;
  /** `host[:port]`, for messages. */
  readonly host: string;
  /** Variable or setting whose key is sent; null: none is. */
  readonly keyName: string | null;
  readonly local: LocalKind | null;
  readonly demo: boolean;
  /** True for the model that `model.*` describes: its `context_length` and `max_output_tokens` hold. */
  readonly configured: boolean;
  readonly source: ChoiceSource;
}

/** Flags of one run. */
export interface ModelOverride {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

interface Named {
  readonly row: ProviderRow;
  readonly model: string;
  readonly source: ChoiceSource;
  /** Setting to name when the model is missing. */
  readonly modelSetting: string;
  /** The endpoint that the setting beside it names. */
  readonly baseUrl: { readonly setting: string; readonly value: string } | null;
}

/**
 * The model of a run. Throws HermesError (exit 78) `MODEL_NOT_CONFIGURED`, `MODEL_AMBIGUOUS`, `PROVIDER_UNKNOWN`,
 * `CREDENTIAL_MISSING`, `BASE_URL_MISSING` or `BASE_URL_INVALID`.
 */
export function chooseModel(
  settings: ModelSettings,
  secret: SecretReader,
  override: ModelOverride = {},
): ModelChoice {
  const named =
    fromFlags(settings, secret, override) ?? fromConfig(settings, secret, settings.model.default);
  return finish(named, settings, secret);
}

/** The n-th entry of `fallback_providers`; null when there are no more. Throws when it cannot be used; `demo` is DEMO_REFUSED. */
export function chooseFallback(
  settings: ModelSettings,
  secret: SecretReader,
  index: number,
): ModelChoice | null {
  const entry = settings.fallback_providers[index];
  if (entry === undefined) return null;
  const setting = `fallback_providers[${index}]`;
  const row = knownRow(settings, entry.provider, `${setting}.provider`);
  if (row.id === "demo") throw demoRefused(setting);
  const named = {
    row,
    model: entry.model,
    source: "fallback",
    modelSetting: `${setting}.model`,
    baseUrl: ownBaseUrl(settings, row),
  } as const;
  return finish(named, settings, secret);
}

/** `auxiliary.<task>`: what is not set there is the main model's. The demo model serves no other model. */
export function chooseAuxiliary(
  settings: ModelSettings,
  secret: SecretReader,
  task: string,
  main: ModelChoice,
): ModelChoice {
  const own = settings.auxiliary[task];
  if (own === undefined || isUnset(own)) return main;
  const named = auxiliaryNamed(settings, task, own, main);
  if (named.row.id === "demo" && !main.demo) throw demoRefused(`auxiliary.${task}.provider`);
  return finish(named, settings, secret);
}

/** Limit of a whole auxiliary call in milliseconds. */
export function auxiliaryTimeoutMs(settings: ModelSettings, task: string): number {
  return (settings.auxiliary[task]?.timeout ?? 60) * 1000;
}

function isUnset(own: AuxiliarySettings): boolean {
  return isAuto(own.provider) && own.model === "" && own.base_url === "";
}

function auxiliaryNamed(
  settings: ModelSettings,
  task: string,
  own: AuxiliarySettings,
  main: ModelChoice,
): Named {
  const setting = `auxiliary.${task}`;
  const split = splitModel(settings, own.model);
  const provider = isAuto(own.provider)
    ? (split.provider ?? (own.base_url === "" ? main.provider : "custom"))
    : own.provider;
  const row = knownRow(settings, provider, `${setting}.provider`);
  const sameAsMain = row.id === main.provider;
  const model = split.model === "" && sameAsMain ? main.model : split.model;
  const baseUrl =
    own.base_url === ""
      ? ownBaseUrl(settings, row)
      : { setting: `${setting}.base_url`, value: own.base_url };
  return { row, model, source: "auxiliary", modelSetting: `${setting}.model`, baseUrl };
}

function fromFlags(
  settings: ModelSettings,
  secret: SecretReader,
  override: ModelOverride,
): Named | null {
  const flagProvider = override.provider ?? "";
  const flagModel = resolveAlias(settings, override.model ?? "");
  if (isAuto(flagProvider) && flagModel === "") return null;
  if (!isAuto(flagProvider))
    return flagNamed(settings, flagProvider, stripPrefix(settings, flagProvider, flagModel));
  if (flagModel === "demo") return flagNamed(settings, "demo", "demo");
  const split = splitModel(settings, flagModel);
  if (split.provider !== null) return flagNamed(settings, split.provider, split.model);
  return { ...fromConfig(settings, secret, flagModel), source: "flag", modelSetting: "--model" };
}

function flagNamed(settings: ModelSettings, provider: string, model: string): Named {
  const row = knownRow(settings, provider, "--provider");
  const own = isAuto(settings.model.provider)
    ? null
    : providerRow(settings, settings.model.provider);
  const usesConfigured = model === "" && own?.id === row.id;
  return {
    row,
    model: usesConfigured ? splitModel(settings, settings.model.default).model : model,
    source: "flag",
    modelSetting: "--model",
    baseUrl: ownBaseUrl(settings, row),
  };
}

/** The order of agent.md §3.2 for `model.*`; `model` is the flag's or the configured id. */
function fromConfig(settings: ModelSettings, secret: SecretReader, model: string): Named {
  const id = resolveAlias(settings, model);
  const common = { modelSetting: "model.default" };
  const { provider } = settings.model;
  if (!isAuto(provider)) {
    const row = knownRow(settings, provider, "model.provider");
    return {
      ...common,
      row,
      model: stripPrefix(settings, provider, id),
      source: "config",
      baseUrl: ownBaseUrl(settings, row),
    };
  }
  if (settings.model.base_url !== "") {
    const row = knownRow(settings, "custom", "model.provider");
    return {
      ...common,
      row,
      model: stripPrefix(settings, "custom", id),
      source: "base-url",
      baseUrl: ownBaseUrl(settings, row),
    };
  }
  const split = splitModel(settings, id);
  if (split.provider === "demo") throw demoRefused("model.default");
  if (split.provider !== null) {
    const row = knownRow(settings, split.provider, "model.default");
    return { ...common, row, model: split.model, source: "config", baseUrl: null };
  }
  return { ...common, ...byKeys(settings, secret, id), model: id, baseUrl: null };
}

/** `model.base_url` belongs to the provider that `model.provider` names, and to `custom`. */
function ownBaseUrl(settings: ModelSettings, row: ProviderRow): Named["baseUrl"] {
  const named = isAuto(settings.model.provider)
    ? "custom"
    : providerRow(settings, settings.model.provider)?.id;
  if (settings.model.base_url === "" || (row.id !== named && row.id !== "custom")) return null;
  return { setting: "model.base_url", value: settings.model.base_url };
}

function knownRow(settings: ModelSettings, name: string, setting: string): ProviderRow {
  const row = providerRow(settings, name);
  if (row === null) throw unknownProvider(name, setting, providerIds(settings));
  return row;
}

function finish(named: Named, settings: ModelSettings, secret: SecretReader): ModelChoice {
  const { row, source } = named;
  if (row.wire === "none") return demoChoice(row, source);
  const endpoint = endpointOf(row, settings, secret, named.baseUrl);
  if (endpoint === null) throw baseUrlMissing(row.id);
  const model = named.model || defaultModel(row);
  if (model === null) throw modelMissing(row.id, named.modelSetting);
  const keyName = keyNameFor(row, endpoint, settings, secret);
  if (keyName !== null && readKey(keyName, row.id, settings, secret) === undefined) {
    if (row.keyEnv.length > 0 || settings.providers[row.id]?.key_env)
      throw credentialMissing(row.id, row.label, [keyName]);
  }
  return {
    provider: row.id,
    model,
    label: row.label,
    wire: row.wire,
    baseUrl: endpoint.baseUrl,
    host: endpoint.host,
    keyName:
      keyName !== null && readKey(keyName, row.id, settings, secret) !== undefined ? keyName : null,
    local: row.local,
    demo: false,
    configured: isConfigured(settings, named, model),
    source,
  };
}

function defaultModel(row: ProviderRow): string | null {
  return row.models[0] ?? null;
}

function isConfigured(settings: ModelSettings, named: Named, model: string): boolean {
  if (named.source === "fallback" || named.source === "auxiliary") return false;
  if (named.source !== "flag") return true;
  return model === splitModel(settings, settings.model.default).model;
}

function demoChoice(row: ProviderRow, source: ChoiceSource): ModelChoice {
  return {
    provider: row.id,
    model: "demo",
    label: row.label,
    wire: "demo",
    baseUrl: "",
    host: "",
    keyName: null,
    local: null,
    demo: true,
    configured: source !== "fallback" && source !== "auxiliary",
    source,
  };
}
