// From a choice to something that can be called (agent.md §3.1–3.3). Loads the SDK at first use.
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import type { ModelClient, ModelTarget } from "#agent/ports/model-client.ts";
import { findCachedModels } from "./catalog-cache.ts";
import type { ModelChoice } from "./choose.ts";
import { readKey } from "./endpoint.ts";
import type { ErrorSubject } from "./errors.ts";
import { keyProblem } from "./key-shape.ts";
import { findProvider, type Wire } from "./providers.ts";
import { keyMalformed, windowTooSmall } from "./refusals.ts";
import type { ModelSettings, SecretReader } from "./settings.ts";
import { resolveWindow } from "./window.ts";
import { bundledFacts, SMALLEST_WINDOW } from "./windows.ts";

export interface OpenDeps {
  readonly settings: ModelSettings;
  readonly secret: SecretReader;
  readonly clock: Clock;
  /** `cache/` of the home. */
  readonly cacheDir: string;
  readonly log: Log;
  /** HERMES_DEMO_DELAY_MS as a number; undefined: 15. */
  readonly demoDelayMs?: number | undefined;
  /** Takes secrets out of text that goes to logs or messages. The key that is sent is always taken out. */
  readonly redact?: ((text: string) => string) | undefined;
}

const SECOND_MS = 1000;
/** Watchdogs of agent.md §3.4, and what local servers get instead (§3.2). */
const FIRST_BYTE_SECONDS = { remote: 120, local: 900 } as const;
const CHUNK_SECONDS = { remote: 180, local: 600 } as const;
/** Most output tokens that are asked for on the Anthropic wire unless `model.max_output_tokens` says otherwise. */
const ANTHROPIC_OUTPUT_LIMIT = 16_384;

/** Throws HermesError (78) `CONTEXT_TOO_SMALL` for a window below 8192 tokens, `KEY_MALFORMED` for a key that no header can hold. */
export async function openTarget(choice: ModelChoice, deps: OpenDeps): Promise<ModelTarget> {
  const contextWindow = await resolveWindow(choice, deps);
  if (contextWindow < SMALLEST_WINDOW)
    throw windowTooSmall(choice.model, contextWindow, SMALLEST_WINDOW);
  const maxOutputTokens = outputLimit(choice, deps.settings);
  const own = deps.settings.providers[choice.provider];
  const place = choice.local === null ? "remote" : "local";
  return {
    provider: choice.provider,
    model: choice.model,
    client: await openClient(choice, deps, maxOutputTokens),
    contextWindow,
    maxOutputTokens,
    firstByteTimeoutMs: (own?.request_timeout_seconds || FIRST_BYTE_SECONDS[place]) * SECOND_MS,
    chunkTimeoutMs: (own?.stale_timeout_seconds || CHUNK_SECONDS[place]) * SECOND_MS,
    replaysReasoning: choice.wire === "anthropic-messages",
    demo: choice.demo,
  };
}

async function openClient(
  choice: ModelChoice,
  deps: OpenDeps,
  maxOutputTokens: number | null,
): Promise<ModelClient> {
  if (choice.wire === "demo") {
    const { createDemoClient } = await import("./demo.ts");
    return createDemoClient({ clock: deps.clock, delayMs: deps.demoDelayMs });
  }
  return openSdk(choice, choice.wire, deps, maxOutputTokens);
}

async function openSdk(
  choice: ModelChoice,
  wire: Wire,
  deps: OpenDeps,
  maxOutputTokens: number | null,
): Promise<ModelClient> {
  const { createSdkClient } = await import("./sdk.ts");
  const own = deps.settings.providers[choice.provider];
  const apiKey = keyOf(choice, deps);
  return createSdkClient({
    provider: choice.provider,
    model: choice.model,
    wire,
    baseUrl: choice.baseUrl,
    apiKey,
    extraHeaders: own?.extra_headers ?? {},
    extraBody: own?.extra_body ?? {},
    maxOutputTokens,
    subject: subjectOf(choice, deps, apiKey),
  });
}

/** The key of a choice. One that cannot stand in a header is refused here: the HTTP client's own error would quote it. */
function keyOf(choice: ModelChoice, deps: OpenDeps): string | undefined {
  if (choice.keyName === null) return undefined;
  const key = readKey(choice.keyName, choice.provider, deps.settings, deps.secret)?.trim();
  const problem = key === undefined ? null : keyProblem(key);
  if (problem !== null) throw keyMalformed(choice.keyName, problem);
  return key;
}

function subjectOf(choice: ModelChoice, deps: OpenDeps, apiKey: string | undefined): ErrorSubject {
  return {
    provider: choice.provider,
    label: choice.label,
    host: choice.host,
    model: choice.model,
    keyName: choice.keyName,
    knownModels: knownModels(choice, deps),
    redact: redactorOf(apiKey, deps.redact),
    nowMs: () => deps.clock.now(),
  };
}

function knownModels(choice: ModelChoice, deps: OpenDeps): readonly string[] {
  const cached = findCachedModels(deps.cacheDir, choice.baseUrl) ?? [];
  return [...(findProvider(choice.provider)?.models ?? []), ...cached];
}

function redactorOf(
  apiKey: string | undefined,
  redact: OpenDeps["redact"],
): (text: string) => string {
  return (text) => {
    const own =
      apiKey === undefined || apiKey.length < 4 ? text : text.replaceAll(apiKey, "[REDACTED]");
    return redact === undefined ? own : redact(own);
  };
}

/** `model.max_output_tokens`, else the catalogue (at most 16384) on the Anthropic wire, else the provider decides. */
function outputLimit(choice: ModelChoice, settings: ModelSettings): number | null {
  if (choice.configured && settings.model.max_output_tokens > 0)
    return settings.model.max_output_tokens;
  if (choice.wire !== "anthropic-messages") return null;
  const known = bundledFacts(choice.model)?.maxOutput || ANTHROPIC_OUTPUT_LIMIT;
  return Math.min(known, ANTHROPIC_OUTPUT_LIMIT);
}
