// Starting, stopping and restarting services from the page: answered at once, carried on in the background (dashboard.md §11.4).
import type { Clock } from "#base/clock.ts";
import { HermesError, messageOf } from "#base/errors.ts";
import type { ServiceAction, ServiceJobBody } from "#protocol/http-services.ts";
import type { ServiceManager } from "#supervisor/port.ts";
import type { ServiceWatch } from "#supervisor/watch.ts";
import { fail } from "./errors.ts";

export interface ServiceJobs {
  /** Throws 409 `busy` while the opposite action runs on that slot. */
  begin(slot: string, action: ServiceAction): { readonly id: string; readonly coalesced: boolean };
  /** null: no such job, or one of long ago. */
  find(id: string): ServiceJobBody | null;
}

export interface ServiceJobsDeps {
  readonly manager: ServiceManager;
  readonly watch: ServiceWatch;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly redact: (text: string) => string;
}

interface Job {
  body: ServiceJobBody;
  readonly startedAt: number;
}

const WAIT_MS = 30_000;
const JUST_NOW_MS = 10_000;
const MOST_JOBS = 200;

export function createServiceJobs(deps: ServiceJobsDeps): ServiceJobs {
  const jobs = new Map<string, Job>();
  const latest = new Map<string, Job>();

  const begin: ServiceJobs["begin"] = (slot, action) => {
    const last = latest.get(slot);
    const running = last?.body.status === "running";
    if (
      last !== undefined &&
      last.body.action === action &&
      (running || isJustNow(last, action, deps.clock))
    ) {
      return { id: last.body.id, coalesced: true };
    }
    if (running) {
      throw fail(
        409,
        "busy",
        `${last.body.action} of ${slot} is in progress; wait for it, then try again`,
      );
    }
    const job = newJob(deps, slot, action);
    jobs.set(job.body.id, job);
    latest.set(slot, job);
    if (jobs.size > MOST_JOBS) jobs.delete(jobs.keys().next().value ?? "");
    void carryOut(deps, job);
    return { id: job.body.id, coalesced: false };
  };
  return { begin, find: (id) => jobs.get(id)?.body ?? null };
}

/** A second click on "restart" must not kill the fresh process. */
function isJustNow({ startedAt, body }: Job, action: ServiceAction, clock: Clock): boolean {
  return (
    action === "restart" && body.status === "done" && clock.monotonicMs() - startedAt < JUST_NOW_MS
  );
}

function newJob(
  { watch, clock, newId }: ServiceJobsDeps,
  service: string,
  action: ServiceAction,
): Job {
  const before = watch.services().find(({ name }) => name === service);
  return {
    startedAt: clock.monotonicMs(),
    body: {
      id: newId(),
      service,
      action,
      status: "running",
      detail: null,
      before_pid: before?.pid ?? null,
      after_pid: null,
    },
  };
}

async function carryOut({ manager, watch, redact }: ServiceJobsDeps, job: Job): Promise<void> {
  const { service, action } = job.body;
  try {
    const after = await manager[action](service, {
      waitMs: WAIT_MS,
      by: `dashboard ${action}`,
      source: "dashboard",
    });
    job.body = { ...job.body, status: "done", after_pid: after.pid };
  } catch (error) {
    const fix = error instanceof HermesError && error.fix !== null ? ` ${error.fix}` : "";
    job.body = { ...job.body, status: "failed", detail: redact(`${messageOf(error)}${fix}`) };
  }
  await watch.refresh();
}
