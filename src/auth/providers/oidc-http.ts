// HTTP towards an issuer: 10 s, 1 MiB, no redirects, the environment's proxy (dashboard.md §5.1). What is not an answer of
// the protocol (transport, timeout, 3xx, 429, 5xx, not JSON, too long) is `unreachable` here, so that no caller sees it.
import { errnoOf, messageOf } from "#base/errors.ts";
import type { Clock } from "#base/clock.ts";
import { AuthError, isAuthError } from "./auth-error.ts";
import { CALL_LIMIT_MS } from "./provider.ts";
import type { ProxySettings } from "./proxy.ts";
import type { RawAnswer, Transport } from "./transport.ts";

const LIMIT_BYTES = 1024 * 1024;

export interface OidcRequest {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | URLSearchParams | null | undefined;
  /** The caller's own limit; the request's limit holds beside it. */
  readonly signal?: AbortSignal | undefined;
  readonly limitMs?: number | undefined;
}

export interface OidcHttp {
  /** Rejects with `unreachable`; else the status is 2xx, or 4xx with JSON. The body is read already. */
  fetch(url: URL | string, request?: OidcRequest): Promise<Response>;
  /** A document: 200 and a JSON object, or `unreachable`. */
  fetchJson(url: URL | string, request?: OidcRequest): Promise<Readonly<Record<string, unknown>>>;
}

export interface OidcHttpOptions {
  readonly proxy: ProxySettings;
  readonly clock: Clock;
}

export function createOidcHttp({ proxy, clock }: OidcHttpOptions): OidcHttp {
  let transport: Transport | null = null;
  const ask = async (url: URL, request: OidcRequest): Promise<Response> => {
    const limit = startLimit(clock, request.limitMs ?? CALL_LIMIT_MS, request.signal);
    try {
      transport ??= (await import("./transport.ts")).openTransport(proxy);
      const answer = await transport(url, {
        method: request.method ?? "GET",
        headers: { accept: "application/json", ...request.headers },
        body: request.body == null ? null : String(request.body),
        signal: limit.signal,
        limitBytes: LIMIT_BYTES,
      });
      return judged(url, answer);
    } catch (cause) {
      throw isAuthError(cause)
        ? cause
        : unreachable(url, limit.signal.aborted ? "no answer in time" : wordOf(cause));
    } finally {
      limit.end();
    }
  };
  return {
    fetch: (url, request = {}) => ask(new URL(url), request),
    async fetchJson(url, request = {}) {
      const response = await ask(new URL(url), request);
      const document: unknown = response.status === 200 ? await response.json() : null;
      if (isObject(document)) return document;
      throw unreachable(new URL(url), `no JSON object with status 200, but ${response.status}`);
    },
  };
}

/** Query and user name of an address may hold secrets: host and path are named only. */
export function unreachable(url: URL, why: string): AuthError {
  return new AuthError("unreachable", `${url.origin}${url.pathname}: ${why}`, {
    data: { host: url.host },
  });
}

interface Limit {
  readonly signal: AbortSignal;
  end(): void;
}

/** The clock's time, not the machine's: a test moves it. */
function startLimit(clock: Clock, limitMs: number, outer: AbortSignal | undefined): Limit {
  const controller = new AbortController();
  const timer = clock.after(limitMs, () => controller.abort());
  const signal = outer ? AbortSignal.any([controller.signal, outer]) : controller.signal;
  return { signal, end: () => timer.cancel() };
}

function judged(url: URL, { status, headers, body }: RawAnswer): Response {
  if (body === null) throw unreachable(url, `its answer is longer than ${LIMIT_BYTES} bytes`);
  const isRefusal = status >= 400 && status < 500 && status !== 408 && status !== 429;
  if (!isRefusal && (status < 200 || status > 299)) throw unreachable(url, `status ${status}`);
  // An empty 200 is how RFC 7009 §2.2 answers.
  if (!(body.byteLength === 0 && !isRefusal) && !isOfProtocol(headers, body)) {
    throw unreachable(url, `status ${status}, but not JSON`);
  }
  // The body is decoded by now.
  headers.delete("content-encoding");
  headers.delete("content-length");
  const hasNoBody = status === 204 || status === 205;
  return new Response(hasNoBody ? null : new Uint8Array(body), { status, headers });
}

/** JSON that parses, or a signed answer (OIDC Core §5.3.2), which its reader checks. */
function isOfProtocol(headers: Headers, body: Buffer): boolean {
  const type = (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type === "application/jwt") return true;
  if (type !== "application/json" && !type.endsWith("+json")) return false;
  try {
    JSON.parse(body.toString("utf8"));
    return true;
  } catch {
    return false;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The errno of the lowest cause: undici says only "fetch failed". */
function wordOf(error: unknown): string {
  let at = error;
  for (let depth = 0; depth < 5 && at instanceof Error; depth++) {
    const word = errnoOf(at);
    if (word !== null) return word;
    if (!(at.cause instanceof Error)) break;
    at = at.cause;
  }
  return messageOf(at);
}
