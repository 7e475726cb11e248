// How the dashboard is started in its slot: host, port and the one opt-out, from the container's environment (container.md §5).
import { parseSwitch } from "#base/booleans.ts";
import { HermesError } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import { serviceLinkOf } from "#dashboard/service-link.ts";

/** Where the image binds unless told otherwise (D12). */
export const IMAGE_HOST = "0.0.0.0";
const PORT = "9119";

/** Throws SERVICE_LINK (78) where Kubernetes has put the address of a Service into our variable. */
export function dashboardWords(
  env: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const port = env["HERMES_DASHBOARD_PORT"] || PORT;
  const link = serviceLinkOf(port);
  if (link !== null) {
    const setting = "HERMES_DASHBOARD_PORT";
    throw new HermesError("SERVICE_LINK", link.message, {
      exit: EXIT.refused,
      setting,
      fix: link.fix,
    });
  }
  const isInsecure = parseSwitch(env["HERMES_DASHBOARD_INSECURE"]) === "on";
  return [
    "dashboard",
    "--no-open",
    "--host",
    env["HERMES_DASHBOARD_HOST"] || IMAGE_HOST,
    "--port",
    port,
    ...(isInsecure ? ["--insecure"] : []),
  ];
}
