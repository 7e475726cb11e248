// GET /metrics for Prometheus (dashboard.md §11.1), with a token of its own or a login; off unless `dashboard.metrics` is on. Every
// number is a copy that is kept anyway: a scrape costs the services nothing.
import { notFound } from "../errors.ts";
import type { Registrars } from "../routing.ts";
import type { RouteServices } from "../route-services.ts";

export function registerMetrics(routes: Registrars, services: RouteServices): void {
  const { deps } = services;
  routes.scoped(
    "GET /metrics",
    { scope: "metrics:read", orSession: true },
    {
      async handler() {
        if (!deps.profiles.glance().loaded().config.dashboard.metrics) throw notFound("Page");
        const { metricsOf } = await import("../metrics.ts");
        const { text, contentType } = await metricsOf(services);
        return new Response(text, { headers: { "Content-Type": contentType } });
      },
    },
  );
}
