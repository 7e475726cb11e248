// What the route files share.
import type { AuthServices } from "./auth-services.ts";
import type { Changes } from "./changes.ts";
import type { DashboardDeps, OpenCounts, ProfileServices } from "./deps.ts";
import type { RouteContext } from "./routing.ts";
import type { SseServer } from "./sse.ts";
import type { StaticFiles } from "./static-files.ts";
import type { StatusSnapshot } from "./status-snapshot.ts";

export interface RouteServices {
  readonly deps: DashboardDeps;
  readonly snapshot: StatusSnapshot;
  readonly changes: Changes;
  readonly sse: SseServer;
  readonly auth: AuthServices;
  readonly files: StaticFiles;
  /** False after the stop began: the server answers 503 on /readyz. */
  isRunning(): boolean;
  readonly counts: () => OpenCounts;
}

/** The profile of `?profile=`, else the active one, found out at this request (C12). Unknown: 404. */
export function profileOf(
  services: RouteServices,
  context: Pick<RouteContext, "query">,
  name?: string,
): Promise<ProfileServices> {
  return services.deps.profiles.open(name ?? (context.query.get("profile") || undefined));
}

/** Seconds since 1970 -> ISO 8601 UTC. */
export function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}
