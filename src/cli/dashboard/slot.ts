// How the dashboard is started in its slot: host, port and the one opt-out, from the container's environment (container.md §5).
import { parseSwitch } from "#base/booleans.ts";
import { HermesError } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";

const HOST = "0.0.0.0";
const PORT = "9119";

/** Throws SERVICE_LINK (78) where Kubernetes has put the address of a Service into our variable. */
export function dashboardWords(
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const port = env["HERMES_DASHBOARD_PORT"] || PORT;
  if (port.includes("://")) throw serviceLink(port);
  const isInsecure = parseSwitch(env["HERMES_DASHBOARD_INSECURE"]) === "on";
  return [
    "dashboard",
    "--no-open",
    "--host",
    env["HERMES_DASHBOARD_HOST"] || HOST,
    "--port",
    port,
    ...(isInsecure ? ["--insecure"] : []),
  ];
}

function serviceLink(value: string): HermesError {
  return new HermesError(
    "SERVICE_LINK",
    `HERMES_DASHBOARD_PORT=${value} was set by a Kubernetes Service of that name, not by you.`,
    {
      exit: EXIT.refused,
      setting: "HERMES_DASHBOARD_PORT",
      fix: "Set enableServiceLinks: false in the pod, or rename the Service.",
    },
  );
}
