// Context window of a chosen model, first hit wins (agent.md §3.3). May ask a local server or OpenRouter.
import { readCatalog, writeCatalog } from "./catalog-cache.ts";
import { fetchCatalog } from "./catalog-fetch.ts";
import type { ModelChoice } from "./choose.ts";
import { DEMO_WINDOW } from "./demo-facts.ts";
import { localRoot } from "./endpoint.ts";
import { fetchLocalWindow } from "./local-servers.ts";
import type { OpenDeps } from "./open.ts";
import { readRememberedWindow, rememberWindow } from "./remembered.ts";
import { bundledFacts, DEFAULT_WINDOW } from "./windows.ts";

const LOCAL_TIMEOUT_MS = 2000;
const DAY_MS = 24 * 3_600_000;
/** Models of which it was said that their window is a guess; once per process. */
const guessed = new Set<string>();

/** Tokens. Never throws. */
export async function resolveWindow(choice: ModelChoice, deps: OpenDeps): Promise<number> {
  if (choice.demo) return DEMO_WINDOW;
  return (
    fromSettings(choice, deps) ??
    readRememberedWindow(deps.cacheDir, choice.provider, choice.model, deps.clock.now()) ??
    (await fromLocalServer(choice, deps)) ??
    (await fromOpenRouter(choice, deps)) ??
    bundledFacts(choice.model)?.window ??
    guess(choice, deps)
  );
}

function fromSettings(choice: ModelChoice, { settings }: OpenDeps): number | null {
  if (choice.configured && settings.model.context_length > 0) return settings.model.context_length;
  const own = settings.providers[choice.provider]?.models?.[choice.model]?.context_length ?? 0;
  return own > 0 ? own : null;
}

async function fromLocalServer(choice: ModelChoice, deps: OpenDeps): Promise<number | null> {
  if (choice.local === null) return null;
  const root = localRoot(choice.baseUrl);
  const tokens = await fetchLocalWindow(choice.local, root, choice.model, LOCAL_TIMEOUT_MS);
  if (tokens !== null) {
    rememberWindow(deps.cacheDir, choice.provider, choice.model, {
      tokens,
      from: "server",
      nowMs: deps.clock.now(),
    });
  }
  return tokens;
}

/** Its list is public, so no key goes with the question. */
async function fromOpenRouter(choice: ModelChoice, deps: OpenDeps): Promise<number | null> {
  if (choice.provider !== "openrouter") return null;
  const cached = readCatalog(deps.cacheDir, choice.baseUrl);
  const isFresh = cached !== null && deps.clock.now() - cached.at < DAY_MS;
  const rows = isFresh ? cached.rows : ((await refresh(choice, deps)) ?? cached?.rows ?? []);
  const tokens = rows.find((row) => row.id === choice.model)?.contextLength ?? 0;
  return tokens > 0 ? tokens : null;
}

async function refresh(choice: ModelChoice, deps: OpenDeps) {
  const rows = await fetchCatalog(choice, undefined);
  if (rows !== null) writeCatalog(deps.cacheDir, choice.baseUrl, { at: deps.clock.now(), rows });
  return rows;
}

function guess(choice: ModelChoice, deps: OpenDeps): number {
  const name = `${choice.provider}:${choice.model}`;
  if (!guessed.has(name)) {
    guessed.add(name);
    deps.log.warn(
      `The context window of ${name} is unknown; ${DEFAULT_WINDOW} tokens are assumed. Set model.context_length if it is another.`,
    );
  }
  return DEFAULT_WINDOW;
}
