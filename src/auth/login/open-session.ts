// A login that succeeded becomes a session: always under a new id, so that none can be planted beforehand.
import type { Caller, GateRequest } from "../access.ts";
import { deviceOf } from "../audit.ts";
import { cookieName, SESSION_COOKIE, setCookie, SSO_COOKIE } from "../cookies.ts";
import type { Login, LoginProvider } from "../providers/provider.ts";
import { SSO_TTL_SECONDS } from "../session-gate.ts";
import { lifetimeOf } from "../sessions/lifetimes.ts";
import type { Session } from "../sessions/session.ts";
import type { LoginDeps } from "./deps.ts";

export interface NewLogin {
  readonly provider: LoginProvider;
  readonly login: Login;
  readonly request: GateRequest;
  /** Who asked: a session of the same browser ends with this login. */
  readonly caller: Caller;
}

/** `Set-Cookie` lines of session and marker. Throws the system's error when the record cannot be written. */
export function openBrowserSession(input: NewLogin, deps: LoginDeps): readonly string[] {
  const { request, caller } = input;
  const { id, session } = openSession("browser", input, deps);
  if (caller.kind === "session") deps.records.end(caller.session.digest, "replaced");
  const seconds = Math.max(60, session.absoluteEnd - Math.floor(deps.clock.now() / 1000));
  return [
    setCookie(SESSION_COOKIE, id, seconds, request),
    setCookie(SSO_COOKIE, "2", SSO_TTL_SECONDS, request),
  ];
}

export function openSession(
  kind: Session["kind"],
  { provider, login, request }: Omit<NewLogin, "caller">,
  deps: LoginDeps,
): { readonly id: string; readonly session: Session } {
  const { identity, tokens } = login;
  const refreshable = Boolean(tokens?.refresh);
  const { headers, client } = request;
  const made = deps.records.create(
    {
      kind,
      provider: provider.name,
      epoch: provider.epoch,
      identity: {
        userId: identity.userId,
        email: identity.email.slice(0, 512),
        displayName: identity.displayName.slice(0, 512),
        orgId: identity.orgId.slice(0, 1024),
      },
      cookieName: kind === "browser" ? cookieName(SESSION_COOKIE, request) : "",
      authTime: Math.floor(deps.clock.now() / 1000),
      userAgent: (headers["user-agent"] ?? "").slice(0, 200),
      ip: client.slice(0, 64),
      native: null,
      ...lifetimeOf(provider.kind, refreshable, deps.settings.lifetimes),
    },
    tokens,
  );
  deps.audit.write("login_success", {
    provider: provider.name,
    user_id: identity.userId,
    email: identity.email,
    org_id: identity.orgId,
    ip: client,
    device: deviceOf(headers["user-agent"]),
  });
  return made;
}
