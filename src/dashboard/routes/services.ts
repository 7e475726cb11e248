// Services and their jobs (dashboard.md §11.4). Nothing here runs a service as a child.
import { randomHex } from "#base/ids.ts";
import type { ServiceBody, ServiceState } from "#protocol/http-status.ts";
import type { ServiceAction, ServiceRow } from "#protocol/http-services.ts";
import { slotName } from "#supervisor/slot-name.ts";
import { fail, notFound } from "../errors.ts";
import { readTail } from "../log-tail.ts";
import { intParam } from "../query.ts";
import { json, type Registrars, type RouteContext } from "../routing.ts";
import { profileOf, type RouteServices } from "../route-services.ts";
import { createServiceJobs, type ServiceJobs } from "../service-jobs.ts";

const ACTIONS: readonly ServiceAction[] = ["start", "stop", "restart"];

export function registerServices(routes: Registrars, services: RouteServices): void {
  const { deps } = services;
  const { manager, watch } = deps.services;
  const jobs = createServiceJobs({
    manager,
    watch,
    clock: deps.clock,
    newId: () => randomHex(16, deps.random),
    redact: deps.redact,
  });

  routes.session("GET /api/services", {
    handler: () =>
      json({
        services: watch.services().map((service) => rowOf(service, manager.canRegister)),
        manager: { kind: manager.kind, label: manager.label },
        as_of: new Date(watch.asOf()).toISOString(),
      }),
  });

  for (const action of ACTIONS) {
    routes.session(`POST /api/services/{slot}/${action}`, {
      handler(context) {
        const service = found(services, context.params["slot"] ?? "");
        const { id, coalesced } = act(services, jobs, context, service.name, action);
        return json({ ok: true, service: service.name, action, job_id: id, coalesced }, 202);
      },
    });

    routes.session(`POST /api/gateway/${action}`, {
      async handler(context) {
        const { name } = await profileOf(services, context);
        const slot = slotName({ kind: "gateway", profile: name });
        const { id, coalesced } = act(services, jobs, context, slot, action);
        const pid = watch.services().find((service) => service.name === slot)?.pid ?? null;
        return json({ ok: true, pid, name: `gateway-${action}`, job_id: id, coalesced }, 202);
      },
    });
  }

  routes.session("GET /api/services/jobs/{id}", {
    handler({ params }) {
      const job = jobs.find(params["id"] ?? "");
      if (job === null) throw notFound("Job");
      return json(job);
    },
  });

  routes.session("GET /api/services/{slot}/log", {
    async handler({ params, query }) {
      const { log } = found(services, params["slot"] ?? "");
      const count = intParam(query, "lines", { fallback: 100, least: 1, most: 2000 });
      const lines = log === null ? [] : await readTail(log);
      return json({ lines: lines.slice(-count).map((line) => deps.redact(line)) });
    },
  });
}

function found({ deps }: RouteServices, name: string): ServiceBody {
  const service = deps.services.watch.services().find((entry) => entry.name === name);
  if (service === undefined) throw notFound("Service");
  return service;
}

/** What can be asked of a service here, now. A dashboard outside a slot cannot bring itself back. */
function rowOf(service: ServiceBody, canRegister: boolean): ServiceRow {
  return { ...service, allowed_actions: allowed(service, canRegister) };
}

function allowed({ kind, state }: ServiceBody, canRegister: boolean): readonly ServiceAction[] {
  if (kind === "dashboard" && (!canRegister || state === "disabled")) return [];
  return ALLOWED[state];
}

const UP: readonly ServiceAction[] = ["stop", "restart"];
const ALLOWED: Readonly<Record<ServiceState, readonly ServiceAction[]>> = {
  disabled: ["start"],
  stopped: ["start"],
  refused: ["start"],
  starting: UP,
  ready: UP,
  degraded: UP,
  stopping: UP,
  "crash-looping": ACTIONS,
  unknown: ACTIONS,
};

function act(
  { deps, auth }: RouteServices,
  jobs: ServiceJobs,
  { facts }: Pick<RouteContext, "facts">,
  slot: string,
  action: ServiceAction,
): ReturnType<ServiceJobs["begin"]> {
  const { manager } = deps.services;
  if (slot === "dashboard" && !manager.canRegister) {
    throw fail(
      409,
      "not_supervised",
      "Nothing supervises this dashboard: stop it with `hermes dashboard --stop`, start it with `hermes dashboard`",
    );
  }
  auth.audit.write("service_action", { service: slot, action, ip: facts.client });
  return jobs.begin(slot, action);
}
