// A Service of the name `hermes-dashboard` makes Kubernetes put `tcp://…` into our variable (container.md §5).

export interface ServiceLink {
  readonly message: string;
  /** The way out. */
  readonly fix: string;
}

/** null: somebody's own value, good or bad. */
export function serviceLinkOf(port: string): ServiceLink | null {
  if (!port.includes("://")) return null;
  return {
    message: `HERMES_DASHBOARD_PORT=${port} was set by a Kubernetes Service of that name, not by you.`,
    fix: "Set enableServiceLinks: false in the pod, or rename the Service.",
  };
}
