// Signing in at a provider: the way there and the way back (dashboard.md §6.1, §6.2; RFC 6749 §4.1, RFC 7636).
import type { Caller, GateRequest } from "../access.ts";
import { type GateAnswer, redirectAnswer } from "../answer.ts";
import { findAttempt, type LoginAttempt, type NativeRequest } from "../attempt-cookie.ts";
import { deviceOf } from "../audit.ts";
import { landing, nextQuery, parseNext, type SafeRedirect } from "../next.ts";
import { href, parsePrefix } from "../prefix.ts";
import { callProvider } from "../provider-call.ts";
import type { Login, LoginProvider, RedirectProvider } from "../providers/provider.ts";
import type { LoginDeps } from "./deps.ts";
import {
  answerFailure,
  failureOf,
  logCause,
  type LoginFailure,
  TOO_MANY,
  TOO_MANY_CODES,
  UNKNOWN_PROVIDER,
} from "./failure.ts";
import { attemptsOf, type KeptAttempts, keepAttempts } from "./kept-attempts.ts";
import { startNativePassword } from "./native-password.ts";
import { openBrowserSession } from "./open-session.ts";

/** Where a native app's login ends, instead of in a cookie (dashboard.md §8.2). */
export interface NativeFinish {
  /** Where the app listens, with its code; null: too many codes wait. */
  finish(
    native: NativeRequest,
    provider: LoginProvider,
    login: Login,
    request: GateRequest,
  ): string | null;
}

/** The same at the start and at the callback: the provider derives the token request's `redirect_uri` from it. */
export function callbackUrl(
  { https, host, prefix }: GateRequest,
  { publicUrl }: LoginDeps["settings"],
): URL {
  if (publicUrl) {
    return new URL(`${publicUrl.origin}${parsePrefix(publicUrl.pathname) ?? ""}/auth/callback`);
  }
  return new URL(`${https ? "https" : "http"}://${host}${href(prefix, "/auth/callback")}`);
}

export interface StartInput {
  readonly provider: string;
  readonly next: SafeRedirect | null;
  readonly fresh: boolean;
  readonly native: NativeRequest | null;
}

/** GET /auth/login */
export async function startRedirectLogin(
  { provider: name, next, fresh, native }: StartInput,
  request: GateRequest,
  deps: LoginDeps,
): Promise<GateAnswer> {
  const wait = deps.limits.beforeRedirect(request.client);
  if (wait !== null) return tooMany(wait, next, request, deps);
  const provider = deps.providers.loginProvider(name);
  if (!provider) return answerFailure(UNKNOWN_PROVIDER, request, deps, { next });
  if (provider.kind === "password") {
    if (native) return startNativePassword(native, provider, request, deps);
    return redirectAnswer(href(request.prefix, `/login${nextQuery(next, "?")}`));
  }
  const device = deviceOf(request.headers["user-agent"]);
  deps.audit.write("login_start", { provider: name, ip: request.client, device });
  try {
    const redirectUri = callbackUrl(request, deps.settings);
    const { url, attempt } = await callProvider(deps.clock, (signal) =>
      provider.startLogin({ redirectUri, fresh, signal }),
    );
    const startedAt = Math.floor(deps.clock.now() / 1000);
    const mine = { ...attempt, provider: provider.name, next, startedAt, native };
    const cookies = keepAttempts([mine, ...attemptsOf(request, deps).attempts], request);
    return redirectAnswer(url.href, cookies);
  } catch (cause) {
    logCause(cause, name, deps);
    const failure = failureOf(cause, name);
    deps.audit.write("login_failure", {
      provider: name,
      reason: failure.reason,
      ip: request.client,
    });
    return answerFailure(failure, request, deps, { next });
  }
}

/** GET /auth/callback. `next` comes from the cookie only. */
export async function finishRedirectLogin(
  request: GateRequest,
  caller: Caller,
  deps: LoginDeps,
  desk: NativeFinish | null,
): Promise<GateAnswer> {
  const wait = deps.limits.beforeRedirect(request.client);
  if (wait !== null) return tooMany(wait, null, request, deps);
  const query = new URLSearchParams(request.query);
  const read = attemptsOf(request, deps);
  const attempt = findAttempt(read.attempts, query.get("state") ?? "");
  // A second tab of the same login: the first one got here before.
  if (!attempt && caller.kind === "session") return redirectAnswer(href(request.prefix, "/"));
  if (!attempt) return failed(unknownAttempt(read), null, null, request, deps);
  const { next } = attempt;
  const used = keepAttempts(
    read.attempts.filter((one) => one !== attempt),
    request,
  );
  const provider = deps.providers.loginProvider(attempt.provider);
  if (provider?.kind !== "redirect") {
    return failed(
      { ...UNKNOWN_PROVIDER, status: 400, code: "invalid" },
      attempt,
      used,
      request,
      deps,
    );
  }
  const error = query.get("error");
  if (error !== null) return failed(issuerError(error, query), attempt, used, request, deps);
  try {
    const login = await complete(provider, attempt, request, deps);
    if (attempt.native) {
      const target = desk?.finish(attempt.native, provider, login, request) ?? null;
      return target === null
        ? failed(TOO_MANY_CODES, attempt, used, request, deps)
        : redirectAnswer(target, used);
    }
    const cookies = openBrowserSession({ provider, login, request, caller }, deps);
    return redirectAnswer(landing(request.prefix, next), [...cookies, ...used]);
  } catch (cause) {
    logCause(cause, attempt.provider, deps);
    const failure = failureOf(cause, attempt.provider);
    // An issuer that is away for a moment must not cost the attempt.
    const cookies = failure.status === 503 ? null : used;
    return failed(failure, attempt, cookies, request, deps);
  }
}

function complete(
  provider: RedirectProvider,
  { state, verifier, nonce }: LoginAttempt,
  request: GateRequest,
  deps: LoginDeps,
): Promise<Login> {
  const callback = callbackUrl(request, deps.settings);
  callback.search = request.query;
  return callProvider(deps.clock, (signal) =>
    provider.completeLogin({ callback, attempt: { state, verifier, nonce }, signal }),
  );
}

const BAD_CALLBACK = { status: 400, code: "invalid", error: "expired" } as const;

function unknownAttempt({ unreadable, present }: KeptAttempts): LoginFailure {
  return unreadable || !present
    ? { ...BAD_CALLBACK, detail: "Missing PKCE state cookie", reason: "missing_pkce_cookie" }
    : { ...BAD_CALLBACK, detail: "OAuth state mismatch", reason: "state_mismatch" };
}

/** RFC 6749 §4.1.2.1: the issuer's own words, shortened; the page escapes them. */
function issuerError(error: string, query: URLSearchParams): LoginFailure {
  const description = query.get("error_description") ?? "";
  const detail = `${error}${description === "" ? "" : `: ${description}`}`.slice(0, 200);
  const shown = error === "access_denied" ? "denied" : "failed";
  return { status: 400, code: "invalid", detail, error: shown, reason: "idp_error" };
}

function failed(
  failure: LoginFailure,
  attempt: LoginAttempt | null,
  cookies: readonly string[] | null,
  request: GateRequest,
  deps: LoginDeps,
): GateAnswer {
  deps.audit.write("login_failure", {
    reason: failure.reason,
    ...(attempt ? { provider: attempt.provider } : {}),
    ip: request.client,
    device: deviceOf(request.headers["user-agent"]),
  });
  const next = attempt?.next ?? null;
  return answerFailure(failure, request, deps, { next, cookies: cookies ?? [] });
}

function tooMany(
  seconds: number,
  next: SafeRedirect | null,
  request: GateRequest,
  deps: LoginDeps,
): GateAnswer {
  deps.audit.write("rate_limited", { ip: request.client, path: request.path });
  return answerFailure(TOO_MANY, request, deps, { next, retryAfterSeconds: seconds });
}

/** `?next=` of a sign-in route: checked, without the prefix. */
export function nextParam(query: URLSearchParams, prefix: string): SafeRedirect | null {
  return parseNext(query.get("next"), prefix);
}
