// Lists for the model picker: provider, then cache, then what is bundled (agent.md §3.3, dashboard.md §11.5).
import { providersWithKey } from "./auto.ts";
import { readCatalog, writeCatalog, type CatalogRow } from "./catalog-cache.ts";
import { fetchCatalog } from "./catalog-fetch.ts";
import { chooseModel } from "./choose.ts";
import { DEMO_WINDOW } from "./demo-facts.ts";
import {
  endpointOf,
  keyNameFor,
  localRoot,
  providerIds,
  providerRow,
  readKey,
  type Endpoint,
} from "./endpoint.ts";
import { capabilitiesOf, type ModelCapabilities } from "./info.ts";
import { fetchLocalModels } from "./local-servers.ts";
import type { OpenDeps } from "./open.ts";
import type { ProviderRow } from "./providers.ts";
import type { FoundServer } from "./refusals.ts";
import { bundledFacts, DEFAULT_WINDOW } from "./windows.ts";

export interface ModelOption {
  readonly id: string;
  readonly context_window: number;
  readonly capabilities: ModelCapabilities;
}

export interface ProviderOption {
  readonly id: string;
  readonly name: string;
  /** Can be used as it is: has its key, needs none, or is the one that is set. */
  readonly configured: boolean;
  /** What it lacks to be used: a key, a local server that runs, or its address; null when `configured`. */
  readonly missing: "key" | "server" | "address" | null;
  readonly models: readonly ModelOption[];
}

export interface OptionsRequest {
  /** Also providers that lack a key, with their bundled list. */
  readonly includeUnconfigured: boolean;
  /** Ask the providers even where the cache is fresh. */
  readonly refresh: boolean;
  /** Only this one. */
  readonly provider?: string | undefined;
  /** Local servers that were found: they count as configured. */
  readonly found?: readonly FoundServer[];
}

const MOST_MODELS = 50;
const HOUR_MS = 3_600_000;
const LOCAL_TIMEOUT_MS = 2000;

/** GET /api/model/options: at most 50 models each. Providers are asked at the same time, 5 s each. Never throws. */
export async function modelOptions(
  deps: OpenDeps,
  request: OptionsRequest,
): Promise<{ readonly providers: readonly ProviderOption[] }> {
  const current = currentProvider(deps);
  const ready = new Set(providersWithKey(deps.settings, deps.secret).map((row) => row.id));
  const rows = providerIds(deps.settings)
    .map((id) => providerRow(deps.settings, id))
    .filter((row) => row !== null)
    .filter(
      (row) =>
        request.provider === undefined ||
        row.id === providerRow(deps.settings, request.provider)?.id,
    );
  const wanted = rows
    .map((row) => ({
      row,
      configured:
        ready.has(row.id) || row.id === current || isAtHand(row, deps, request.found ?? []),
    }))
    .filter(({ configured }) => configured || request.includeUnconfigured);
  const providers = await Promise.all(
    wanted.map(({ row, configured }) => optionOf(row, configured, deps, request)),
  );
  return { providers };
}

function currentProvider(deps: OpenDeps): string | null {
  try {
    return chooseModel(deps.settings, deps.secret).provider;
  } catch {
    return null;
  }
}

/** Needs no key: the demo, a local server that was found or that a setting names, an endpoint of the user's own without a key. */
function isAtHand(row: ProviderRow, deps: OpenDeps, found: readonly FoundServer[]): boolean {
  if (row.id === "demo") return true;
  const own = deps.settings.providers[row.id];
  if (row.local !== null) {
    const named = own?.base_url || (row.baseURLEnv !== null && deps.secret(row.baseURLEnv));
    return Boolean(named) || found.some((server) => server.kind === row.local);
  }
  return row.host === null && Boolean(own?.base_url) && row.keyEnv.length === 0;
}

async function optionOf(
  row: ProviderRow,
  configured: boolean,
  deps: OpenDeps,
  request: OptionsRequest,
): Promise<ProviderOption> {
  const found = request.found?.find((server) => server.kind === row.local);
  const listed =
    found?.models.map(bare) ?? (configured ? await listOf(row, deps, request.refresh) : null);
  const rows = chatModels(row, listed ?? row.models.map(bare)).slice(0, MOST_MODELS);
  return {
    id: row.id,
    name: row.label,
    configured,
    missing: configured ? null : lackOf(row),
    models: rows.map((model) => toOption(row, model, deps)),
  };
}

function lackOf(row: ProviderRow): "key" | "server" | "address" {
  if (row.local !== null) return "server";
  return row.baseURL === "" ? "address" : "key";
}

function bare(id: string): CatalogRow {
  return { id, contextLength: 0 };
}

function toOption(row: ProviderRow, model: CatalogRow, deps: OpenDeps): ModelOption {
  const own = deps.settings.providers[row.id]?.models?.[model.id]?.context_length ?? 0;
  const bundled = bundledFacts(model.id)?.window ?? DEFAULT_WINDOW;
  const window = row.id === "demo" ? DEMO_WINDOW : own || model.contextLength || bundled;
  return {
    id: model.id,
    context_window: window,
    capabilities: capabilitiesOf(row.id, model.id, window, deps.settings),
  };
}

/** null: nobody said anything, ever. */
async function listOf(
  row: ProviderRow,
  deps: OpenDeps,
  refresh: boolean,
): Promise<readonly CatalogRow[] | null> {
  const endpoint = endpointOrNull(row, deps);
  if (endpoint === null) return null;
  const cached = readCatalog(deps.cacheDir, endpoint.baseUrl);
  const { enabled, ttl_hours: ttlHours } = deps.settings.model_catalog;
  const isFresh = cached !== null && deps.clock.now() - cached.at < ttlHours * HOUR_MS;
  if (!enabled || (isFresh && !refresh)) return cached?.rows ?? null;
  const rows = await ask(row, endpoint, deps);
  if (rows === null || rows.length === 0) return cached?.rows ?? null;
  writeCatalog(deps.cacheDir, endpoint.baseUrl, { at: deps.clock.now(), rows });
  return rows;
}

function endpointOrNull(row: ProviderRow, deps: OpenDeps): Endpoint | null {
  const { model } = deps.settings;
  const isNamed = row.id === "custom" || providerRow(deps.settings, model.provider)?.id === row.id;
  const named =
    isNamed && model.base_url !== "" ? { setting: "model.base_url", value: model.base_url } : null;
  try {
    return endpointOf(row, deps.settings, deps.secret, named);
  } catch {
    return null;
  }
}

async function ask(
  row: ProviderRow,
  endpoint: Endpoint,
  deps: OpenDeps,
): Promise<readonly CatalogRow[] | null> {
  if (row.wire === "none") return null;
  if (row.local !== null) {
    const ids = await fetchLocalModels(row.local, localRoot(endpoint.baseUrl), LOCAL_TIMEOUT_MS);
    return ids?.map(bare) ?? null;
  }
  const name = keyNameFor(row, endpoint, deps.settings, deps.secret);
  const key = name === null ? undefined : readKey(name, row.id, deps.settings, deps.secret);
  return fetchCatalog({ wire: row.wire, baseUrl: endpoint.baseUrl }, key);
}

const NO_CHAT =
  /audio|realtime|transcribe|tts|image|embed|search|instruct|moderation|whisper|dall-e|sora/i;

/** Bundled ids that the list has come first; OpenAI's own list is mostly not for chat. */
function chatModels(row: ProviderRow, listed: readonly CatalogRow[]): readonly CatalogRow[] {
  const usable =
    row.host === "api.openai.com"
      ? listed.filter((model) => /^(gpt|o\d|chatgpt)/i.test(model.id) && !NO_CHAT.test(model.id))
      : listed;
  const rank = (model: CatalogRow): number => {
    const at = row.models.indexOf(model.id);
    return at < 0 ? row.models.length : at;
  };
  return usable.toSorted((a, b) => rank(a) - rank(b));
}
