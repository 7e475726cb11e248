// How a model is named in settings and flags: `ID`, `PROVIDER:ID`, or an alias (agent.md §2.2, §3.2).
import { providerRow } from "./endpoint.ts";
import type { ModelSettings } from "./settings.ts";

/** `PROVIDER:ID` names both; a colon after a word that is no provider (`qwen3:8b`) belongs to the id. */
export function splitModel(
  settings: ModelSettings,
  text: string,
): { readonly provider: string | null; readonly model: string } {
  const id = resolveAlias(settings, text);
  const colon = id.indexOf(":");
  if (colon <= 0) return { provider: null, model: id };
  const row = providerRow(settings, id.slice(0, colon));
  return row === null
    ? { provider: null, model: id }
    : { provider: row.id, model: id.slice(colon + 1) };
}

export function stripPrefix(settings: ModelSettings, provider: string, id: string): string {
  const split = splitModel(settings, id);
  return split.provider !== null && split.provider === providerRow(settings, provider)?.id
    ? split.model
    : id;
}

export function resolveAlias(settings: ModelSettings, text: string): string {
  const word = text.trim();
  return Object.hasOwn(settings.model.aliases, word)
    ? (settings.model.aliases[word] ?? word).trim()
    : word;
}

export function isAuto(provider: string): boolean {
  return provider.trim() === "" || provider.trim().toLowerCase() === "auto";
}
