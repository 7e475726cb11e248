// POST /auth/password-login: JSON for the app and for programs, a form for pages without scripts (dashboard.md §6.1).
import type { Caller, GateRequest } from "../access.ts";
import { type GateAnswer, jsonAnswer, redirectAnswer } from "../answer.ts";
import { deviceOf } from "../audit.ts";
import { landing, nextQuery, type SafeRedirect } from "../next.ts";
import { href } from "../prefix.ts";
import { callProvider } from "../provider-call.ts";
import type { LoginDeps } from "./deps.ts";
import {
  failureOf,
  logCause,
  type LoginFailure,
  TOO_MANY,
  TOO_MANY_CODES,
  UNKNOWN_ATTEMPT,
  UNKNOWN_PROVIDER,
} from "./failure.ts";
import { backToApp, nativeAttempt, useAttempt } from "./native-password.ts";
import { openBrowserSession } from "./open-session.ts";
import type { NativeFinish } from "./redirect-login.ts";

export interface PasswordInput {
  readonly provider: string;
  readonly username: string;
  readonly password: string;
  readonly next: SafeRedirect | null;
  /** `state` of a native app's login that this one is for; null: the browser itself. */
  readonly native: string | null;
  /** A form of the login page: the answers are redirects. */
  readonly isForm: boolean;
}

export async function passwordLogin(
  input: PasswordInput,
  request: GateRequest,
  caller: Caller,
  deps: LoginDeps,
  desk: NativeFinish | null,
): Promise<GateAnswer> {
  const { username, password } = input;
  const { client } = request;
  const provider = deps.providers.loginProvider(input.provider);
  if (provider?.kind !== "password") return answer(UNKNOWN_PROVIDER, input, request);
  const attempt = input.native === null ? null : nativeAttempt(input.native, request, deps);
  if (input.native !== null && attempt?.provider !== provider.name) {
    return answer(UNKNOWN_ATTEMPT, { ...input, native: null }, request);
  }
  const wait = deps.limits.beforePassword(username, client);
  if (wait !== null) {
    deps.audit.write("rate_limited", { ip: client, path: request.path });
    return answer(TOO_MANY, input, request, wait);
  }
  try {
    const identity = await callProvider(deps.clock, (signal) =>
      provider.verifyPassword({ username, password, signal }),
    );
    deps.limits.passwordRight(username, client);
    const login = { identity, tokens: null };
    if (attempt) {
      const url = desk?.finish(attempt.native, provider, login, request) ?? null;
      if (url === null) return answer(TOO_MANY_CODES, input, request);
      return arrived(url, useAttempt(attempt, request, deps), input, request, deps);
    }
    const cookies = openBrowserSession({ provider, login, request, caller }, deps);
    return arrived(landing(request.prefix, input.next), cookies, input, request, deps);
  } catch (cause) {
    const failure = failureOf(cause, provider.name);
    if (failure.status === 401) deps.limits.passwordFailed(username, client);
    else logCause(cause, provider.name, deps);
    noteFailure(failure, input, request, deps);
    return answer(failure, input, request);
  }
}

function arrived(
  url: string,
  cookies: readonly string[],
  { isForm, native }: PasswordInput,
  request: GateRequest,
  deps: LoginDeps,
): GateAnswer {
  if (!isForm) return jsonAnswer(200, { ok: true, next: url }, { cookies });
  return native === null
    ? redirectAnswer(url, cookies, 303)
    : backToApp(url, request, cookies, deps);
}

function noteFailure(
  { reason }: LoginFailure,
  { provider, username }: PasswordInput,
  { client, headers }: GateRequest,
  { audit }: LoginDeps,
): void {
  const device = deviceOf(headers["user-agent"]);
  const user = username.slice(0, 64);
  audit.write("login_failure", { provider, reason, user, ip: client, device });
}

function answer(
  { status, detail, code, error }: LoginFailure,
  { isForm, next, native }: PasswordInput,
  { prefix }: GateRequest,
  retryAfterSeconds = 10,
): GateAnswer {
  if (isForm) {
    const app = native === null ? "" : `&native=${encodeURIComponent(native)}`;
    const query = `error=${error}${nextQuery(next, "&")}${app}`;
    return redirectAnswer(href(prefix, `/login?${query}`), [], 303);
  }
  const later = status === 429 || status === 503;
  const headers: Record<string, string> = later ? { "Retry-After": String(retryAfterSeconds) } : {};
  return jsonAnswer(status, { detail, code }, { headers });
}
