// cache/model_catalog.json: the lists that providers gave, by address (agent.md §3.3).
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";

export interface CatalogRow {
  readonly id: string;
  /** Tokens; 0 = the list does not say. */
  readonly contextLength: number;
}

export interface CatalogEntry {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly rows: readonly CatalogRow[];
}

const FILE = "model_catalog.json";
const MOST_ADDRESSES = 50;

/** What `baseUrl` listed, however old; null when never. Never throws. */
export function readCatalog(cacheDir: string, baseUrl: string): CatalogEntry | null {
  return readAll(cacheDir)[baseUrl] ?? null;
}

export function findCachedModels(cacheDir: string, baseUrl: string): readonly string[] | null {
  return readCatalog(cacheDir, baseUrl)?.rows.map((row) => row.id) ?? null;
}

/** Never throws: a list that cannot be kept is asked for again. */
export function writeCatalog(cacheDir: string, baseUrl: string, entry: CatalogEntry): void {
  try {
    const others = Object.entries(readAll(cacheDir)).filter(([address]) => address !== baseUrl);
    const all = Object.fromEntries([...others.slice(-(MOST_ADDRESSES - 1)), [baseUrl, entry]]);
    mkdirSync(cacheDir, { recursive: true, mode: 0o700 });
    writeFileAtomic(join(cacheDir, FILE), JSON.stringify(all), { mode: 0o600 });
  } catch {
    // Nothing to do: see above.
  }
}

function readAll(cacheDir: string): Readonly<Record<string, CatalogEntry>> {
  try {
    const value: unknown = JSON.parse(readFileSync(join(cacheDir, FILE), "utf8"));
    if (typeof value !== "object" || value === null) return {};
    return Object.fromEntries(
      Object.entries(value).filter((pair): pair is [string, CatalogEntry] => isEntry(pair[1])),
    );
  } catch {
    return {};
  }
}

function isEntry(value: unknown): value is CatalogEntry {
  if (typeof value !== "object" || value === null) return false;
  const { at, rows } = value as Record<string, unknown>;
  return typeof at === "number" && Array.isArray(rows) && rows.every(isRow);
}

function isRow(value: unknown): value is CatalogRow {
  if (typeof value !== "object" || value === null) return false;
  const { id, contextLength } = value as Record<string, unknown>;
  return typeof id === "string" && typeof contextLength === "number";
}
