// One guarded HTTP exchange (agent.md §5.4): redirects by hand, sizes counted after decompression, no cookies.
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import type { Dispatcher } from "undici";
import type { Clock } from "#base/clock.ts";
import { errnoOf, messageOf } from "#base/errors.ts";
import { ToolError } from "#agent/ports/tool.ts";
import type { AddressGuard } from "./address-guard.ts";

export const MAX_BODY_BYTES = 5 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 30_000;
const USER_AGENT = "Mozilla/5.0 (compatible; Hermes)";

export interface FetchRequest {
  readonly url: string;
  readonly accept: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON body: the request is a POST then. */
  readonly json?: unknown;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Asked with the media type before the body is read; false: the body is left alone. */
  wantsBody(mediaType: string): boolean;
}

export interface FetchResponse {
  readonly finalUrl: string;
  readonly status: number;
  /** Lower case, without parameters; empty when the server named none. */
  readonly mediaType: string;
  readonly charset: string | null;
  /** null: not wanted. At most MAX_BODY_BYTES. */
  readonly body: Buffer | null;
}

/**
 * Throws ToolError: BAD_URL, ADDRESS_REFUSED, TOO_MANY_REDIRECTS, TOO_LARGE, TIMEOUT, NAME_NOT_FOUND, FETCH_FAILED. An HTTP
 * error status is an answer, not an error.
 */
export async function guardedFetch(
  guard: AddressGuard,
  request: FetchRequest,
): Promise<FetchResponse> {
  const { Agent } = await import("./web-agent.ts");
  const agent = new Agent({ connect: { lookup: guard.lookup, timeout: 10_000 }, pipelining: 0 });
  const limit = new AbortController();
  const timer = request.clock.after(TIMEOUT_MS, () => {
    limit.abort(new ToolError("TIMEOUT", `no answer within ${TIMEOUT_MS / 1000} s`));
  });
  const signal = AbortSignal.any([request.signal, limit.signal]);
  try {
    return await follow(guard, agent, request, signal);
  } catch (error) {
    throw toToolError(error, limit.signal);
  } finally {
    timer.cancel();
    await agent.destroy();
  }
}

async function follow(
  guard: AddressGuard,
  agent: Dispatcher,
  request: FetchRequest,
  signal: AbortSignal,
): Promise<FetchResponse> {
  let url = guard.checkUrl(request.url);
  for (let redirects = 0; ; redirects++) {
    const response = await send(agent, url, request, signal);
    const location = redirectOf(response);
    if (location === null) return await readResponse(response, url, request);
    await response.body.dump({ limit: 16_384, signal }).catch(() => undefined);
    if (redirects === MAX_REDIRECTS) {
      throw new ToolError("TOO_MANY_REDIRECTS", `more than ${MAX_REDIRECTS} redirects`);
    }
    url = guard.checkUrl(new URL(location, url).href);
  }
}

async function send(
  agent: Dispatcher,
  url: URL,
  request: FetchRequest,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const { request: undiciRequest } = await import("./web-agent.ts");
  const isPost = request.json !== undefined;
  return undiciRequest(url, {
    dispatcher: agent,
    signal,
    method: isPost ? "POST" : "GET",
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    headers: {
      "user-agent": USER_AGENT,
      accept: request.accept,
      "accept-encoding": "gzip, deflate, br",
      "accept-language": "en, *;q=0.5",
      ...(isPost ? { "content-type": "application/json" } : {}),
      ...request.headers,
    },
    ...(isPost ? { body: JSON.stringify(request.json) } : {}),
  });
}

function header(response: Dispatcher.ResponseData, name: string): string | null {
  const value = response.headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

function redirectOf(response: Dispatcher.ResponseData): string | null {
  return [301, 302, 303, 307, 308].includes(response.statusCode)
    ? header(response, "location")
    : null;
}

async function readResponse(
  response: Dispatcher.ResponseData,
  url: URL,
  request: FetchRequest,
): Promise<FetchResponse> {
  const type = header(response, "content-type") ?? "";
  const mediaType = (type.split(";")[0] ?? "").trim().toLowerCase();
  const facts = {
    finalUrl: url.href,
    status: response.statusCode,
    mediaType,
    charset: /charset\s*=\s*"?([^\s";]+)/i.exec(type)?.[1] ?? null,
  };
  if (!request.wantsBody(mediaType)) {
    // Letting go of a body is reported as an abort.
    response.body.on("error", () => undefined);
    response.body.destroy();
    return { ...facts, body: null };
  }
  return { ...facts, body: await readBody(decoded(response)) };
}

function decoded(response: Dispatcher.ResponseData): Readable {
  const encoding = (header(response, "content-encoding") ?? "identity").trim().toLowerCase();
  const decoder = decoderOf(encoding);
  if (decoder === null) return response.body;
  response.body.on("error", (error) => decoder.destroy(error));
  decoder.on("close", () => response.body.destroy());
  return response.body.pipe(decoder);
}

function decoderOf(encoding: string): ReturnType<typeof createGunzip> | null {
  switch (encoding) {
    case "":
    case "identity":
      return null;
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      throw new ToolError("FETCH_FAILED", `the encoding ${encoding} was not asked for`);
  }
}

async function readBody(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      stream.destroy();
      throw new ToolError("TOO_LARGE", `the page has more than ${MAX_BODY_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function toToolError(error: unknown, limit: AbortSignal): ToolError {
  for (
    let cause = error, depth = 0;
    cause instanceof Error && depth < 5;
    cause = cause.cause, depth++
  ) {
    if (cause instanceof ToolError) return cause;
  }
  if (limit.aborted && limit.reason instanceof ToolError) return limit.reason;
  const errno = errnoOf(error);
  if (errno === "ENOTFOUND" || errno === "EAI_AGAIN") {
    return new ToolError("NAME_NOT_FOUND", "the name of the server could not be resolved");
  }
  return new ToolError("FETCH_FAILED", `the page could not be fetched: ${messageOf(error)}`);
}
