// Asks a provider for its models: `GET /models` of both wires (agent.md §3.3), with the provider's own key to its own host.
import type { CatalogRow } from "./catalog-cache.ts";
import type { ModelChoice } from "./choose.ts";
import { at, fetchJson, listAt, tokensOf } from "./json-fetch.ts";

const CATALOG_TIMEOUT_MS = 5000;
const ANTHROPIC_VERSION = "2023-06-01";

/** Where a list comes from: the parts of a choice that matter, without a model. */
export type CatalogSource = Pick<ModelChoice, "wire" | "baseUrl">;

/** null: no answer of that shape in time. Never throws. */
export async function fetchCatalog(
  source: CatalogSource,
  key: string | undefined,
): Promise<readonly CatalogRow[] | null> {
  const url = `${source.baseUrl}/models${source.wire === "anthropic-messages" ? "?limit=1000" : ""}`;
  const list = await fetchJson({
    url,
    timeoutMs: CATALOG_TIMEOUT_MS,
    headers: headersFor(source, key),
  });
  const rows = listAt(list, "data");
  return rows === null ? null : rows.flatMap(toRow);
}

function headersFor(source: CatalogSource, key: string | undefined): Record<string, string> {
  if (source.wire !== "anthropic-messages")
    return key === undefined ? {} : { authorization: `Bearer ${key}` };
  return {
    "anthropic-version": ANTHROPIC_VERSION,
    ...(key === undefined ? {} : { "x-api-key": key }),
  };
}

function toRow(value: unknown): CatalogRow[] {
  const id = at(value, "id");
  if (typeof id !== "string" || id === "") return [];
  return [{ id, contextLength: tokensOf(at(value, "context_length")) ?? 0 }];
}
