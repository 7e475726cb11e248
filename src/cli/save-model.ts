// Saving the default model, and a key beside it (agent.md §1.3 `model`).
import { setEnvValue } from "#config/env-write.ts";
import { applyConfigChanges } from "#config/write.ts";
import type { PathChange } from "#config/old-spellings-write.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import { configTarget } from "./config-target.ts";
import type { Launch } from "./context.ts";
import { CUSTOM_KEY, keyVariable } from "./model-access.ts";

export interface SavedModel {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl?: string | undefined;
  /** Variable that holds the key of this provider from now on. */
  readonly keyEnv?: string | undefined;
  /** Goes to `.env`. */
  readonly apiKey?: string | undefined;
}

/** The key first: a model without its key would be worse than a key without its model. Returns what was written where. */
export async function saveModel(
  launch: Launch,
  loaded: LoadedConfig,
  saved: SavedModel,
): Promise<readonly string[]> {
  const target = configTarget(launch);
  const notes: string[] = [];
  const keyName = saved.keyEnv ?? keyVariable(loaded.config, saved.provider);
  if (saved.apiKey !== undefined && saved.apiKey !== "" && keyName !== null) {
    await setEnvValue(target, keyName, saved.apiKey);
    notes.push(`${keyName} is saved in ${loaded.envPath}.`);
  }
  await applyConfigChanges(target, changesFor(loaded, saved, keyName));
  notes.push(`${saved.provider}:${saved.model} is the model now (${loaded.path}).`);
  return notes;
}

function changesFor(
  { config }: LoadedConfig,
  saved: SavedModel,
  keyName: string | null,
): readonly PathChange[] {
  const { provider, model, baseUrl } = saved;
  const isCustom = provider === "custom";
  const changes: PathChange[] = [
    { path: ["model", "provider"], value: provider },
    { path: ["model", "default"], value: model },
  ];
  if (isCustom && baseUrl !== undefined)
    changes.push({ path: ["model", "base_url"], value: baseUrl });
  if (!isCustom && config.model.base_url !== "")
    changes.push({ path: ["model", "base_url"], value: undefined });
  if (!isCustom && baseUrl !== undefined)
    changes.push({ path: ["providers", provider, "base_url"], value: baseUrl });
  // The window that was set belonged to the model before.
  if (config.model.context_length > 0 && config.model.default !== model) {
    changes.push({ path: ["model", "context_length"], value: undefined });
  }
  const namesKey = saved.keyEnv !== undefined || (keyName === CUSTOM_KEY && Boolean(saved.apiKey));
  if (namesKey) changes.push({ path: ["providers", provider, "key_env"], value: keyName });
  return changes;
}
