// A failed request as a value: status, stable code and the server's own sentence (dashboard.md §0).

export interface ApiErrorFacts {
  /** 0 when no answer came. */
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string | null;
  /** The whole error body: some answers carry more (stage, line, holder). */
  readonly body: Readonly<Record<string, unknown>>;
}

export class ApiError extends Error implements ApiErrorFacts {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string | null;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(facts: ApiErrorFacts) {
    super(facts.detail);
    this.name = "ApiError";
    this.status = facts.status;
    this.code = facts.code;
    this.detail = facts.detail;
    this.requestId = facts.requestId;
    this.body = facts.body;
  }
}

export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/** The sentence of an error body: a text, or the list of a validation failure. */
function sentence(detail: unknown): string | null {
  if (typeof detail === "string") return detail;
  if (!Array.isArray(detail)) return null;
  const parts = detail.map((entry) => {
    const { loc, msg } = asRecord(entry);
    const where = Array.isArray(loc) ? loc.filter((part) => part !== "body").join(".") : "";
    return where === "" ? String(msg) : `${where}: ${String(msg)}`;
  });
  return parts.join("; ");
}

export function errorFromAnswer(status: number, body: unknown, requestId: string | null): ApiError {
  const record = asRecord(body);
  const id = record["id"];
  return new ApiError({
    status,
    code: typeof record["code"] === "string" ? record["code"] : `http_${status}`,
    detail: sentence(record["detail"]) ?? `The server answered ${status}.`,
    requestId: typeof id === "string" ? id : requestId,
    body: record,
  });
}

export function errorWithoutAnswer(cause: unknown): ApiError {
  const timedOut = cause instanceof DOMException && cause.name === "TimeoutError";
  return new ApiError({
    status: 0,
    code: timedOut ? "timeout" : "network",
    detail: timedOut
      ? "The server did not answer within 30 seconds."
      : "The server cannot be reached.",
    requestId: null,
    body: {},
  });
}
