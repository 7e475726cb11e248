// What the sign-in routes say in local mode, where there is nothing to sign in to, and tickets for upgrades (dashboard.md §9.1,
// §11.1). The login gate replaces these answers by its own.
import { createLimiter } from "#auth/limiter.ts";
import { limiterKey } from "#auth/addresses.ts";
import { href } from "#auth/prefix.ts";
import { TICKET_TTL_SECONDS } from "#auth/ws-tickets.ts";
import { fail, HttpFailure, tooMany } from "../errors.ts";
import type { RequestFacts } from "../facts.ts";
import { json, type Registrars } from "../routing.ts";
import type { RouteServices } from "../route-services.ts";

const OFF = "Sign-in is off: this dashboard runs in local mode";

export function registerAuth(routes: Registrars, services: RouteServices): void {
  const { deps, tickets, audit } = services;
  const home = ({ facts }: { readonly facts: RequestFacts }): Response =>
    new Response(null, { status: 302, headers: { Location: href(facts.prefix, "/") } });
  const off = (): never => {
    throw fail(404, "unsupported", OFF);
  };

  routes.bootstrap("GET /login", { handler: home });
  routes.bootstrap("GET /auth/login", { handler: home });
  routes.bootstrap("GET /auth/callback", { handler: home });
  routes.bootstrap("POST /auth/password-login", { handler: off });
  routes.bootstrap("POST /auth/logout", { handler: off });

  routes.bootstrap("GET /api/auth/providers", {
    handler() {
      throw fail(503, "unsupported", "no auth providers registered");
    },
  });
  routes.session("GET /api/auth/providers/status", { handler: () => json({ providers: [] }) });
  routes.session("GET /api/auth/me", {
    handler() {
      // Nobody is signed in in local mode; the app does not ask.
      throw new HttpFailure(401, { detail: "Unauthorized" } as never);
    },
  });

  routes.session("POST /api/auth/ws-ticket", {
    limit: {
      limiter: createLimiter({ most: 60, windowMs: 60_000 }, deps.clock),
      key: ({ facts }) => limiterKey(facts.client),
    },
    handler({ facts }) {
      const ticket = tickets.mint("local");
      if (ticket === null) throw tooMany(TICKET_TTL_SECONDS);
      audit.write("ws_ticket_minted", { ip: facts.client });
      return json({ ticket, ttl_seconds: TICKET_TTL_SECONDS });
    },
  });
}
