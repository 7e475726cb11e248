// The one place that talks to the `ai` SDK: one `streamText` per call, without `execute`, without retries (agent.md §3.1).
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { jsonSchema, streamText, type LanguageModel, type ToolSet } from "ai";
import type { ModelClient, ModelEvent, ModelRequest, ToolSpec } from "#agent/ports/model-client.ts";
import type { ModelError } from "#protocol/model-errors.ts";
import { ownError, toModelError, type ErrorSubject } from "./errors.ts";
import { PartReader } from "./part-reader.ts";
import { createFetch, type SeenResponse } from "./transport.ts";
import { untilAborted } from "./until-aborted.ts";
import { toInstructions, toSdkMessages } from "./wire-messages.ts";
import type { Wire } from "./providers.ts";

// The SDK's warnings would go to process.emitWarning, and so to stderr.
globalThis.AI_SDK_LOG_WARNINGS = false;

export interface SdkOptions {
  readonly provider: string;
  readonly model: string;
  readonly wire: Wire;
  readonly baseUrl: string;
  /** The key itself; undefined: none is sent. */
  readonly apiKey: string | undefined;
  readonly extraHeaders: Readonly<Record<string, string>>;
  readonly extraBody: Readonly<Record<string, unknown>>;
  /** Sent where the request names no limit; the Anthropic wire needs one. null: omitted. */
  readonly maxOutputTokens: number | null;
  readonly subject: ErrorSubject;
}

export function createSdkClient(options: SdkOptions): ModelClient {
  return { stream: (request) => streamOnce(options, request) };
}

async function* streamOnce(options: SdkOptions, request: ModelRequest): AsyncGenerator<ModelEvent> {
  const seen: SeenResponse = { contentType: "" };
  // Ours besides the caller's: leaving the loop early has to end the HTTP request too.
  const ours = new AbortController();
  try {
    yield* readStream(options, request, seen, AbortSignal.any([request.signal, ours.signal]));
  } catch (error) {
    yield failed(options, request, seen, error);
  } finally {
    ours.abort();
  }
}

async function* readStream(
  options: SdkOptions,
  request: ModelRequest,
  seen: SeenResponse,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const reader = new PartReader();
  const result = callSdk(options, request, seen, signal);
  for await (const part of untilAborted(result.stream, request.signal)) {
    const outcome = reader.read(part);
    if (outcome === null) continue;
    if ("progress" in outcome) request.onProgress?.();
    else if ("event" in outcome) yield outcome.event;
    else return yield failed(options, request, seen, "failure" in outcome ? outcome.failure : null);
  }
  return yield ending(options, request, seen, reader);
}

function callSdk(
  options: SdkOptions,
  request: ModelRequest,
  seen: SeenResponse,
  signal: AbortSignal,
) {
  const maxOutputTokens = request.maxOutputTokens ?? options.maxOutputTokens;
  return streamText({
    model: languageModel(
      options,
      createFetch(seen, () => request.onProgress?.()),
    ),
    ...(request.system === ""
      ? {}
      : { instructions: toInstructions(request.system, options.wire) }),
    messages: toSdkMessages(request.messages, options.wire, options.provider),
    ...(request.tools.length === 0
      ? {}
      : { tools: toToolSet(request.tools), toolChoice: request.toolChoice }),
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
    ...(request.effort === "" ? {} : { reasoning: request.effort }),
    ...(options.wire === "anthropic-messages" ? anthropicOptions(options) : {}),
    maxRetries: 0,
    abortSignal: signal,
    // Errors come as parts of the stream; the SDK's default prints them with the request's body.
    onError: () => undefined,
  });
}

/** Eager streaming of tool inputs is Anthropic's own; other servers of that wire may refuse the field. */
function anthropicOptions(options: SdkOptions): {
  providerOptions?: { anthropic: { toolStreaming: boolean } };
} {
  if (options.provider === "anthropic" && options.baseUrl === "https://api.anthropic.com/v1")
    return {};
  return { providerOptions: { anthropic: { toolStreaming: false } } };
}

function languageModel(options: SdkOptions, fetch: ReturnType<typeof createFetch>): LanguageModel {
  return options.wire === "anthropic-messages"
    ? anthropicModel(options, fetch)
    : openAiModel(options, fetch);
}

function openAiModel(options: SdkOptions, fetch: ReturnType<typeof createFetch>): LanguageModel {
  const provider = createOpenAICompatible({
    name: options.provider,
    baseURL: options.baseUrl,
    ...(options.apiKey === undefined ? {} : { apiKey: options.apiKey }),
    headers: { ...options.extraHeaders },
    includeUsage: true,
    fetch,
    transformRequestBody: (body) => openAiBody(options, body),
  });
  return provider.chatModel(options.model);
}

/** OpenAI's newer models refuse `max_tokens`; everyone else's servers know only that. */
function openAiBody(options: SdkOptions, body: Record<string, unknown>): Record<string, unknown> {
  const { max_tokens: maxTokens, ...rest } = body;
  if (maxTokens === undefined) return { ...rest, ...options.extraBody };
  const isOpenAi = URL.parse(options.baseUrl)?.hostname === "api.openai.com";
  return {
    ...rest,
    [isOpenAi ? "max_completion_tokens" : "max_tokens"]: maxTokens,
    ...options.extraBody,
  };
}

function anthropicModel(options: SdkOptions, fetch: ReturnType<typeof createFetch>): LanguageModel {
  const provider = createAnthropic({
    baseURL: options.baseUrl,
    // Without a key the SDK would read one from the environment, whatever the host.
    apiKey: options.apiKey ?? "none",
    headers: { ...options.extraHeaders },
    fetch: withBody(options.extraBody, options.apiKey === undefined ? withoutKey(fetch) : fetch),
  });
  return provider(options.model);
}

function withoutKey(fetch: ReturnType<typeof createFetch>): ReturnType<typeof createFetch> {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.delete("x-api-key");
    return fetch(input, { ...init, headers: Object.fromEntries(headers) });
  };
}

function withBody(
  extra: Readonly<Record<string, unknown>>,
  fetch: ReturnType<typeof createFetch>,
): ReturnType<typeof createFetch> {
  if (Object.keys(extra).length === 0) return fetch;
  return (input, init) => {
    const body = JSON.parse(init?.body as string) as Record<string, unknown>;
    return fetch(input, { ...init, body: JSON.stringify({ ...body, ...extra }) });
  };
}

function toToolSet(tools: readonly ToolSpec[]): ToolSet {
  return Object.fromEntries(
    tools.map((tool) => [
      tool.name,
      { description: tool.description, inputSchema: jsonSchema(tool.inputSchema) },
    ]),
  );
}

function ending(
  options: SdkOptions,
  request: ModelRequest,
  seen: SeenResponse,
  reader: PartReader,
): ModelEvent {
  if (request.signal.aborted) return { type: "error", error: ownError("aborted", options.subject) };
  const call = reader.finish();
  if (call === null) return { type: "error", error: garbled(options.subject, seen) };
  if (call.reason === "content-filter")
    return { type: "error", error: ownError("filtered", options.subject) };
  if (call.isEmpty) return { type: "error", error: ownError("empty", options.subject) };
  return {
    type: "finish",
    reason: call.reason,
    usage: call.usage,
    ...(call.details === null ? {} : { reasoningDetails: call.details }),
  };
}

function failed(
  options: SdkOptions,
  request: ModelRequest,
  seen: SeenResponse,
  error: unknown,
): ModelEvent {
  if (request.signal.aborted) return { type: "error", error: ownError("aborted", options.subject) };
  // Out of stack: the SDK walked arguments without a floor.
  const isUnusable = error === null || error instanceof RangeError;
  const mapped = isUnusable
    ? ownError("garbled", options.subject)
    : toModelError(error, options.subject);
  if (mapped.kind !== "garbled") return { type: "error", error: mapped };
  return { type: "error", error: { ...mapped, ...garbled(options.subject, seen) } };
}

function garbled(subject: ErrorSubject, seen: SeenResponse): ModelError {
  if (!/text\/html/i.test(seen.contentType)) return ownError("garbled", subject);
  return {
    kind: "garbled",
    message: `${subject.host} answered with a web page instead of a model's stream: check the base URL.`,
  };
}
