// Context windows learned from providers' errors and from local servers: cache/context_windows.json (agent.md §3.3).
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";

/** `error`: named by a refused request; `server`: told by the server itself. */
export type WindowOrigin = "error" | "server";

interface Entry {
  readonly tokens: number;
  readonly from: WindowOrigin;
  /** Milliseconds since 1970. */
  readonly at: number;
}

const FILE = "context_windows.json";
const HOUR_MS = 3_600_000;
/** A server can be restarted with another window, so what it said holds an hour; what an error said, a month. */
const LIFE_MS: Readonly<Record<WindowOrigin, number>> = {
  server: HOUR_MS,
  error: 30 * 24 * HOUR_MS,
};
const MOST_ENTRIES = 500;

/** Tokens, or null. Never throws: a damaged or missing file knows nothing. */
export function readRememberedWindow(
  cacheDir: string,
  provider: string,
  model: string,
  nowMs: number,
): number | null {
  const entry = readEntries(cacheDir)[keyOf(provider, model)];
  if (entry === undefined) return null;
  const age = nowMs - entry.at;
  return age >= 0 && age < LIFE_MS[entry.from] ? entry.tokens : null;
}

/** Never throws: a cache that cannot be written is no reason to fail a turn. Returns false then. */
export function rememberWindow(
  cacheDir: string,
  provider: string,
  model: string,
  found: { readonly tokens: number; readonly from: WindowOrigin; readonly nowMs: number },
): boolean {
  if (!Number.isSafeInteger(found.tokens) || found.tokens <= 0) return false;
  try {
    const others = Object.entries(readEntries(cacheDir)).filter(
      ([key]) => key !== keyOf(provider, model),
    );
    const kept = others.slice(-(MOST_ENTRIES - 1));
    const entry: Entry = { tokens: found.tokens, from: found.from, at: found.nowMs };
    const entries = Object.fromEntries([...kept, [keyOf(provider, model), entry]]);
    mkdirSync(cacheDir, { recursive: true, mode: 0o700 });
    writeFileAtomic(join(cacheDir, FILE), `${JSON.stringify(entries, null, 2)}\n`, { mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

function keyOf(provider: string, model: string): string {
  return `${provider}:${model}`;
}

function readEntries(cacheDir: string): Readonly<Record<string, Entry>> {
  try {
    const value: unknown = JSON.parse(readFileSync(join(cacheDir, FILE), "utf8"));
    if (typeof value !== "object" || value === null) return {};
    return Object.fromEntries(
      Object.entries(value).filter((pair): pair is [string, Entry] => isEntry(pair[1])),
    );
  } catch {
    return {};
  }
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== "object" || value === null) return false;
  const { tokens, from, at } = value as Record<string, unknown>;
  return (
    Number.isSafeInteger(tokens) &&
    (tokens as number) > 0 &&
    (from === "error" || from === "server") &&
    typeof at === "number"
  );
}
