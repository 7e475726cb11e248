// How each local server lists its models and tells its window (agent.md §3.2, table of local servers).
import { at, fetchJson, listAt, tokensOf } from "./json-fetch.ts";
import type { LocalKind } from "./providers.ts";

type ListModels = (root: string, timeoutMs: number) => Promise<readonly string[] | null>;
type AskWindow = (root: string, model: string, timeoutMs: number) => Promise<number | null>;

const LIST: Readonly<Record<LocalKind, ListModels>> = {
  ollama: fetchOllamaModels,
  lmstudio: fetchLmStudioModels,
  llamacpp: fetchLlamaCppModels,
};

const WINDOW: Readonly<Record<LocalKind, AskWindow>> = {
  ollama: fetchOllamaWindow,
  lmstudio: fetchLmStudioWindow,
  llamacpp: (root, _model, timeoutMs) => fetchLlamaCppWindow(root, timeoutMs),
};

/** Model ids, or null when the answer is not of that server's shape. `root` has no `/v1`. */
export function fetchLocalModels(
  kind: LocalKind,
  root: string,
  timeoutMs: number,
): Promise<readonly string[] | null> {
  return LIST[kind](root, timeoutMs);
}

/** Context window of `model` in tokens as the server tells it, or null. */
export function fetchLocalWindow(
  kind: LocalKind,
  root: string,
  model: string,
  timeoutMs: number,
): Promise<number | null> {
  return WINDOW[kind](root, model, timeoutMs);
}

async function fetchOllamaModels(
  root: string,
  timeoutMs: number,
): Promise<readonly string[] | null> {
  return namesOf(listAt(await fetchJson({ url: `${root}/api/tags`, timeoutMs }), "models"), "name");
}

async function fetchLmStudioModels(
  root: string,
  timeoutMs: number,
): Promise<readonly string[] | null> {
  const rows = listAt(await fetchJson({ url: `${root}/api/v0/models`, timeoutMs }), "data");
  const chat = rows?.filter((row) => ["llm", "vlm"].includes(String(at(row, "type"))));
  return namesOf(chat ?? null, "id");
}

async function fetchLmStudioWindow(
  root: string,
  model: string,
  timeoutMs: number,
): Promise<number | null> {
  const rows = listAt(await fetchJson({ url: `${root}/api/v0/models`, timeoutMs }), "data");
  const row = rows?.find((candidate) => at(candidate, "id") === model);
  return tokensOf(at(row, "loaded_context_length")) ?? tokensOf(at(row, "max_context_length"));
}

/** Many servers answer /v1/models; only llama.cpp has /props with its window. */
async function fetchLlamaCppModels(
  root: string,
  timeoutMs: number,
): Promise<readonly string[] | null> {
  const [list, window] = await Promise.all([
    fetchJson({ url: `${root}/v1/models`, timeoutMs }),
    fetchLlamaCppWindow(root, timeoutMs),
  ]);
  return window === null ? null : namesOf(listAt(list, "data"), "id");
}

function namesOf(rows: readonly unknown[] | null, key: string): readonly string[] | null {
  if (rows === null) return null;
  const names = rows.map((row) => at(row, key));
  return names.every((name): name is string => typeof name === "string" && name !== "")
    ? names
    : null;
}

/** What is loaded (`/api/ps`) beats what the model could do (`/api/show`). */
async function fetchOllamaWindow(
  root: string,
  model: string,
  timeoutMs: number,
): Promise<number | null> {
  const [loaded, shown] = await Promise.all([
    fetchJson({ url: `${root}/api/ps`, timeoutMs }),
    fetchJson({ url: `${root}/api/show`, timeoutMs, body: { model } }),
  ]);
  const row = listAt(loaded, "models")?.find((candidate) =>
    isOllamaName(at(candidate, "name"), model),
  );
  const info = at(shown, "model_info");
  const architecture = at(info, "general.architecture");
  const trained =
    typeof architecture === "string" ? at(info, `${architecture}.context_length`) : undefined;
  return tokensOf(at(row, "context_length")) ?? tokensOf(trained);
}

/** Ollama adds `:latest` to a name without a tag. */
function isOllamaName(name: unknown, model: string): boolean {
  return name === model || name === `${model}:latest`;
}

async function fetchLlamaCppWindow(root: string, timeoutMs: number): Promise<number | null> {
  const props = await fetchJson({ url: `${root}/props`, timeoutMs });
  return tokensOf(at(props, "default_generation_settings", "n_ctx"));
}
