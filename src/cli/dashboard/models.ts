// What the dashboard may ask the model room, for one profile (dashboard/deps.ts).
import { join } from "node:path";
import { systemClock } from "#base/clock.ts";
import { isHermesError, messageOf } from "#base/errors.ts";
import type { Log } from "#base/log.ts";
import type { ModelHelpers, ModelTestInput, ModelTestResult } from "#dashboard/deps.ts";
import { chooseModel } from "#model/choose.ts";
import { modelInfo } from "#model/info.ts";
import type { OpenDeps } from "#model/open.ts";
import type { ConfigSource } from "../config-source.ts";
import type { Context } from "../context.ts";
import { keyVariable, openDeps, readiness, secretReader, trialDeps } from "../model-access.ts";

export function modelHelpers(context: Context, config: ConfigSource, log: Log): ModelHelpers {
  const deps = (): OpenDeps => openDeps(config.loaded(), config.redactor, log);
  return {
    info() {
      const loaded = config.loaded();
      return modelInfo({
        settings: loaded.config,
        secret: secretReader(loaded),
        cacheDir: join(loaded.home, "cache"),
        clock: systemClock,
      });
    },
    readiness() {
      const state = readiness(config.loaded());
      if (!state.ready) return state;
      const { provider, model, demo } = state.choice;
      return { ready: true, provider, model, demo };
    },
    isProvider(id) {
      const loaded = config.loaded();
      try {
        chooseModel(loaded.config, secretReader(loaded), { provider: id, model: "any" });
        return true;
      } catch (error) {
        return !isHermesError(error, "PROVIDER_UNKNOWN");
      }
    },
    async options(query) {
      const { modelOptions } = await import("#model/catalog.ts");
      const { providers } = await modelOptions(deps(), query);
      return {
        providers: providers.map((entry) => ({
          ...entry,
          models: entry.models.map((model) => ({
            ...model,
            capabilities: { ...model.capabilities },
          })),
        })),
      };
    },
    async detectLocalServers() {
      const { findServers } = await import("../pick-model.ts");
      return findServers(context, config.loaded());
    },
    test: (input, signal) => testInput(deps(), input, signal),
  };
}

async function testInput(
  deps: OpenDeps,
  input: ModelTestInput,
  signal: AbortSignal,
): Promise<ModelTestResult> {
  const { provider, apiKey, baseUrl } = input;
  const trial = trialDeps(deps, { provider, apiKey, baseUrl });
  try {
    const model = input.model ?? (await firstModel(trial, provider));
    const choice = chooseModel(trial.settings, trial.secret, { provider, model });
    const { testModel } = await import("#model/probe.ts");
    const result = await endedBy(signal, testModel(choice, trial));
    if (!result.ok) return { ok: false, stage: result.stage, message: result.message };
    return {
      ok: true,
      provider: choice.provider,
      model: choice.model,
      contextWindow: result.context_window,
      latencyMs: result.latency_ms,
      keyName: choice.keyName ?? (apiKey ? keyVariable(trial.settings, provider) : null),
    };
  } catch (error) {
    const stage = isHermesError(error, "CREDENTIAL_MISSING") ? "auth" : "model";
    return { ok: false, stage, message: deps.redact?.(messageOf(error)) ?? messageOf(error) };
  }
}

/** What the provider lists first; undefined leaves the refusal to the choice. */
async function firstModel(deps: OpenDeps, provider: string): Promise<string | undefined> {
  const { modelOptions } = await import("#model/catalog.ts");
  const { providers } = await modelOptions(deps, { includeUnconfigured: true, refresh: false });
  return providers.find((entry) => entry.id === provider)?.models[0]?.id;
}

/** The test itself ends after 20 s; whoever asked may be gone earlier. */
function endedBy<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new Error("nobody waits for the answer any more"));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
