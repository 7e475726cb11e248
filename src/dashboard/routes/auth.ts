// Who is signed in, where, and tickets for upgrades (dashboard.md §9.1, §11.1).
import { createLimiter } from "#auth/limiter.ts";
import { limiterKey } from "#auth/addresses.ts";
import { clearAllCookies } from "#auth/cookies.ts";
import { endAllOf } from "#auth/login/logout.ts";
import { isSameUser, type Session, sessionName } from "#auth/sessions/session.ts";
import { TICKET_TTL_SECONDS } from "#auth/ws-tickets.ts";
import type { MeBody } from "#protocol/http-status.ts";
import { toResponse } from "../answer-response.ts";
import { LOCAL_OWNER } from "../auth-services.ts";
import { fail, HttpFailure, notFound, tooMany } from "../errors.ts";
import { ownerOf } from "../owner.ts";
import { json, type Registrars, type RouteContext } from "../routing.ts";
import { isoTime, type RouteServices } from "../route-services.ts";

export function registerAuth(routes: Registrars, services: RouteServices): void {
  const { deps, auth } = services;
  const sessionsOf = (own: Session | null): Session[] =>
    (auth.gated?.records.list() ?? []).filter((session) => own && isSameUser(session, own));

  routes.bootstrap("GET /api/auth/providers", {
    handler() {
      const providers = deps.providers.loginProviders().map(({ name, displayName, kind }) => ({
        name,
        display_name: displayName,
        supports_password: kind === "password",
      }));
      if (providers.length > 0) return json({ providers });
      throw fail(503, "unsupported", "no auth providers registered");
    },
  });
  routes.session("GET /api/auth/providers/status", {
    handler: () => json({ providers: deps.providers.reports() }),
  });
  routes.session("GET /api/auth/me", {
    handler(context) {
      const own = sessionOf(context);
      // Nobody is signed in in local mode; the app does not ask.
      if (!own) throw new HttpFailure(401, { detail: "Unauthorized" } as never);
      return json(meOf(own));
    },
  });

  routes.session("GET /api/auth/sessions", {
    handler(context) {
      const own = sessionOf(context);
      const sessions = sessionsOf(own)
        .sort((a, b) => b.lastSeenAt - a.lastSeenAt)
        .map((session) => rowOf(session, own));
      return json({ sessions });
    },
  });
  routes.session("DELETE /api/auth/sessions/{sid}", {
    handler(context) {
      const { sid } = context.params;
      const found = sessionsOf(sessionOf(context)).find((session) => sessionName(session) === sid);
      if (!found) throw notFound("Session");
      auth.gated?.records.end(found.digest, "revoked");
      return json({ ok: true });
    },
  });
  routes.session("POST /auth/logout-all", {
    handler(context) {
      const own = sessionOf(context);
      const ended = auth.gated && own ? endAllOf(own, auth.gated) : 0;
      const cookies = clearAllCookies(context.facts);
      return toResponse({ status: 200, headers: {}, cookies, body: { ok: true, ended } });
    },
  });

  routes.session("POST /api/auth/ws-ticket", {
    limit: {
      limiter: createLimiter({ most: 60, windowMs: 60_000 }, deps.clock),
      key: ({ facts, caller }) => ownerOf(caller) ?? limiterKey(facts.client),
    },
    handler({ facts, caller }) {
      const ticket = auth.tickets.mint(ownerOf(caller) ?? LOCAL_OWNER);
      if (ticket === null) throw tooMany(TICKET_TTL_SECONDS);
      auth.audit.write("ws_ticket_minted", { ip: facts.client });
      return json({ ticket, ttl_seconds: TICKET_TTL_SECONDS });
    },
  });
}

/** null: local mode. */
function sessionOf({ caller }: Pick<RouteContext, "caller">): Session | null {
  return caller.kind === "session" ? caller.session : null;
}

function meOf({ identity, provider, absoluteEnd }: Session): MeBody {
  return {
    user_id: identity.userId,
    email: identity.email,
    display_name: identity.displayName,
    org_id: identity.orgId,
    provider,
    expires_at: absoluteEnd,
  };
}

function rowOf(session: Session, own: Session | null) {
  return {
    id: sessionName(session),
    kind: session.kind,
    provider: session.provider,
    created_at: isoTime(session.createdAt),
    last_seen_at: isoTime(session.lastSeenAt),
    ip: session.ip,
    user_agent: session.userAgent,
    current: session.digest === own?.digest,
  };
}
