// The end of a login: the record goes first, the provider is told afterwards and need not answer (dashboard.md §6.7).
import { bearerOf, type GateRequest } from "../access.ts";
import { type GateAnswer, jsonAnswer, redirectAnswer } from "../answer.ts";
import { clearAllCookies, readCookies, SESSION_COOKIE } from "../cookies.ts";
import { idOf } from "../native-tokens.ts";
import { href } from "../prefix.ts";
import { callProvider } from "../provider-call.ts";
import type { Tokens } from "../providers/provider.ts";
import { isSameUser, type Session } from "../sessions/session.ts";
import type { LoginDeps } from "./deps.ts";
import { wantsJson } from "./failure.ts";
import { callbackUrl } from "./redirect-login.ts";

/** POST /auth/logout. Works without a session, and with one that is stalled. */
export function logout(request: GateRequest, deps: LoginDeps): GateAnswer {
  let target = href(request.prefix, "/login?logged_out=1");
  for (const id of presentedIds(request)) {
    const session = deps.records.find(id);
    if (!session) continue;
    const tokens = deps.records.tokensOf(id);
    deps.records.end(session.digest, "logout");
    const { provider, identity } = session;
    deps.audit.write("logout", { provider, user_id: identity.userId, ip: request.client });
    target = leaveProvider(session, tokens, request, deps) ?? target;
  }
  const cookies = clearAllCookies(request);
  const type = request.headers["content-type"] ?? "";
  if (wantsJson(request) || type.startsWith("application/json")) {
    return jsonAnswer(200, { ok: true, login_url: target }, { cookies });
  }
  return redirectAnswer(target, cookies);
}

/** Every session of this user; returns how many. */
export function endAllOf(user: Session, { records }: Pick<LoginDeps, "records">): number {
  const mine = records.list().filter((session) => isSameUser(session, user));
  for (const { digest } of mine) records.end(digest, "revoked");
  return mine.length;
}

function presentedIds({ headers }: GateRequest): readonly string[] {
  const ids = readCookies(headers.cookie, SESSION_COOKIE).map(({ value }) => value);
  const native = idOf(bearerOf(headers) ?? "", "hat");
  return native === null ? ids : [...ids, native];
}

/** Revokes in the background; the address of the issuer's own logout where that is wanted, else null. */
function leaveProvider(
  session: Session,
  tokens: Tokens | null,
  request: GateRequest,
  { providers, clock, settings }: LoginDeps,
): string | null {
  const provider = providers.loginProvider(session.provider);
  if (provider?.kind !== "redirect" || !tokens) return null;
  void callProvider(clock, (signal) => provider.revoke(tokens, signal)).catch(() => undefined);
  const back = callbackUrl(request, settings);
  back.pathname = back.pathname.replace(/\/auth\/callback$/, "/login");
  back.search = "logged_out=1";
  return provider.endSessionUrl?.(tokens, back)?.href ?? null;
}
