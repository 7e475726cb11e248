// The routes of the API server (agent.md §7.9).
import { Hono, type Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { cors } from "hono/cors";
import type { LoadedConfig } from "#config/loaded.ts";
import type { PlatformContext } from "../../platform.ts";
import { completionBody, makeHeading } from "./chunks.ts";
import { Places, startRun } from "./completion.ts";
import { parseCompletion, type CompletionInput } from "./completion-input.ts";
import { ApiFailure, invalid, toApiFailure } from "./errors.ts";
import { isBearer } from "./key.ts";
import { CompletionStream, finishOf } from "./stream.ts";

const MAX_BODY_BYTES = 10 * 1024 * 1024;
const HEALTH = { status: "ok", platform: "hermes-agent" };

export function createApi(context: PlatformContext, key: string): Hono {
  const app = new Hono();
  const places = new Places();
  app.use(corsFor(context));
  app.get("/health", (request) => request.json(HEALTH));
  app.get("/v1/health", (request) => request.json(HEALTH));
  app.use(async (request, next) => {
    if (isBearer(request.req.header("authorization"), key)) return next();
    throw new ApiFailure(401, "invalid_api_key", "Wrong or missing API key: send it as a bearer.", {
      headers: { "WWW-Authenticate": "Bearer" },
    });
  });
  app.get("/health/detailed", (request) => request.json(details(context)));
  app.get("/v1/models", (request) => request.json({ object: "list", data: [model(context)] }));
  app.get("/v1/models/:id", (request) => {
    checkModel(context, request.req.param("id"));
    return request.json(model(context));
  });
  app.post(
    "/v1/chat/completions",
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: () => {
        throw new ApiFailure(413, "body_too_large", "The body is larger than 10 MB.");
      },
    }),
    (request) => complete(context, places, request),
  );
  app.notFound((request) =>
    answerFailure(request, new ApiFailure(404, "not_found", `There is no ${request.req.path}.`)),
  );
  app.onError((error, request) => {
    const failure = toApiFailure(error);
    if (failure.code === "internal_error") context.log.error("the API server failed", { error });
    return answerFailure(request, failure);
  });
  return app;
}

function corsFor(context: PlatformContext): ReturnType<typeof cors> {
  return cors({
    origin: (origin) =>
      context.loaded().config.platforms.api_server.cors_origins.includes(origin) ? origin : null,
    allowMethods: ["GET", "POST"],
    allowHeaders: ["Authorization", "Content-Type", "X-Hermes-Session-Id", "X-Hermes-Events"],
    exposeHeaders: ["X-Hermes-Session-Id", "X-Hermes-Ignored", "Retry-After"],
    maxAge: 600,
  });
}

function answerFailure(request: Context, failure: ApiFailure): Response {
  return request.json(failure.body, failure.status, { ...failure.headers });
}

/** The one model that is offered: its configured name, else the profile's, else the program's. */
export function modelName({ config, profile }: LoadedConfig): string {
  const named = config.platforms.api_server.model_name;
  if (named !== "") return named;
  return profile === "default" ? "hermes-agent" : profile;
}

function model(context: PlatformContext): Readonly<Record<string, unknown>> {
  return { id: modelName(context.loaded()), object: "model", created: 0, owned_by: "hermes" };
}

function checkModel(context: PlatformContext, wanted: string): void {
  const name = modelName(context.loaded());
  if (wanted === name) return;
  const message = `There is no model ${JSON.stringify(wanted.slice(0, 80))}; this agent is ${name}`;
  throw new ApiFailure(404, "model_not_found", message, { param: "model" });
}

function details(context: PlatformContext): Readonly<Record<string, unknown>> {
  const { turns, profile } = context;
  return { ...HEALTH, profile, active_agents: turns.active, draining: turns.isClosed };
}

async function complete(
  context: PlatformContext,
  places: Places,
  request: Context,
): Promise<Response> {
  const input = parseCompletion(await readJson(request));
  checkModel(context, input.model);
  return input.isStream
    ? answerStream(context, places, request, input)
    : answerWhole(context, places, request, input);
}

async function readJson(request: Context): Promise<unknown> {
  try {
    return await request.req.json();
  } catch (error) {
    if (error instanceof ApiFailure) throw error;
    throw invalid("", "The body is not valid JSON");
  }
}

async function answerWhole(
  context: PlatformContext,
  places: Places,
  request: Context,
  input: CompletionInput,
): Promise<Response> {
  const heading = makeHeading(input.model, context.clock.now());
  const run = await startRun(context, places, {
    input,
    sessionId: request.req.header("x-hermes-session-id"),
    onEvent: () => undefined,
  });
  const { signal } = request.req.raw;
  signal.addEventListener("abort", run.abort, { once: true });
  if (signal.aborted) run.abort();
  setHeaders(request, input, run.sessionId);
  try {
    const result = await run.result;
    request.header("X-Hermes-Session-Id", result.sessionId);
    return request.json(completionBody(heading, result.text, finishOf(result), result.usage));
  } finally {
    signal.removeEventListener("abort", run.abort);
  }
}

async function answerStream(
  context: PlatformContext,
  places: Places,
  request: Context,
  input: CompletionInput,
): Promise<Response> {
  let abort = (): void => undefined;
  const stream = new CompletionStream({
    heading: makeHeading(input.model, context.clock.now()),
    clock: context.clock,
    withUsage: input.withUsage,
    withEvents: request.req.header("x-hermes-events") === "1",
    onGone: () => abort(),
  });
  const run = await startRun(context, places, {
    input,
    sessionId: request.req.header("x-hermes-session-id"),
    onEvent: (event) => stream.event(event),
  });
  abort = () => run.abort();
  if (request.req.raw.signal.aborted) run.abort();
  run.result.then(
    (result) => stream.finish(result),
    (error: unknown) => stream.fail(toApiFailure(error)),
  );
  setHeaders(request, input, run.sessionId);
  request.header("Content-Type", "text/event-stream; charset=utf-8");
  request.header("Cache-Control", "no-cache, no-transform");
  request.header("X-Accel-Buffering", "no");
  return request.body(stream.body);
}

function setHeaders(request: Context, input: CompletionInput, sessionId: string): void {
  request.header("X-Hermes-Session-Id", sessionId);
  const names = input.ignored.filter((name) => /^[\w.-]{1,64}$/.test(name)).slice(0, 50);
  if (names.length > 0) request.header("X-Hermes-Ignored", names.join(", "));
}
