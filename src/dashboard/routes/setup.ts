// First run: which model, local servers, a tested key (dashboard.md §11.3).
import * as z from "zod/mini";
import { limiterKey } from "#auth/addresses.ts";
import { createLimiter } from "#auth/limiter.ts";
import type { PathChange } from "#config/old-spellings-write.ts";
import type { LocalServerBody, SetupModelInput } from "#protocol/http-chat.ts";
import { writeEnv, writeSettings } from "../config-files.ts";
import type { ModelTestInput, ModelTestResult, ProfileServices } from "../deps.ts";
import { fail, invalidField } from "../errors.ts";
import type { RequestFacts } from "../facts.ts";
import { json, type Registrars } from "../routing.ts";
import { profileOf, type RouteServices } from "../route-services.ts";
import { word } from "./chat.ts";

const TEST_LIMIT_MS = 25_000;

export function registerSetup(routes: Registrars, services: RouteServices): void {
  const { deps } = services;
  const found = new Map<string, readonly LocalServerBody[]>();
  const limit = () => ({
    limiter: createLimiter({ most: 6, windowMs: 60_000 }, deps.clock),
    key: ({ facts }: { readonly facts: RequestFacts }) => limiterKey(facts.client),
  });

  routes.session("GET /api/setup", {
    async handler(context) {
      const { name, models } = await profileOf(services, context);
      const readiness = models.readiness();
      return json({
        model_ready: readiness.ready,
        reason: readiness.ready ? null : readiness.reason,
        model: readiness.ready ? readiness.model : null,
        provider: readiness.ready ? readiness.provider : null,
        local_servers: found.get(name) ?? [],
        demo_available: true,
      });
    },
  });

  routes.session("POST /api/setup/detect", {
    limit: limit(),
    async handler(context) {
      const { name, models } = await profileOf(services, context);
      const servers = await models.detectLocalServers();
      found.set(name, servers);
      return json({ local_servers: servers });
    },
  });

  routes.session("POST /api/setup/model", {
    limit: limit(),
    body: z.object({
      provider: word,
      model: z.exactOptional(word),
      api_key: z.exactOptional(z.string().check(z.maxLength(4096))),
      base_url: z.exactOptional(z.string().check(z.maxLength(2048))),
    }) satisfies z.ZodMiniType<SetupModelInput>,
    async handler(context) {
      const profile = await profileOf(services, context);
      const input = testInput(context.body);
      const result = await profile.models.test(input, AbortSignal.timeout(TEST_LIMIT_MS));
      if (!result.ok) throw fail(400, "invalid", result.message, { stage: result.stage });
      await saveModel(profile, services, input, result);
      return json({
        ok: true,
        model: result.model,
        provider: result.provider,
        context_window: result.contextWindow,
        latency_ms: Math.round(result.latencyMs),
      });
    },
  });
}

function testInput({
  provider,
  model,
  api_key: key,
  base_url: baseUrl,
}: SetupModelInput): ModelTestInput {
  const apiKey = key?.trim() ?? "";
  if (/[\s\0]/.test(apiKey)) throw invalidField("body", "api_key", "must be one word");
  return {
    provider,
    ...(model === undefined ? {} : { model }),
    ...(apiKey === "" ? {} : { apiKey }),
    ...(baseUrl === undefined || baseUrl.trim() === "" ? {} : { baseUrl: baseUrl.trim() }),
  };
}

/** Key first: a model without its key would not start, a key without its model harms nobody. */
async function saveModel(
  profile: ProfileServices,
  services: RouteServices,
  input: ModelTestInput,
  result: Extract<ModelTestResult, { ok: true }>,
): Promise<void> {
  if (input.apiKey !== undefined && result.keyName !== null) {
    await saveKey(profile, services, result.keyName, input.apiKey);
  }
  await writeSettings(profile, services, [
    { path: ["model", "provider"], value: result.provider },
    { path: ["model", "default"], value: result.model },
    { path: ["model", "base_url"], value: input.baseUrl },
    { path: ["model", "context_length"], value: undefined },
    ...keyNaming(input, result),
  ]);
}

/** A key goes to its provider's own host only; given together with another address it is named for that address. */
function keyNaming(
  input: ModelTestInput,
  result: Extract<ModelTestResult, { ok: true }>,
): readonly PathChange[] {
  if (input.apiKey === undefined || input.baseUrl === undefined || result.keyName === null)
    return [];
  return [{ path: ["providers", result.provider, "key_env"], value: result.keyName }];
}

async function saveKey(
  profile: ProfileServices,
  services: RouteServices,
  name: string,
  value: string,
): Promise<void> {
  const { env } = profile.loaded();
  const source = env.source(name);
  if (env.get(name) === value) return;
  if (source === "env" || source === "file") {
    throw fail(409, "conflict", `${name} is set outside of .env, which wins: change it there`);
  }
  await writeEnv(profile, services, name, value);
}
