// The login attempts that this browser carries: read from all its cookies, written back as one (dashboard.md §6.2).
import type { GateRequest } from "../access.ts";
import {
  ATTEMPT_TTL_SECONDS,
  type LoginAttempt,
  readAttempts,
  type ReadAttempts,
  writeAttempts,
} from "../attempt-cookie.ts";
import { ATTEMPT_COOKIE, clearCookie, readCookies, setCookie } from "../cookies.ts";
import type { LoginDeps } from "./deps.ts";

export interface KeptAttempts extends ReadAttempts {
  /** There was a cookie of the name, readable or not. */
  readonly present: boolean;
}

export function attemptsOf(
  { headers }: Pick<GateRequest, "headers">,
  { clock }: Pick<LoginDeps, "clock">,
): KeptAttempts {
  const values = readCookies(headers.cookie, ATTEMPT_COOKIE).map(({ value }) => value);
  const read = readAttempts(values, Math.floor(clock.now() / 1000));
  return { ...read, present: values.length > 0 };
}

/** `Set-Cookie` lines; deletions when nothing is left. */
export function keepAttempts(
  attempts: readonly LoginAttempt[],
  request: GateRequest,
): readonly string[] {
  const value = writeAttempts(attempts, request.prefix);
  if (value === null) return clearCookie(ATTEMPT_COOKIE, request);
  return [setCookie(ATTEMPT_COOKIE, value, ATTEMPT_TTL_SECONDS, request)];
}
