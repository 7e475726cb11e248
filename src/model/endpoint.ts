// Which address a provider is called at, and which key may go there (agent.md §3.2, product.md D21).
import { HermesError } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { findProvider, PROVIDERS, type ProviderRow } from "./providers.ts";
import type { ModelSettings, ProviderSettings, SecretReader } from "./settings.ts";

export interface Endpoint {
  /** Without a trailing slash; paths of the wire are appended. */
  readonly baseUrl: string;
  readonly host: string;
  /** Setting or variable that named it; null for the built-in address. */
  readonly setting: string | null;
}

/** The row of a provider: built in, or made from `providers.<id>` with a `base_url`. null when unknown. */
export function providerRow(settings: ModelSettings, name: string): ProviderRow | null {
  const builtIn = findProvider(name);
  const own = settings.providers[builtIn?.id ?? name];
  if (builtIn !== null)
    return own?.api_mode && builtIn.wire !== "none" ? { ...builtIn, wire: own.api_mode } : builtIn;
  return own?.base_url ? configuredRow(name, own) : null;
}

function configuredRow(id: string, own: ProviderSettings): ProviderRow {
  return {
    id,
    label: id,
    wire: own.api_mode ?? "openai-chat",
    baseURL: own.base_url ?? "",
    keyEnv: own.key_env ? [own.key_env] : [],
    host: null,
    baseURLEnv: null,
    local: null,
    aliases: [],
    models: Object.keys(own.models ?? {}),
  };
}

/** Every provider that can be named: built-in ids and those of the configuration. */
export function providerIds(settings: ModelSettings): string[] {
  const own = Object.keys(settings.providers).filter((id) => providerRow(settings, id) !== null);
  return [...new Set([...PROVIDERS.map((row) => row.id), ...own])];
}

/**
 * Address of `row`. `modelBaseUrl` is `model.base_url` or `auxiliary.<task>.base_url` where it applies. Order: that, then
 * `providers.<id>.base_url`, then the provider's variable, then the built-in address. null: none is configured.
 */
export function endpointOf(
  row: ProviderRow,
  settings: ModelSettings,
  secret: SecretReader,
  modelBaseUrl: { readonly setting: string; readonly value: string } | null,
): Endpoint | null {
  const named = namedEndpoint(row, settings, secret, modelBaseUrl);
  const value = named?.value ?? row.baseURL;
  if (value === "") return null;
  return parseEndpoint(value, named?.setting ?? null, row);
}

function namedEndpoint(
  row: ProviderRow,
  settings: ModelSettings,
  secret: SecretReader,
  modelBaseUrl: { readonly setting: string; readonly value: string } | null,
): { readonly setting: string; readonly value: string } | null {
  if (modelBaseUrl !== null && modelBaseUrl.value !== "") return modelBaseUrl;
  const own = settings.providers[row.id]?.base_url;
  if (own) return { setting: `providers.${row.id}.base_url`, value: own };
  const fromEnv = row.baseURLEnv === null ? undefined : secret(row.baseURLEnv);
  return fromEnv ? { setting: row.baseURLEnv ?? "", value: fromEnv } : null;
}

function parseEndpoint(value: string, setting: string | null, row: ProviderRow): Endpoint {
  const url = parseHttpUrl(value, row.local !== null ? defaultPort(row) : null);
  if (url === null) {
    throw new HermesError(
      "BASE_URL_INVALID",
      `${setting} is no http(s) address: ${printable(value)}`,
      {
        exit: EXIT.refused,
        ...(setting === null ? {} : { setting }),
        fix: `Set ${setting} to something like https://host.example/v1`,
      },
    );
  }
  const path = url.pathname.replace(/\/+$/, "");
  const baseUrl = `${url.origin}${row.local !== null && path === "" ? "/v1" : path}`;
  return { baseUrl, host: url.host, setting };
}

/** A URL with user and password in it would end up in messages: it is never shown as it came. */
function printable(value: string): string {
  return value.replace(/\/\/[^/@\s]*@/, "//***@").slice(0, 200);
}

function defaultPort(row: ProviderRow): string {
  return new URL(row.baseURL).port;
}

/**
 * Reads `http(s)://…`; for local servers (`port` given) also what their own variables allow: `host`, `host:port`, `:port`,
 * and 0.0.0.0, which is an address to listen on and means this machine here.
 */
export function parseHttpUrl(value: string, port: string | null): URL | null {
  let text = value.trim();
  if (port !== null && !/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    text = `http://${text.startsWith(":") ? `127.0.0.1${text}` : text}`;
  }
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "") return null;
  if (url.username !== "" || url.password !== "") return null;
  if (port !== null && url.protocol === "http:" && url.port === "" && !/:80(?=\/|$)/.test(text))
    url.port = port;
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  return url;
}

/** Root of a local server (no `/v1`), where its own API is. */
export function localRoot(baseUrl: string): string {
  return baseUrl.replace(/\/v1$/, "");
}

/**
 * Name of the key that may be sent to `endpoint`, or null for none. A key goes only to its provider's registered host over
 * https, unless the user named it for this address: `providers.<id>.key_env` (or `api_key`), a `model.api_key` beside
 * `model.base_url`, or the provider's own address variable set together with its key (`OPENAI_BASE_URL`).
 */
export function keyNameFor(
  row: ProviderRow,
  endpoint: Endpoint,
  settings: ModelSettings,
  secret: SecretReader,
): string | null {
  const own = settings.providers[row.id];
  if (own?.key_env) return own.key_env;
  if (own?.api_key && endpoint.setting !== "model.base_url") return `providers.${row.id}.api_key`;
  if (endpoint.setting === "model.base_url" && settings.model.api_key) return "model.api_key";
  const registered = registeredFor(row, endpoint);
  if (registered === null) return null;
  return (
    registered.keyEnv.find((name) => secret(name)) ??
    yamlKeyName(row, settings) ??
    registered.keyEnv[0] ??
    null
  );
}

function yamlKeyName(row: ProviderRow, settings: ModelSettings): string | null {
  return settings.model.api_key && settings.model.provider === row.id ? "model.api_key" : null;
}

/** The row whose key this address may have. */
function registeredFor(row: ProviderRow, endpoint: Endpoint): ProviderRow | null {
  if (row.keyEnv.length > 0 && endpoint.setting !== null && endpoint.setting === row.baseURLEnv)
    return row;
  if (!endpoint.baseUrl.startsWith("https://")) return null;
  if (row.host === endpoint.host) return row;
  // `custom` pointed at a provider that we know: its own key may go to its own host.
  if (row.id !== "custom") return null;
  return PROVIDERS.find((known) => known.host === endpoint.host) ?? null;
}

/** The key itself; only the code that sends it may ask. */
export function readKey(
  name: string,
  providerId: string,
  settings: ModelSettings,
  secret: SecretReader,
): string | undefined {
  if (name === "model.api_key") return settings.model.api_key || undefined;
  if (name === `providers.${providerId}.api_key`)
    return settings.providers[providerId]?.api_key || undefined;
  return secret(name) || undefined;
}
