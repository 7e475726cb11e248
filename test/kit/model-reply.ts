// What the scripted model server can answer, as plain data (so that a script can stand in a JSON file), with short builders.

/** Pieces of a streamed answer, in order. */
export type Part =
  | { readonly text: string | readonly string[]; readonly delayMs?: number }
  /** `signature` is what the Anthropic wire signs a thinking block with. */
  | {
      readonly reasoning: string | readonly string[];
      readonly signature?: string;
      readonly redacted?: string;
    }
  /** `args` that are a string go out as they are (bad JSON, too); `split` cuts them into so many pieces. */
  | { readonly call: string; readonly args: unknown; readonly id?: string; readonly split?: number }
  /** Nothing more comes, the socket stays open. */
  | { readonly stall: true }
  /** The socket is destroyed here. */
  | { readonly cut: true }
  /** Waits until the test calls `server.release(name)`. */
  | { readonly hold: string }
  | { readonly wait: number }
  /** An error event in mid-stream. */
  | { readonly error: { readonly type: string; readonly message: string; readonly code?: string } }
  /** A `data:` line that is no JSON. */
  | { readonly garbage: string }
  /** An SSE comment, as routers send while they wait. */
  | { readonly comment: string };

/** As counted by the provider: `input` is the whole prompt, cached tokens included. */
export interface ReplyUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
}

export interface Answer {
  readonly parts: readonly Part[];
  /** `stop`, `tool-calls` (what the parts say by default), `length`, `content-filter`; null: no finish reason is sent. */
  readonly finish?: "stop" | "tool-calls" | "length" | "content-filter" | null;
  /** null: none is reported. */
  readonly usage?: ReplyUsage | null;
  /** False: neither `[DONE]` nor `message_stop`. */
  readonly done?: boolean;
  /** Destroys the socket after so many bytes of the body. */
  readonly cutAfterBytes?: number;
}

export type Reply =
  | Answer
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** An object is sent as JSON. */
      readonly body?: unknown;
    }
  /** No headers ever come. */
  | { readonly silent: true }
  /** The socket is destroyed before the headers. */
  | { readonly hangUp: true };

/** An answer of these parts; strings are text. */
export function answer(...parts: readonly (Part | string)[]): Answer {
  return { parts: parts.map((part) => (typeof part === "string" ? { text: part } : part)) };
}

/** Text in the given pieces. */
export function text(...pieces: readonly string[]): Answer {
  return { parts: [{ text: pieces }] };
}

export function call(
  name: string,
  args: unknown,
  options: { id?: string; split?: number } = {},
): Part {
  return { call: name, args, ...options };
}

export function think(pieces: string | readonly string[], signature = "sig-1"): Part {
  return { reasoning: pieces, signature };
}

export const REPLY = {
  empty: { parts: [] } satisfies Answer,
  html: {
    status: 200,
    headers: { "content-type": "text/html" },
    body: "<!doctype html><title>Sign in</title>",
  },
  silent: { silent: true },
  hangUp: { hangUp: true },
  unauthorized: failure(
    401,
    "authentication_error",
    "Incorrect API key provided: sk-scripted-secret-0000.",
  ),
  noCredit: failure(402, "billing_error", "Insufficient credits."),
  noQuota: failure(
    429,
    "insufficient_quota",
    "You exceeded your current quota.",
    "insufficient_quota",
  ),
  modelNotFound: failure(404, "not_found_error", "The model does not exist.", "model_not_found"),
  overloaded: failure(529, "overloaded_error", "Overloaded"),
  server: failure(500, "api_error", "The server had an error."),
} as const satisfies Readonly<Record<string, Reply>>;

/** An error body that both wires read. */
export function failure(
  status: number,
  type: string,
  message: string,
  code: string | null = null,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return { status, headers, body: { type: "error", error: { type, message, code, param: null } } };
}

/** 429; `retryAfter` in seconds or an HTTP date. */
export function rateLimited(retryAfter?: number | string): Reply {
  const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  return failure(429, "rate_limit_error", "Rate limit reached.", "rate_limit_exceeded", headers);
}

export type ContextWording = "openai" | "anthropic" | "llamacpp" | "ollama";

/** The prompt is too long, in the words of four servers. */
export function contextError(wording: ContextWording, limit = 8192, used = 9001): Reply {
  switch (wording) {
    case "openai":
      return failure(
        400,
        "invalid_request_error",
        `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${used} tokens. Please reduce the length of the messages.`,
        "context_length_exceeded",
      );
    case "anthropic":
      return failure(
        400,
        "invalid_request_error",
        `prompt is too long: ${used} tokens > ${limit} maximum`,
      );
    case "llamacpp":
      return {
        status: 400,
        body: {
          error: {
            code: 400,
            message: `the request exceeds the available context size (${limit} tokens), try increasing it`,
            type: "exceed_context_size_error",
            n_prompt_tokens: used,
            n_ctx: limit,
          },
        },
      };
    case "ollama":
      return {
        status: 400,
        body: {
          error: {
            message: `input length (${used}) exceeds the model's maximum context length (${limit})`,
            type: "invalid_request_error",
            code: null,
          },
        },
      };
    default:
      throw new Error(`no such wording: ${String(wording)}`);
  }
}
