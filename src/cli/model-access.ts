// The model room as commands and the dashboard ask it, from one loaded configuration.
import { join } from "node:path";
import type { Redactor } from "#agent/ports/redactor.ts";
import { systemClock } from "#base/clock.ts";
import { messageOf } from "#base/errors.ts";
import { silentLog, type Log } from "#base/log.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import { chooseModel, type ModelChoice, type ModelOverride } from "#model/choose.ts";
import { providerRow } from "#model/endpoint.ts";
import type { OpenDeps } from "#model/open.ts";
import type { ModelSettings, SecretReader } from "#model/settings.ts";

export function secretReader(loaded: LoadedConfig): SecretReader {
  return (name) => loaded.env.get(name);
}

export function openDeps(loaded: LoadedConfig, redactor: Redactor, log: Log = silentLog): OpenDeps {
  const delay = loaded.env.get("HERMES_DEMO_DELAY_MS");
  return {
    settings: loaded.config,
    secret: secretReader(loaded),
    clock: systemClock,
    cacheDir: join(loaded.home, "cache"),
    log,
    demoDelayMs: delay !== undefined && Number(delay) >= 0 ? Number(delay) : undefined,
    redact: (text) => redactor.text(text),
  };
}

export type Readiness =
  | { readonly ready: true; readonly choice: ModelChoice }
  | { readonly ready: false; readonly reason: string };

/** Which model a run would use, or why none. Never throws, asks no network. */
export function readiness(loaded: LoadedConfig, override: ModelOverride = {}): Readiness {
  try {
    return { ready: true, choice: chooseModel(loaded.config, secretReader(loaded), override) };
  } catch (error) {
    return { ready: false, reason: messageOf(error) };
  }
}

export interface Trial {
  readonly provider: string;
  readonly model?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
}

/** Settings and secrets as they would be with what is tried out; nothing is saved. */
export function trialDeps(deps: OpenDeps, trial: Trial): OpenDeps {
  const { provider, apiKey = "", baseUrl = "" } = trial;
  const keyName = keyVariable(deps.settings, provider);
  let { settings } = deps;
  if (baseUrl !== "") settings = withBaseUrl(settings, provider, baseUrl);
  if (apiKey !== "" && keyName === CUSTOM_KEY)
    settings = withProvider(settings, provider, { key_env: CUSTOM_KEY });
  const secret: SecretReader = (name) =>
    apiKey !== "" && name === keyName ? apiKey : deps.secret(name);
  return { ...deps, settings, secret };
}

/** Where the key of an endpoint goes that is no provider of ours. */
export const CUSTOM_KEY = "CUSTOM_API_KEY";

/** Variable that a key of this provider is kept in; null when it needs none. */
export function keyVariable(settings: ModelSettings, provider: string): string | null {
  const own = settings.providers[provider]?.key_env;
  if (own) return own;
  const row = providerRow(settings, provider);
  if (row === null || row.id === "custom") return CUSTOM_KEY;
  return row.keyEnv[0] ?? null;
}

function withBaseUrl(settings: ModelSettings, provider: string, baseUrl: string): ModelSettings {
  if (provider !== "custom") return withProvider(settings, provider, { base_url: baseUrl });
  return { ...settings, model: { ...settings.model, provider: "custom", base_url: baseUrl } };
}

function withProvider(
  settings: ModelSettings,
  provider: string,
  change: ModelSettings["providers"][string],
): ModelSettings {
  const own = { ...settings.providers[provider], ...change };
  return { ...settings, providers: { ...settings.providers, [provider]: own } };
}
