// Settings of the model room with their defaults, and a target for the scripted server.
import { systemClock } from "#base/clock.ts";
import { silentLog } from "#base/log.ts";
import type { ModelEvent, ModelRequest, ModelTarget } from "#agent/ports/model-client.ts";
import { chooseModel, type ModelOverride } from "#model/choose.ts";
import { openTarget, type OpenDeps } from "#model/open.ts";
import type { ModelSettings, SecretReader } from "#model/settings.ts";

/** The defaults of agent.md §2.2 with parts replaced. */
export function modelSettings(
  changes: Partial<Omit<ModelSettings, "model">> & {
    readonly model?: Partial<ModelSettings["model"]>;
  } = {},
): ModelSettings {
  const { model, ...rest } = changes;
  return {
    model: {
      default: "",
      provider: "auto",
      base_url: "",
      context_length: 0,
      max_output_tokens: 0,
      aliases: {},
      ...model,
    },
    providers: {},
    fallback_providers: [],
    auxiliary: {},
    agent: { reasoning_effort: "" },
    model_catalog: { enabled: true, ttl_hours: 24 },
    ...rest,
  };
}

export function secrets(values: Readonly<Record<string, string>> = {}): SecretReader {
  return (name) => values[name];
}

/** Settings that send the given wire to a scripted server with the key `test-key-0123456789`. */
export function settingsFor(
  wire: "openai-chat" | "anthropic-messages",
  baseUrl: string,
  model = "test-model",
): ModelSettings {
  const provider = wire === "openai-chat" ? "custom" : "anthropic";
  return modelSettings({
    model: { default: model, provider, context_length: 100_000, base_url: baseUrl },
    providers: { [provider]: { key_env: "TEST_KEY" } },
  });
}

export const TEST_KEY = "test-key-0123456789";

export function openDeps(
  settings: ModelSettings,
  cacheDir: string,
  changes: Partial<OpenDeps> = {},
): OpenDeps {
  return {
    settings,
    secret: secrets({ TEST_KEY }),
    clock: systemClock,
    cacheDir,
    log: silentLog,
    ...changes,
  };
}

export function openTestTarget(deps: OpenDeps, override: ModelOverride = {}): Promise<ModelTarget> {
  return openTarget(chooseModel(deps.settings, deps.secret, override), deps);
}

export function modelRequest(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: "You are a test.",
    messages: [{ role: "user", text: "hello" }],
    tools: [],
    toolChoice: "auto",
    effort: "",
    maxOutputTokens: null,
    signal: new AbortController().signal,
    ...changes,
  };
}

export async function collect(stream: AsyncIterable<ModelEvent>): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

/** Text deltas joined. */
export function textOf(events: readonly ModelEvent[]): string {
  return events.flatMap((event) => (event.type === "text-delta" ? [event.text] : [])).join("");
}
