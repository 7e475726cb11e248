// Settings of models: which one, how to reach it, and the small jobs beside the conversation (agent.md §2.2, §3).
import * as z from "zod/mini";
import { entry, inCategory, isIn, section } from "./leaf.ts";
import { isTimeZone } from "./value-rules.ts";

const general = inCategory("general");
const auxiliary = inCategory("auxiliary");

const seconds = z.number().check(...isIn(0, 86_400));
const tokens = z.int().check(...isIn(0, 100_000_000));

export const modelSection = section({
  default: general.text("", "Model id; PROVIDER:ID names both"),
  provider: general.text("auto", "Provider id, or auto: the one that has a key"),
  base_url: general.text("", "Any OpenAI-compatible endpoint; sets provider custom"),
  context_length: general.int(0, [0, 100_000_000], "Context window in tokens; 0 = find out"),
  max_output_tokens: general.int(
    0,
    [0, 10_000_000],
    "Longest answer in tokens; 0 = leave it to the catalogue or the provider",
  ),
  aliases: general.mapOf(z.string(), "Short name → PROVIDER:ID"),
  api_key: general.optional(z.string(), "Old spelling of the key; move it to .env", {
    secret: true,
    hidden: true,
  }),
});

const providerModel = entry({
  context_length: general.optional(tokens, "Context window in tokens"),
  tools: general.optional(z.boolean(), "May be offered tools"),
  vision: general.optional(z.boolean(), "Takes images"),
});

const provider = entry({
  base_url: general.optional(z.string(), "Endpoint"),
  key_env: general.optional(
    z.string(),
    "Name of the variable with the key; lets it go to base_url",
  ),
  api_key: general.optional(z.string(), "Old spelling of the key; move it to .env", {
    secret: true,
    hidden: true,
  }),
  api_mode: general.optional(z.enum(["openai-chat", "anthropic-messages"]), "Wire format"),
  extra_headers: general.optional(
    z.record(z.string(), z.string()),
    "Headers added to each request",
    { secret: true },
  ),
  extra_body: general.optional(z.record(z.string(), z.unknown()), "Fields added to each request"),
  request_timeout_seconds: general.optional(seconds, "Longest wait for the first byte"),
  stale_timeout_seconds: general.optional(seconds, "Longest silence within a stream"),
  models: general.optional(z.record(z.string(), providerModel), "Facts about single models"),
});

export const providersLeaf = general.mapOf(
  provider,
  "Own providers and changes to built-in ones, by id: base_url, key_env, api_mode, extra_headers, extra_body, request_timeout_seconds, stale_timeout_seconds, models",
);

export const fallbackLeaf = general.listOf(
  entry({ provider: z.string(), model: z.string() }),
  "Models to go on with when the first one fails, in order: {provider, model}",
  { expects: "a list of {provider, model}" },
);

export const timezoneLeaf = general.checkedText(
  "",
  "IANA time zone of schedules and of the date in the prompt; empty = TZ or UTC",
  { expects: 'an IANA name such as "Europe/Berlin"', accepts: isTimeZone },
);

export const modelCatalogSection = section({
  enabled: general.flag(true, "May the model picker ask the network"),
  ttl_hours: general.int(24, [0, 8760], "How long a fetched list of models is used, in hours"),
});

function auxiliaryTask(what: string) {
  return section({
    provider: auxiliary.text("auto", `Provider that ${what}; auto = that of the conversation`),
    model: auxiliary.text("", `Model that ${what}; empty = that of the conversation`),
    base_url: auxiliary.text("", `Endpoint of the model that ${what}`),
    timeout: auxiliary.int(60, [1, 3600], `Longest time for the model that ${what}, in seconds`),
  });
}

export const auxiliarySection = section({
  compression: auxiliaryTask("summarises long conversations"),
  title_generation: auxiliaryTask("names conversations"),
});
