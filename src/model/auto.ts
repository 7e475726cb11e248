// Which provider `auto` means when only keys can tell (agent.md §3.2, steps 3 to 5).
import type { ChoiceSource } from "./choose.ts";
import { providerIds, providerRow } from "./endpoint.ts";
import type { ProviderRow } from "./providers.ts";
import { ambiguous, notConfigured } from "./refusals.ts";
import type { ModelSettings, SecretReader } from "./settings.ts";

/** Throws MODEL_NOT_CONFIGURED without any key, MODEL_AMBIGUOUS where several fit. Never a local server nor the demo. */
export function byKeys(
  settings: ModelSettings,
  secret: SecretReader,
  id: string,
): { readonly row: ProviderRow; readonly source: ChoiceSource } {
  const ready = providersWithKey(settings, secret);
  const [only] = ready;
  if (only === undefined) throw notConfigured();
  if (ready.length === 1) return { row: only, source: "only-key" };
  const wanted = providerOfModelName(id);
  const row = ready.find((candidate) => candidate.id === wanted);
  if (row === undefined)
    throw ambiguous(
      id,
      ready.map((candidate) => candidate.id),
    );
  return { row, source: "model-name" };
}

/** Providers that need a key and have one, in the order of the table. */
export function providersWithKey(
  settings: ModelSettings,
  secret: SecretReader,
): readonly ProviderRow[] {
  return providerIds(settings).flatMap((id) => {
    const row = providerRow(settings, id);
    if (row === null || row.local !== null || row.id === "demo") return [];
    const names = [settings.providers[row.id]?.key_env ?? "", ...row.keyEnv];
    const inYaml = Boolean(settings.providers[row.id]?.api_key);
    return inYaml || names.some((name) => name !== "" && Boolean(secret(name))) ? [row] : [];
  });
}

function providerOfModelName(id: string): string | null {
  if (id.includes("/")) return "openrouter";
  if (/^claude/i.test(id)) return "anthropic";
  return /^(gpt|o[0-9])/i.test(id) ? "openai" : null;
}
