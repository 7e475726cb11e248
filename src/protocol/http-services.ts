// Services: their state, starting and stopping them (dashboard.md §11.4).
import type { ServiceBody } from "./http-status.ts";

export type ServiceAction = "start" | "stop" | "restart";

export interface ServiceRow extends ServiceBody {
  readonly allowed_actions: readonly ServiceAction[];
}

export interface ServicesBody {
  readonly services: readonly ServiceRow[];
  readonly manager: { readonly kind: string; readonly label: string };
  /** ISO 8601: when the supervisor was asked. */
  readonly as_of: string;
}

/** 202: the job goes on by itself. */
export interface ServiceActionBody {
  readonly ok: true;
  readonly service: string;
  readonly action: ServiceAction;
  readonly job_id: string;
  /** The same action was in progress already: this is its job. */
  readonly coalesced: boolean;
}

export interface GatewayActionBody {
  readonly ok: true;
  readonly pid: number | null;
  readonly name: string;
  readonly job_id: string;
  readonly coalesced: boolean;
}

export interface ServiceJobBody {
  readonly id: string;
  readonly service: string;
  readonly action: ServiceAction;
  readonly status: "running" | "done" | "failed";
  /** Why it failed, with the way out; null otherwise. */
  readonly detail: string | null;
  readonly before_pid: number | null;
  readonly after_pid: number | null;
}

export interface ServiceLogBody {
  readonly lines: readonly string[];
}
