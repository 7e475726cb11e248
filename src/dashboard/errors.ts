// What every error becomes on the wire: one table of codes, one closed switch over the codes of other rooms (dashboard.md §0).
import { errnoOf, HermesError, isNoRoom } from "#base/errors.ts";
import type { ErrorBody, ErrorCode, ErrorFacts, ValidationBody } from "#protocol/http-errors.ts";

/** Thrown by handlers; becomes exactly this answer. */
export class HttpFailure extends Error {
  readonly status: number;
  readonly body: ErrorBody | ValidationBody;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    body: ErrorBody | ValidationBody,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(typeof body.detail === "string" ? body.detail : "invalid");
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

export function fail(
  status: number,
  code: ErrorCode,
  detail: string,
  facts: ErrorFacts = {},
  headers: Readonly<Record<string, string>> = {},
): HttpFailure {
  return new HttpFailure(status, { detail, code, ...facts }, headers);
}

export interface FieldIssue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

export function invalidFields(issues: readonly FieldIssue[]): HttpFailure {
  return new HttpFailure(422, { detail: issues, code: "invalid" });
}

export function invalidField(where: "body" | "query", name: string, msg: string): HttpFailure {
  return invalidFields([{ loc: [where, name], msg, type: "value_error" }]);
}

export const notFound = (what: string): HttpFailure => fail(404, "not_found", `${what} not found`);

export function tooMany(seconds: number, detail = "Too many requests"): HttpFailure {
  return fail(429, "rate_limited", detail, {}, { "Retry-After": String(seconds) });
}

/** Errors of other rooms by their stable code. null: not known here, so it is a fault of ours (500). */
export function mapHermesError(error: HermesError): HttpFailure | null {
  const { message, data } = error;
  switch (error.code) {
    case "SESSION_NOT_FOUND":
    case "PROFILE_UNKNOWN":
    case "PROFILE_NOT_FOUND":
      return fail(404, "not_found", message);
    case "SESSION_BUSY":
      return fail(409, "session_busy", message, holderOf(data));
    case "SESSION_AMBIGUOUS":
      return fail(409, "conflict", message, candidatesOf(data));
    case "TITLE_TAKEN":
    case "NOTHING_TO_RETRY":
    case "NOTHING_TO_UNDO":
    case "MODEL_NOT_CONFIGURED":
    case "MODEL_AMBIGUOUS":
    case "PROVIDER_UNKNOWN":
    case "CREDENTIAL_MISSING":
    case "PROFILE_EXISTS":
    case "PROFILE_FIXED":
    case "PROFILE_NOT_DELETED":
    case "GATEWAY_RUNNING":
      return fail(409, "conflict", message);
    case "QUEUE_FULL":
      return fail(409, "busy", message);
    case "MESSAGE_TOO_LARGE":
      return fail(413, "too_large", message);
    case "STORE_BUSY":
      return fail(503, "store_busy", "The session store is busy", {}, { "Retry-After": "1" });
    case "STORE_FULL":
    case "STORE_CORRUPT":
    case "STORE_READONLY":
    case "STORE_NEWER":
      return fail(503, "store_failed", message);
    case "CONFIG_BROKEN":
    case "CONFIG_REFUSED":
      return fail(409, "config_broken", message, { ...placeOf(data), ...problemsOf(error) });
    case "CONFIG_CHANGED":
      return fail(412, "conflict", message);
    case "CONFIG_LOCKED":
      return fail(409, "busy", message);
    case "CONFIG_EDIT_FAILED":
      return fail(409, "conflict", message);
    case "VALUE_INVALID":
    case "ENV_EDIT_REFUSED":
    case "IMPORT_INVALID":
    case "PROFILE_NAME_INVALID":
    case "TITLE_INVALID":
      return fail(400, "invalid", message, { ...placeOf(data), ...problemsOf(error) });
    default:
      return null;
  }
}

function holderOf(data: Readonly<Record<string, unknown>>): ErrorFacts {
  const { holder } = data;
  if (typeof holder === "string") return { holder };
  const surface = (holder as { surface?: unknown } | undefined)?.surface;
  return typeof surface === "string" ? { holder: surface } : {};
}

function candidatesOf({ candidates }: Readonly<Record<string, unknown>>): ErrorFacts {
  return Array.isArray(candidates) ? { candidates: candidates.map(String) } : {};
}

function placeOf({ line, column }: Readonly<Record<string, unknown>>): ErrorFacts {
  return {
    ...(typeof line === "number" ? { line } : {}),
    ...(typeof column === "number" ? { column } : {}),
  };
}

function problemsOf({ problems }: HermesError): ErrorFacts {
  if (problems.length === 0) return {};
  return { problems: problems.map(({ setting, message }) => ({ setting, message })) };
}

export interface MappedError {
  readonly failure: HttpFailure;
  /** True: a fault of ours, whose cause goes to the log. */
  readonly unexpected: boolean;
}

export function mapError(error: unknown, requestId: string): MappedError {
  if (error instanceof HttpFailure) return { failure: error, unexpected: false };
  const known = error instanceof HermesError ? mapHermesError(error) : null;
  if (known) return { failure: known, unexpected: false };
  const storage = storageFailure(error);
  if (storage) return { failure: storage, unexpected: true };
  const failure = fail(500, "internal", "Internal server error", { id: requestId });
  return { failure, unexpected: true };
}

const NO_ACCESS: ReadonlySet<string> = new Set(["EROFS", "EACCES", "EPERM"]);

/** A home that takes nothing: whoever asks can do something about it. The system's own sentence holds paths. */
function storageFailure(error: unknown): HttpFailure | null {
  if (isNoRoom(error)) return fail(503, "store_failed", "The disk is full; nothing was changed");
  if (!NO_ACCESS.has(errnoOf(error) ?? "")) return null;
  return fail(503, "store_failed", "The home cannot be written; nothing was changed");
}
