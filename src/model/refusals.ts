// What is said when no model can be used: one sentence each, with the ways out (agent.md §3.2, exit 78).
import { HermesError } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { nearestWords } from "#base/text.ts";

/** A local server that answered (detect.ts). */
export interface FoundServer {
  readonly kind: "ollama" | "lmstudio" | "llamacpp";
  readonly base_url: string;
  readonly models: readonly string[];
}

const LOCAL_LABELS = { ollama: "Ollama", lmstudio: "LM Studio", llamacpp: "llama.cpp" } as const;

/** The three ways out. `found` comes from those commands that look for local servers. */
export function notConfigured(found: readonly FoundServer[] = []): HermesError {
  const local =
    found.length > 0
      ? `use the local server found: ${found.map((server) => `${LOCAL_LABELS[server.kind]} at ${server.base_url}`).join(", ")} (hermes model)`
      : "use a local server, Ollama, LM Studio or llama.cpp (hermes model finds it)";
  return new HermesError(
    "MODEL_NOT_CONFIGURED",
    "No model is configured: no provider has a key and model.provider is auto.",
    {
      exit: EXIT.refused,
      setting: "model.provider",
      fix: `Paste a key (hermes config set OPENROUTER_API_KEY -), or ${local}, or try the built-in demo (hermes model --demo).`,
    },
  );
}

export function modelMissing(provider: string, setting: string): HermesError {
  return new HermesError(
    "MODEL_NOT_CONFIGURED",
    `Provider ${provider} is set but ${setting} is empty.`,
    {
      exit: EXIT.refused,
      setting,
      fix: `Set it: hermes model set ${provider} MODEL (hermes model list --provider ${provider} shows what there is).`,
    },
  );
}

export function ambiguous(model: string, candidates: readonly string[]): HermesError {
  const what =
    model === "" ? "model.default is empty" : `model ${model} fits none of them by its name`;
  return new HermesError(
    "MODEL_AMBIGUOUS",
    `model.provider is auto, ${what}, and several providers have a key: ${candidates.join(", ")}.`,
    {
      exit: EXIT.refused,
      setting: "model.provider",
      fix: `Name one: hermes model set ${candidates[0] ?? "PROVIDER"} MODEL, or --provider ${candidates.join("|")}.`,
      data: { candidates },
    },
  );
}

export function unknownProvider(
  name: string,
  setting: string,
  known: readonly string[],
): HermesError {
  const near = nearestWords(name, known);
  return new HermesError(
    "PROVIDER_UNKNOWN",
    `${setting} names an unknown provider: ${name.slice(0, 80)}.`,
    {
      exit: EXIT.refused,
      setting,
      fix: `${near.length > 0 ? `Did you mean ${near.join(", ")}? ` : ""}Known: ${known.join(", ")}; another one needs providers.${/^[\w-]+$/.test(name) ? name : "<id>"}.base_url.`,
      data: { known },
    },
  );
}

export function credentialMissing(
  provider: string,
  label: string,
  names: readonly string[],
): HermesError {
  const name = names[0] ?? "its key";
  return new HermesError(
    "CREDENTIAL_MISSING",
    `${label} needs a key and ${names.join(" or ")} is not set.`,
    {
      exit: EXIT.refused,
      setting: name,
      fix: `Set it: hermes config set ${name} - (reads it from stdin), or ${name}_FILE, or choose another provider with hermes model.`,
      data: { provider },
    },
  );
}

export function keyMalformed(name: string, problem: string): HermesError {
  return new HermesError("KEY_MALFORMED", `${name} cannot be sent. ${problem}`, {
    exit: EXIT.refused,
    setting: name,
    fix: `Set it again: hermes config set ${name} - (reads it from stdin).`,
  });
}

export function baseUrlMissing(provider: string): HermesError {
  const setting = provider === "custom" ? "model.base_url" : `providers.${provider}.base_url`;
  return new HermesError(
    "BASE_URL_MISSING",
    `Provider ${provider} needs an address and ${setting} is empty.`,
    {
      exit: EXIT.refused,
      setting,
      fix: `Set it: hermes model set ${provider} MODEL --base-url https://host.example/v1`,
    },
  );
}

export function demoRefused(setting: string): HermesError {
  return new HermesError(
    "DEMO_REFUSED",
    `${setting} names the demo model, which is not an AI and never stands in for one.`,
    {
      exit: EXIT.refused,
      setting,
      fix: "Name a real provider there, or choose the demo for everything with hermes model --demo.",
    },
  );
}

export function windowTooSmall(model: string, tokens: number, smallest: number): HermesError {
  return new HermesError(
    "CONTEXT_TOO_SMALL",
    `Model ${model} has a context window of ${tokens} tokens; an agent needs at least ${smallest}.`,
    {
      exit: EXIT.refused,
      setting: "model.context_length",
      fix: "Load the model with a larger context, choose another one, or correct model.context_length if the number is wrong.",
      data: { tokens },
    },
  );
}
