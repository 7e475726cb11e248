// Services of GET /api/status as the strip shows them: a word, an icon and a colour for each state (D4).
import type { FullStatusBody, ServiceState, StatusBody } from "#protocol/http-status.ts";
import { useWords } from "../i18n/i18n.tsx";
import type { IconName } from "../parts/icons.tsx";

export interface ServiceLine {
  readonly name: string;
  readonly kind: "dashboard" | "gateway";
  readonly profile: string | null;
  readonly state: ServiceState;
  readonly reason: string | null;
  readonly pid: number | null;
  readonly since: string | null;
  readonly restarts: number;
}

export const STATE_LOOK: Readonly<
  Record<ServiceState, { readonly icon: IconName; readonly tone: string }>
> = {
  disabled: { icon: "pause", tone: "text-muted-foreground" },
  stopped: { icon: "pause", tone: "text-muted-foreground" },
  starting: { icon: "retry", tone: "text-warning" },
  ready: { icon: "check", tone: "text-success" },
  degraded: { icon: "warning", tone: "text-warning" },
  stopping: { icon: "retry", tone: "text-warning" },
  "crash-looping": { icon: "error", tone: "text-destructive" },
  refused: { icon: "error", tone: "text-destructive" },
  unknown: { icon: "question", tone: "text-muted-foreground" },
};

function isFull(status: StatusBody): status is FullStatusBody {
  return "services" in status;
}

/** The gateway's word for strangers, in D4's words (dashboard.md §11.2, read backwards). */
function gatewayState(status: StatusBody): ServiceState {
  switch (status.gateway_state) {
    case "running":
      return "ready";
    case "degraded":
    case "starting":
    case "stopped":
      return status.gateway_state;
    case "draining":
      return "stopping";
    case "startup_failed":
      return "refused";
    case null:
      return "unknown";
  }
}

/** Every slot; without a supervisor the dashboard that answered, and the gateway as far as it is known. */
export function serviceLines(status: StatusBody): readonly ServiceLine[] {
  if (isFull(status) && status.services.length > 0) return status.services;
  const nothing = { profile: null, reason: null, pid: null, since: null, restarts: 0 };
  return [
    { ...nothing, name: "dashboard", kind: "dashboard", state: "ready" },
    { ...nothing, name: "gateway", kind: "gateway", state: gatewayState(status) },
  ];
}

/** What a service is called on the page. */
export function useServiceName(): (service: Pick<ServiceLine, "kind" | "profile">) => string {
  const { t } = useWords();
  return ({ kind, profile }) => {
    if (kind === "dashboard") return t.status.dashboard;
    return profile === null || profile === "default"
      ? t.status.gateway
      : t.status.gatewayOf(profile);
  };
}
