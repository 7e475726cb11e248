// What is known about the configured model without asking anybody: GET /api/model/info (agent.md §3.3, dashboard.md §11.5).
import type { Clock } from "#base/clock.ts";
import { readCatalog } from "./catalog-cache.ts";
import { chooseModel, type ModelChoice, type ModelOverride } from "./choose.ts";
import { DEMO_WINDOW } from "./demo-facts.ts";
import { readRememberedWindow } from "./remembered.ts";
import type { ModelSettings, SecretReader } from "./settings.ts";
import { bundledFacts, DEFAULT_WINDOW } from "./windows.ts";

export interface ModelCapabilities {
  readonly supports_tools: boolean;
  readonly supports_vision: boolean;
  readonly supports_reasoning: boolean;
  readonly context_window: number;
  /** 0 = unknown. */
  readonly max_output_tokens: number;
  readonly model_family: string;
}

export interface ModelInfo {
  readonly model: string;
  readonly provider: string;
  /** Tokens found without `model.context_length`; 0 when no model is configured. */
  readonly auto_context_length: number;
  readonly config_context_length: number;
  readonly effective_context_length: number;
  readonly capabilities: ModelCapabilities | Record<string, never>;
}

export interface InfoDeps {
  readonly settings: ModelSettings;
  readonly secret: SecretReader;
  readonly cacheDir: string;
  readonly clock: Clock;
}

/** Synchronous, never throws, asks no network; no address and no key in it. Zeros when nothing is configured. */
export function modelInfo(deps: InfoDeps, override: ModelOverride = {}): ModelInfo {
  const configured = deps.settings.model.context_length;
  try {
    const choice = chooseModel(deps.settings, deps.secret, override);
    const auto = knownWindow(choice, deps);
    const own = choice.configured && !choice.demo ? configured : 0;
    const effective = own > 0 ? own : auto;
    return {
      model: choice.model,
      provider: choice.provider,
      auto_context_length: auto,
      config_context_length: configured,
      effective_context_length: effective,
      capabilities: capabilitiesOf(choice.provider, choice.model, effective, deps.settings),
    };
  } catch {
    return {
      model: deps.settings.model.default,
      provider: "",
      auto_context_length: 0,
      config_context_length: configured,
      effective_context_length: 0,
      capabilities: {},
    };
  }
}

/** Window from settings of the provider, memory and the bundled table; the network is open.ts's. */
function knownWindow(choice: ModelChoice, deps: InfoDeps): number {
  if (choice.demo) return DEMO_WINDOW;
  const own = deps.settings.providers[choice.provider]?.models?.[choice.model]?.context_length ?? 0;
  if (own > 0) return own;
  const remembered = readRememberedWindow(
    deps.cacheDir,
    choice.provider,
    choice.model,
    deps.clock.now(),
  );
  return (
    remembered ?? listedWindow(choice, deps) ?? bundledFacts(choice.model)?.window ?? DEFAULT_WINDOW
  );
}

/** What OpenRouter's list said when it was last asked. */
function listedWindow(choice: ModelChoice, deps: InfoDeps): number | null {
  if (choice.provider !== "openrouter") return null;
  const rows = readCatalog(deps.cacheDir, choice.baseUrl)?.rows ?? [];
  return rows.find((row) => row.id === choice.model)?.contextLength || null;
}

export function capabilitiesOf(
  provider: string,
  model: string,
  contextWindow: number,
  settings: ModelSettings,
): ModelCapabilities {
  const facts = bundledFacts(model);
  const own = settings.providers[provider]?.models?.[model];
  return {
    supports_tools: own?.tools ?? true,
    supports_vision: own?.vision ?? facts?.vision ?? false,
    supports_reasoning: facts?.reasoning ?? false,
    context_window: contextWindow,
    max_output_tokens: facts?.maxOutput ?? 0,
    model_family: facts?.family ?? "",
  };
}
