// Lists for the model picker (agent.md §3.3, dashboard.md §11.5).
import type { ModelCapabilities } from "./info.ts";
import type { OpenDeps } from "./open.ts";

export interface ModelOption {
  readonly id: string;
  readonly context_window: number;
  readonly capabilities: ModelCapabilities;
}

export interface ProviderOption {
  readonly id: string;
  readonly name: string;
  readonly configured: boolean;
  readonly models: readonly ModelOption[];
}

/** GET /api/model/options. `refresh` asks the providers again even where the cache is fresh. Never throws. */
export async function modelOptions(
  _deps: OpenDeps,
  _options: { readonly includeUnconfigured: boolean; readonly refresh: boolean },
): Promise<{ readonly providers: readonly ProviderOption[] }> {
  return { providers: [] };
}
