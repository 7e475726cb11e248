// A sign-in that did not work, as an answer: a page with one way on, or JSON for programs; never a redirect (dashboard.md §6.2).
import { messageOf } from "#base/errors.ts";
import type { GateRequest } from "../access.ts";
import { type GateAnswer, jsonAnswer, pageAnswer } from "../answer.ts";
import { nextQuery, type SafeRedirect } from "../next.ts";
import { failurePage } from "../pages/message-page.ts";
import type { LoginError } from "../pages/words.ts";
import { href } from "../prefix.ts";
import { isAuthError } from "../providers/auth-error.ts";
import type { LoginDeps } from "./deps.ts";

type Code =
  | "invalid"
  | "forbidden"
  | "not_found"
  | "rate_limited"
  | "provider_unreachable"
  | "internal";

export interface LoginFailure {
  readonly status: 400 | 401 | 403 | 404 | 429 | 500 | 503;
  readonly code: Code;
  /** In English: the `detail` of the JSON body, and the small print of the page. */
  readonly detail: string;
  /** Which sentence the visitor reads. */
  readonly error: LoginError;
  /** Of the audit. */
  readonly reason: string;
}

/** The table of dashboard.md §5.1 for callback and password. */
export function failureOf(cause: unknown, provider: string): LoginFailure {
  if (!isAuthError(cause)) return PROVIDER_ERROR;
  switch (cause.code) {
    case "invalid_code":
      return { ...REFUSED, detail: "The provider did not accept the code", reason: "invalid_code" };
    case "not_ours":
      return { ...REFUSED, detail: "What the provider sent is not valid", reason: "invalid_token" };
    case "identity_rejected":
      return NOT_ALLOWED;
    case "invalid_credentials":
      return INVALID_CREDENTIALS;
    case "busy":
      return TOO_MANY;
    case "unreachable":
      return { ...UNREACHABLE, detail: `Auth provider '${provider}' unreachable` };
    case "refresh_rejected":
      return PROVIDER_ERROR;
    default:
      return cause.code satisfies never;
  }
}

const REFUSED = { status: 400, code: "invalid", error: "failed" } as const;
const UNREACHABLE = {
  status: 503,
  code: "provider_unreachable",
  error: "unreachable",
  reason: "provider_unreachable",
} as const;
const PROVIDER_ERROR: LoginFailure = {
  status: 500,
  code: "internal",
  detail: "The provider failed",
  error: "failed",
  reason: "provider_error",
};
const NOT_ALLOWED: LoginFailure = {
  status: 403,
  code: "forbidden",
  detail: "This account is not allowed",
  error: "denied",
  reason: "not_allowed",
};
const INVALID_CREDENTIALS: LoginFailure = {
  status: 401,
  code: "invalid",
  detail: "Invalid credentials",
  error: "invalid",
  reason: "invalid_credentials",
};
export const TOO_MANY: LoginFailure = {
  status: 429,
  code: "rate_limited",
  detail: "Too many login attempts",
  error: "rate_limited",
  reason: "rate_limited",
};
/** Of native apps: codes that nobody has fetched yet. */
export const TOO_MANY_CODES: LoginFailure = {
  status: 503,
  code: "provider_unreachable",
  detail: "Too many sign-ins are waiting",
  error: "failed",
  reason: "too_many_codes",
};
/** The form of a native app's login that this browser did not start, or too long ago. */
export const UNKNOWN_ATTEMPT: LoginFailure = {
  status: 400,
  code: "invalid",
  detail: "The sign-in of the app is over",
  error: "expired",
  reason: "state_mismatch",
};
export const UNKNOWN_PROVIDER: LoginFailure = {
  status: 404,
  code: "not_found",
  detail: "Unknown provider",
  error: "failed",
  reason: "unknown_provider",
};

/** What a provider threw: to the log for whoever runs this, with its facts; no code, token or password is in them. */
export function logCause(cause: unknown, provider: string, deps: Pick<LoginDeps, "log">): void {
  const facts = isAuthError(cause) ? { code: cause.code, ...cause.data } : {};
  deps.log.warn(`sign-in with ${provider} failed: ${messageOf(cause)}`, facts);
}

export interface FailureAnswerOptions {
  readonly next: SafeRedirect | null;
  readonly cookies?: readonly string[];
  readonly retryAfterSeconds?: number;
}

export function answerFailure(
  failure: LoginFailure,
  request: GateRequest,
  deps: LoginDeps,
  { next, cookies = [], retryAfterSeconds = 10 }: FailureAnswerOptions,
): GateAnswer {
  const { status, detail, code, error } = failure;
  const later = status === 429 || status === 503;
  const headers: Record<string, string> = later ? { "Retry-After": String(retryAfterSeconds) } : {};
  if (wantsJson(request)) return jsonAnswer(status, { detail, code }, { headers, cookies });
  const html = failurePage({
    language: request.headers["accept-language"],
    theme: deps.theme(),
    detail,
    error,
    again: href(request.prefix, `/login${nextQuery(next, "?")}`),
  });
  return pageAnswer(status, html, deps.settings.csp, { headers, cookies });
}

export function wantsJson({ headers }: Pick<GateRequest, "headers">): boolean {
  return (headers.accept ?? "").includes("application/json");
}
