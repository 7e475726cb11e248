// The numbers of a dashboard and its services as Prometheus reads them; loaded with the first scrape.
import { Counter, Gauge, Registry } from "prom-client";
import type { RouteServices } from "./route-services.ts";

/** One set a scrape: nothing is counted twice, and a slot that is gone is gone here, too. */
export async function metricsOf({
  deps,
  snapshot,
  counts,
}: RouteServices): Promise<{ readonly text: string; readonly contentType: string }> {
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string, labels: string[] = []): Gauge =>
    new Gauge({ name, help, labelNames: labels, registers });

  gauge("hermes_build_info", "The version that runs", ["version"]).set(
    { version: deps.version },
    1,
  );
  const state = gauge("hermes_slot_state", "1 for the state that a service is in", [
    "slot",
    "state",
  ]);
  const restarts = new Counter({
    name: "hermes_slot_restarts_total",
    help: "Deaths of a service since boot that nobody asked for",
    labelNames: ["slot"],
    registers,
  });
  for (const service of deps.services.watch.services()) {
    state.set({ slot: service.name, state: service.state }, 1);
    restarts.inc({ slot: service.name }, service.restarts);
  }
  gauge("hermes_active_sessions", "Sessions with a message in the last 300 s").set(
    snapshot.public().active_sessions,
  );
  const open = gauge("hermes_open_connections", "Connections of browsers and programs", ["kind"]);
  for (const [kind, value] of Object.entries(counts())) open.set({ kind }, value);
  return { text: await registry.metrics(), contentType: registry.contentType };
}
