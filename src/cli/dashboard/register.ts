// `hermes dashboard register --client-id agent:…`: the id that a portal gave this agent, checked and written to .env.
import { offerNous } from "#auth/providers/nous.ts";
import { createOidcHttp } from "#auth/providers/oidc-http.ts";
import { systemClock } from "#base/clock.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { systemRandom } from "#base/ids.ts";
import { silentLog } from "#base/log.ts";
import { setEnvValue } from "#config/env-write.ts";
import { rootOf } from "#config/homes.ts";
import { usageError } from "../command-line.ts";
import { ensureHome } from "../compose.ts";
import { openConfigSource } from "../config-source.ts";
import { configTarget } from "../config-target.ts";
import { textOption, type Context } from "../context.ts";
import { afterRestart } from "./restart-note.ts";

/** Nobody is asked, so no proxy is needed. */
const STRAIGHT = { http: "", https: "", none: "" };
const NAME = "HERMES_DASHBOARD_OAUTH_CLIENT_ID";

export async function register({ launch, line, io }: Context): Promise<ExitCode> {
  const clientId = textOption(line.options, "clientId")?.trim() ?? "";
  if (clientId === "") throw usageError("register needs --client-id agent:….");
  const home = { ...launch, home: rootOf(launch.home) };
  const loaded = openConfigSource(home).loaded();
  const portalUrl = loaded.config.dashboard.oauth.portal_url;
  const problem = problemOf(clientId, portalUrl);
  if (problem !== null)
    throw usageError(problem, "Copy the id from the portal's page of this agent.");
  await ensureHome(home);
  await setEnvValue(configTarget(home), NAME, clientId);
  if (loaded.env.source(NAME) === "env" && loaded.env.get(NAME) !== clientId) {
    io.note(`${NAME} is set in the environment and comes before what was written: unset it.`);
  }
  if (io.json) io.object({ client_id: clientId, portal_url: portalUrl });
  else io.line(`${clientId} signs in at ${portalUrl}. ${afterRestart(loaded.root)}`);
  return EXIT.ok;
}

/** What the provider itself says of these settings; it asks nobody. */
function problemOf(clientId: string, portalUrl: string): string | null {
  const deps = { clock: systemClock, random: systemRandom, log: silentLog };
  const http = createOidcHttp({ proxy: STRAIGHT, clock: systemClock });
  const offer = offerNous({ clientId, portalUrl }, { ...deps, http });
  return offer.status === "ready" ? null : offer.reason;
}
