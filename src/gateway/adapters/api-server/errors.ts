// Errors in the envelope that OpenAI's clients read: {"error":{message,type,param,code}}.
import { HermesError } from "#base/errors.ts";
import type { TurnError } from "#protocol/events.ts";

export class ApiFailure extends Error {
  readonly status: 400 | 401 | 404 | 409 | 413 | 429 | 500 | 502 | 503;
  readonly code: string;
  readonly param: string | null;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: ApiFailure["status"],
    code: string,
    message: string,
    facts: { readonly param?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = facts.param ?? null;
    this.headers = facts.headers ?? {};
  }

  get body(): Readonly<Record<string, unknown>> {
    const { message, param, code } = this;
    return { error: { message, type: typeOf(this.status), param, code } };
  }
}

function typeOf(status: ApiFailure["status"]): string {
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

export const invalid = (param: string, message: string): ApiFailure =>
  new ApiFailure(400, "invalid_value", message, { param });

export const ending = (): ApiFailure =>
  new ApiFailure(503, "shutting_down", "The gateway is ending; send it again in a moment.", {
    headers: { "Retry-After": "5" },
  });

/** Errors of the rooms below. Sentences for operators stay in the log; a client gets what it can act on. */
export function toApiFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  if (!(error instanceof HermesError))
    return new ApiFailure(500, "internal_error", "The request failed; the gateway's log says why.");
  switch (error.code) {
    case "SESSION_NOT_FOUND":
      return new ApiFailure(404, "session_not_found", error.message);
    case "SESSION_BUSY":
      return new ApiFailure(409, "session_busy", error.message);
    case "MESSAGE_TOO_LARGE":
      return new ApiFailure(413, "message_too_large", error.message);
    case "SHUTTING_DOWN":
      return ending();
    case "MODEL_NOT_CONFIGURED":
      return new ApiFailure(503, "model_not_configured", error.message);
    case "STORE_CORRUPT":
      return new ApiFailure(503, "storage_damaged", "The storage is damaged; no turn runs.");
    case "STORE_BUSY":
    case "STORE_FULL":
      return new ApiFailure(503, "storage_unavailable", error.message);
    default:
      return new ApiFailure(
        500,
        "internal_error",
        "The request failed; the gateway's log says why.",
      );
  }
}

/** A turn that failed in the model or the store; `message` is redacted by the agent. */
export function ofTurnError(error: TurnError | null): ApiFailure {
  if (error === null) return new ApiFailure(500, "internal_error", "The turn failed.");
  if (error.code === "MODEL_NOT_CONFIGURED")
    return new ApiFailure(503, "model_not_configured", error.message);
  if (error.kind === "store") return new ApiFailure(503, "storage_unavailable", error.message);
  if (error.kind === "internal")
    return new ApiFailure(500, "internal_error", "The turn failed; the gateway's log says why.");
  return new ApiFailure(502, "upstream_error", error.message);
}
