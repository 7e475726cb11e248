// Health and status (dashboard.md §11.1, §11.2). Nothing here does I/O for a stranger.
import { isLoopbackHost } from "#auth/addresses.ts";
import { isBeyondLoopback, shouldRequireAuth } from "#auth/require-auth.ts";
import type { ServiceBody, ServiceState } from "#protocol/http-status.ts";
import { json, type Registrars } from "../routing.ts";
import type { RouteServices } from "../route-services.ts";

export function registerStatus(routes: Registrars, services: RouteServices): void {
  const { deps, snapshot } = services;
  const { settings } = deps;
  const gated = shouldRequireAuth(settings);
  const openLoopback = isLoopbackHost(settings.host) && !isBeyondLoopback(settings.publicUrl);

  const gatewayState = (): ServiceState =>
    deps.services.watch.services().find(({ profile }) => profile === "default")?.state ?? "unknown";

  routes.public("GET /api/health", {
    handler: () => json({ ok: true, version: deps.version, auth_required: gated }),
  });

  routes.public("GET /api/status", {
    async handler({ caller, query }) {
      const known = caller.kind === "local" || caller.kind === "session";
      const profile = query.get("profile");
      if (known && profile) return json(await snapshot.fullOf(profile));
      return json(known || openLoopback ? snapshot.full() : snapshot.public());
    },
  });

  routes.public("GET /api/model/info", { handler: () => json(snapshot.model()) });

  routes.bootstrap("GET /healthz", {
    handler: () => new Response("ok", { headers: { "Content-Type": "text/plain" } }),
  });

  routes.bootstrap("GET /readyz", {
    handler() {
      const running = services.isRunning();
      const ready = running && !deps.services.watch.services().some(isMissing);
      const dashboard = running ? "ready" : "stopping";
      const gateway = gatewayState();
      return json({ ready, services: { dashboard, gateway } }, ready ? 200 : 503);
    },
  });
}

/** Wanted, and not up. Of the dashboard itself this process knows better than any copy of its slot's state. */
function isMissing({ kind, desired, state }: ServiceBody): boolean {
  return kind !== "dashboard" && desired === "running" && !UP.includes(state);
}

const UP: readonly ServiceState[] = ["ready", "degraded"];
