// The model picker of `hermes model` and `hermes setup`: local servers that were found, providers, the demo model.
import { EXIT } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import { modelOptions, type ProviderOption } from "#model/catalog.ts";
import { createLocalServerFinder, type FoundServer } from "#model/detect.ts";
import { keyProblem } from "#model/key-shape.ts";
import type { Context } from "./context.ts";
import { isInContainer } from "./in-container.ts";
import { keyVariable, openDeps, secretReader, trialDeps } from "./model-access.ts";
import type { ConfigSource } from "./config-source.ts";
import type { SavedModel } from "./save-model.ts";

const LOCAL = new Set(["ollama", "lmstudio", "llamacpp"]);

/** Asks until a model is chosen. Throws CANCELLED when the user leaves. Saves nothing. */
export async function pickModel(context: Context, source: ConfigSource): Promise<SavedModel> {
  const clack = await import("@clack/prompts");
  const loaded = source.loaded();
  const [servers, { providers }] = await Promise.all([
    findServers(context, loaded),
    modelOptions(openDeps(loaded, source.redactor), { includeUnconfigured: true, refresh: false }),
  ]);
  const provider = answered(
    await clack.select({
      message: "Which model provider?",
      initialValue: loaded.config.model.provider,
      options: providerChoices(providers, servers),
      maxItems: 12,
    }),
  );
  if (provider === "demo") return { provider, model: "demo" };
  const server = servers.find((entry) => entry.kind === provider);
  if (server) return { provider, model: await pickFrom(server.models) };
  const baseUrl = provider === "custom" ? await askUrl(loaded) : undefined;
  const apiKey = await askKey(loaded, provider);
  const trial = trialDeps(openDeps(loaded, source.redactor), { provider, apiKey, baseUrl });
  const fresh = await modelOptions(trial, { includeUnconfigured: true, refresh: apiKey !== "" });
  const models = fresh.providers.find((entry) => entry.id === provider)?.models ?? [];
  const model = await pickFrom(models.map((entry) => entry.id));
  return { provider, model, baseUrl, ...(apiKey === "" ? {} : { apiKey }) };
}

export function findServers(
  context: Context,
  loaded: LoadedConfig,
): Promise<readonly FoundServer[]> {
  const { secret, clock } = openDeps(loaded, { text: (t) => t, value: (v) => v, stream: noStream });
  const inContainer = isInContainer(context.launch);
  return createLocalServerFinder({ secret, clock, inContainer }).find();
}

function noStream(): { push(text: string): string; flush(): string } {
  return { push: (text) => text, flush: () => "" };
}

interface Choice {
  readonly value: string;
  readonly label: string;
  readonly hint: string;
}

const HINTS = {
  nothing: "has what it needs",
  key: "needs a key",
  server: "not running",
  address: "asks for its address",
} as const;

/** What works at once comes first. */
function providerChoices(
  providers: readonly ProviderOption[],
  servers: readonly FoundServer[],
): Choice[] {
  const found = servers.map((server) => ({
    value: server.kind,
    label: server.kind,
    hint: `found at ${server.base_url}, ${server.models.length} models`,
  }));
  const others = providers
    .filter((entry) => entry.id !== "demo" && !LOCAL.has(entry.id))
    .map((entry) => ({
      value: entry.id,
      label: entry.name,
      hint: HINTS[entry.missing ?? "nothing"],
    }));
  const demo = {
    value: "demo",
    label: "Demo model",
    hint: "not an AI; no network, to try the program",
  };
  return [...found, ...others, demo];
}

async function pickFrom(models: readonly string[]): Promise<string> {
  const clack = await import("@clack/prompts");
  const other = "";
  const picked = answered(
    await clack.select({
      message: "Which model?",
      options: [
        ...models.map((value) => ({ value, label: value })),
        { value: other, label: "another id …" },
      ],
      maxItems: 12,
    }),
  );
  if (picked !== other) return picked;
  return answered(
    await clack.text({
      message: "Model id",
      validate: (text) => ((text ?? "").trim() === "" ? "An id, please." : undefined),
    }),
  ).trim();
}

async function askUrl(loaded: LoadedConfig): Promise<string> {
  const clack = await import("@clack/prompts");
  return answered(
    await clack.text({
      message: "Address of the OpenAI-compatible endpoint",
      placeholder: "https://host.example/v1",
      initialValue: loaded.config.model.base_url,
      validate: (text) => (URL.canParse(text ?? "") ? undefined : "That is no address."),
    }),
  );
}

/** "" keeps the key that is set, or goes without one. Read without echo. */
async function askKey(loaded: LoadedConfig, provider: string): Promise<string> {
  const name = keyVariable(loaded.config, provider);
  if (name === null) return "";
  const clack = await import("@clack/prompts");
  const isSet = secretReader(loaded)(name) !== undefined;
  const optional = isSet || provider === "custom";
  const key = answered(
    await clack.password({
      message: `${name}${isSet ? " (empty keeps the one that is set)" : optional ? " (empty: none)" : ""}`,
      validate: (text) =>
        (text ?? "") === "" && optional ? undefined : (keyProblem(text ?? "") ?? undefined),
    }),
  );
  return (key ?? "").trim();
}

/** clack marks Ctrl-C and Esc by a symbol. */
export function answered<T>(value: T): Exclude<T, symbol> {
  if (typeof value !== "symbol") return value as Exclude<T, symbol>;
  throw new HermesError("CANCELLED", "Nothing was changed.", { exit: EXIT.failed });
}
