// The login gate: who a request comes from, and what each state of a credential gets (dashboard.md §4.1).
import type { Clock } from "#base/clock.ts";
import { type AccessRule, bearerOf, type Caller, type Gate, type GateRequest } from "./access.ts";
import { type GateAnswer, jsonAnswer, pageAnswer, redirectAnswer } from "./answer.ts";
import type { Audit } from "./audit.ts";
import { clearAllCookies, readCookies, SESSION_COOKIE, SSO_COOKIE, setCookie } from "./cookies.ts";
import { FORBIDDEN } from "./local-gate.ts";
import { createMinuteOnce } from "./minute-once.ts";
import type { NativeTokenReader } from "./native-tokens.ts";
import { nextQuery, parseNext, type SafeRedirect } from "./next.ts";
import { stalledPage } from "./pages/message-page.ts";
import { href } from "./prefix.ts";
import type { ProviderRegistry } from "./providers/registry.ts";
import { callProvider } from "./provider-call.ts";
import type { Refresher } from "./refresher.ts";
import type { SessionRecords } from "./sessions/records.ts";
import type { Session } from "./sessions/session.ts";
import type { GateSettings } from "./settings.ts";

const FRESH_LOGIN_SECONDS = 15 * 60;
export const SSO_TTL_SECONDS = 60;
const RETRY_AFTER = { "Retry-After": "10" };

export interface SessionGateDeps {
  readonly records: SessionRecords;
  readonly refresher: Refresher;
  readonly providers: ProviderRegistry;
  /** Reads `hat_…`; null: native apps are not offered. */
  readonly native: NativeTokenReader | null;
  readonly clock: Clock;
  readonly audit: Audit;
  readonly settings: Pick<GateSettings, "autoSso" | "csp">;
  /** Look of the page that says "try again". */
  readonly theme: () => string;
}

export function createSessionGate(deps: SessionGateDeps): Gate {
  const noteDead = createDeadLog(deps);
  return {
    mode: "gated",
    identify: (rule, request, _queryToken) => identify(rule, request, deps, noteDead),
    refuse: (rule, caller, request) => refuse(rule, caller, request, deps),
  };
}

function isOpen({ class: letter }: AccessRule): boolean {
  return letter === "P" || letter === "B";
}

function identify(
  rule: AccessRule,
  request: GateRequest,
  deps: SessionGateDeps,
  noteDead: (request: GateRequest) => void,
): Caller | Promise<Caller> {
  const cookies = readCookies(request.headers.cookie, SESSION_COOKIE);
  for (const { name, value } of cookies) {
    const session = findSession(value, rule, deps);
    if (session?.kind !== "browser" || session.cookieName !== name) continue;
    return settle(rule, value, session, request, deps, noteDead);
  }
  const bearer = bearerOf(request.headers);
  if (bearer !== null) return identifyBearer(rule, bearer, request, deps, noteDead);
  if (cookies.length === 0) return NOTHING;
  if (!isOpen(rule)) noteDead(request);
  return DEAD_COOKIE;
}

const NOTHING: Caller = { kind: "stranger", presented: "nothing" };
const DEAD_COOKIE: Caller = { kind: "stranger", presented: "cookie" };
const DEAD_TOKEN: Caller = { kind: "stranger", presented: "token" };

/** R reads the record from disk; a record whose provider is gone or was set up anew is over. */
function findSession(id: string, rule: AccessRule, deps: SessionGateDeps): Session | null {
  const { records } = deps;
  const session = rule.class === "R" ? records.recheck(id) : records.find(id);
  return session && isOfProvider(session, deps) ? session : null;
}

function isOfProvider(session: Session, { providers, records }: SessionGateDeps): boolean {
  if (providers.loginProvider(session.provider)?.epoch === session.epoch) return true;
  records.end(session.digest, "stale");
  return false;
}

function settle(
  rule: AccessRule,
  id: string,
  session: Session,
  request: GateRequest,
  deps: SessionGateDeps,
  noteDead: (request: GateRequest) => void,
): Caller | Promise<Caller> {
  const { refresher, records } = deps;
  const decide = (standing: "live" | "dead" | "stalled"): Caller => {
    if (standing === "stalled") return { kind: "stalled", provider: session.provider };
    const now = standing === "live" ? records.byDigest(session.digest) : null;
    if (now) return { kind: "session", session: now, id };
    noteDead(request);
    return session.kind === "browser" ? DEAD_COOKIE : DEAD_TOKEN;
  };
  if (isOpen(rule)) return decide(refresher.peek(session));
  records.touch(session);
  const standing = refresher.ensure(id, session);
  return typeof standing === "string" ? decide(standing) : standing.then(decide);
}

function identifyBearer(
  rule: AccessRule,
  bearer: string,
  request: GateRequest,
  deps: SessionGateDeps,
  noteDead: (request: GateRequest) => void,
): Caller | Promise<Caller> {
  const native = deps.native?.read(bearer, rule.class === "R") ?? null;
  if (native && isOfProvider(native.session, deps)) {
    return settle(rule, native.id, native.session, request, deps, noteDead);
  }
  if (isOpen(rule)) return DEAD_TOKEN;
  return identifyToken(bearer, request, deps);
}

async function identifyToken(
  bearer: string,
  request: GateRequest,
  { providers, clock, audit }: SessionGateDeps,
): Promise<Caller> {
  const principal = await callProvider(clock, (signal) =>
    providers.verifyToken(bearer, signal),
  ).catch(() => null);
  if (!principal) return DEAD_TOKEN;
  const { name, scopes } = principal;
  audit.write("token_auth_success", { name, ip: request.client, path: request.path });
  return { kind: "token", name, scopes: [...scopes] };
}

function refuse(
  rule: AccessRule,
  caller: Caller,
  request: GateRequest,
  deps: SessionGateDeps,
): GateAnswer | null {
  if (isOpen(rule) || caller.kind === "local") return null;
  switch (caller.kind) {
    case "session":
      return refuseSession(rule, caller.session, request, deps);
    case "token":
      return rule.class === "T" && caller.scopes.includes(rule.scope ?? "") ? null : FORBIDDEN;
    case "stalled":
      return stalled(rule, caller.provider, request, deps);
    case "stranger":
      return isNavigation(rule, request)
        ? toLogin(caller.presented, request, deps)
        : unauthorized(caller.presented, request);
    default:
      return caller satisfies never;
  }
}

function refuseSession(
  rule: AccessRule,
  session: Session,
  request: GateRequest,
  { clock }: SessionGateDeps,
): GateAnswer | null {
  if (rule.class === "T") return rule.orSession ? null : FORBIDDEN;
  return rule.freshLogin && !isFreshLogin(session, clock) ? reauthRequired(request.prefix) : null;
}

export function isFreshLogin(session: Session, clock: Clock): boolean {
  return clock.now() / 1000 - session.authTime <= FRESH_LOGIN_SECONDS;
}

/** Where somebody signs in again who is signed in. */
export function reauthUrl(prefix: string): string {
  return href(prefix, "/login?fresh=1&error=reauth");
}

function reauthRequired(prefix: string): GateAnswer {
  return jsonAnswer(403, {
    detail: "Sign in again to do this",
    code: "reauth_required",
    login_url: reauthUrl(prefix),
  });
}

/** Asked by the address bar or a frame: an answer that a person sees. Scripts and event streams get JSON. */
function isNavigation(rule: AccessRule, { method, headers }: GateRequest): boolean {
  if (rule.class !== "N" || (method !== "GET" && method !== "HEAD")) return false;
  const dest = headers["sec-fetch-dest"] ?? "document";
  if (dest !== "document" && dest !== "iframe") return false;
  return !(headers.accept ?? "").includes("text/event-stream");
}

function unauthorized(presented: "nothing" | "cookie" | "token", request: GateRequest): GateAnswer {
  const dead = presented !== "nothing";
  const headers: Record<string, string> =
    bearerOf(request.headers) === null ? {} : { "WWW-Authenticate": "Bearer" };
  return jsonAnswer(
    401,
    {
      error: dead ? "session_expired" : "unauthenticated",
      detail: "Unauthorized",
      reason: dead ? "invalid_or_expired_session" : "no_cookie",
      login_url: href(request.prefix, "/login"),
    },
    { headers, cookies: dead ? clearAllCookies(request) : [] },
  );
}

/** The target of a navigation that was turned away (§4.2). The dispatched path has no prefix any more. */
function nextOf({ path, query }: GateRequest): SafeRedirect | null {
  return parseNext(query === "" ? path : `${path}?${query}`);
}

function toLogin(
  presented: "nothing" | "cookie" | "token",
  request: GateRequest,
  deps: SessionGateDeps,
): GateAnswer {
  const { prefix } = request;
  const next = nextOf(request);
  const login = href(prefix, `/login${nextQuery(next, "?")}`);
  if (presented !== "nothing") return redirectAnswer(login, clearAllCookies(request));
  const marks = readCookies(request.headers.cookie, SSO_COOKIE).map(({ value }) => value);
  // A login just ended well and its cookie is not here: the browser does not keep it, and a further round would not help.
  if (marks.includes("2")) return redirectAnswer(href(prefix, "/login?error=cookie"));
  const provider = marks.length === 0 ? autoProvider(request, deps) : null;
  if (provider === null) return redirectAnswer(login);
  deps.audit.write("login_start", { provider, auto: true, ip: request.client });
  const location = `/auth/login?provider=${encodeURIComponent(provider)}${nextQuery(next, "&")}`;
  const mark = setCookie(SSO_COOKIE, "1", SSO_TTL_SECONDS, request);
  return redirectAnswer(href(prefix, location), [mark]);
}

/** Name of the provider to go to without asking (§4.3), null: the login page asks. */
function autoProvider(
  { method, headers }: GateRequest,
  { providers, settings }: SessionGateDeps,
): string | null {
  const [only, ...others] = providers.loginProviders();
  if (!settings.autoSso || only?.kind !== "redirect" || others.length > 0) return null;
  const accept = headers.accept ?? "*/*";
  const wantsHtml = accept.includes("text/html") || accept === "*/*";
  const isPage = (headers["sec-fetch-dest"] ?? "document") === "document";
  const isPrefetch = headers["sec-purpose"] !== undefined;
  return method === "GET" && wantsHtml && isPage && !isPrefetch ? only.name : null;
}

function stalled(
  rule: AccessRule,
  name: string,
  request: GateRequest,
  { settings, theme }: SessionGateDeps,
): GateAnswer {
  if (!isNavigation(rule, request)) {
    const detail = `Auth provider '${name}' unreachable`;
    const body = { detail, code: "provider_unreachable" };
    return jsonAnswer(503, body, { headers: RETRY_AFTER });
  }
  const { headers, path, query, prefix } = request;
  const again = href(prefix, query === "" ? path : `${path}?${query}`);
  const html = stalledPage({ language: headers["accept-language"], theme: theme(), again });
  return pageAnswer(503, html, settings.csp, { headers: RETRY_AFTER });
}

/** A credential that is over is audited once per minute and client; nothing presented is not. */
function createDeadLog({ audit, clock }: SessionGateDeps): (request: GateRequest) => void {
  const isFirst = createMinuteOnce(clock);
  return ({ client, path }) => {
    if (isFirst(client)) audit.write("session_verify_failure", { ip: client, path });
  };
}
