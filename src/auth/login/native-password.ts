// A native app's login at a password provider (dashboard.md §8.2): its request waits in the state cookie while the visitor fills
// in the form of the login page, which carries the attempt's `state`, as an issuer's callback would.
import { randomToken } from "#base/ids.ts";
import type { GateRequest } from "../access.ts";
import { type GateAnswer, pageAnswer, redirectAnswer } from "../answer.ts";
import { findAttempt, type LoginAttempt, type NativeRequest } from "../attempt-cookie.ts";
import { backToAppPage } from "../pages/message-page.ts";
import { href } from "../prefix.ts";
import type { PasswordProvider } from "../providers/provider.ts";
import type { LoginDeps } from "./deps.ts";
import { attemptsOf, keepAttempts } from "./kept-attempts.ts";

export interface NativeAttempt extends LoginAttempt {
  readonly native: NativeRequest;
}

export function startNativePassword(
  native: NativeRequest,
  { name: provider }: PasswordProvider,
  request: GateRequest,
  deps: LoginDeps,
): GateAnswer {
  const { clock, random } = deps;
  const state = randomToken(random);
  const startedAt = Math.floor(clock.now() / 1000);
  const verifier = randomToken(random);
  const mine = { state, verifier, nonce: null, provider, next: null, startedAt, native };
  const cookies = keepAttempts([mine, ...attemptsOf(request, deps).attempts], request);
  return redirectAnswer(href(request.prefix, `/login?native=${state}`), cookies);
}

/** null: this browser started no such login, or too long ago. */
export function nativeAttempt(
  state: string,
  request: GateRequest,
  deps: LoginDeps,
): NativeAttempt | null {
  const found = findAttempt(attemptsOf(request, deps).attempts, state);
  const isHere = found && deps.providers.loginProvider(found.provider)?.kind === "password";
  return isHere && found.native ? { ...found, native: found.native } : null;
}

/** Deletes the attempt. */
export function useAttempt(
  { state }: NativeAttempt,
  request: GateRequest,
  deps: LoginDeps,
): readonly string[] {
  const others = attemptsOf(request, deps).attempts.filter((one) => one.state !== state);
  return keepAttempts(others, request);
}

/** No redirect: browsers follow none from a form to an address that `form-action` does not allow. */
export function backToApp(
  url: string,
  request: GateRequest,
  cookies: readonly string[],
  deps: LoginDeps,
): GateAnswer {
  const language = request.headers["accept-language"];
  const html = backToAppPage({ language, theme: deps.theme(), url });
  return pageAnswer(200, html, deps.settings.csp, {
    cookies,
    headers: { Refresh: `0;url=${url}` },
  });
}
