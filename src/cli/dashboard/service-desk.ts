// What the dashboard is told about services: the manager of this machine and a copy of its answers, refreshed in the background.
import { systemClock } from "#base/clock.ts";
import type { ServiceDesk } from "#dashboard/deps.ts";
import { openManager } from "#supervisor/open.ts";
import { watchServices } from "#supervisor/watch.ts";
import type { Workspace } from "../compose.ts";
import type { Context } from "../context.ts";
import { watchRemoteGateway } from "./remote-gateway.ts";

export function openServiceDesk(
  { launch }: Context,
  workspace: Workspace,
  root: string,
): ServiceDesk {
  const { lock } = workspace;
  const log = workspace.logs.component("services");
  const warned = new Set<string>();
  const warn = (text: string): void => {
    if (!warned.has(text)) log.warn(text);
    warned.add(text);
  };
  const gatewayHealthUrl = launch.env["GATEWAY_HEALTH_URL"] || null;
  const remote = watchRemoteGateway(
    gatewayHealthUrl,
    launch.env["GATEWAY_HEALTH_TIMEOUT"],
    systemClock,
  );
  const deps = { root, lock, warn, remote: () => remote.state() };
  const manager = openManager({ env: launch.env, project: launch.project, ...deps });
  const watch = watchServices(manager, { ...deps, clock: systemClock, log });
  return {
    manager,
    gatewayHealthUrl,
    watch: {
      ...watch,
      close() {
        remote.close();
        watch.close();
      },
    },
  };
}
