// Every route file, registered. The server compares the result with the REST table at its start.
import type { Registrars } from "../routing.ts";
import type { RouteServices } from "../route-services.ts";
import { registerAnalytics } from "./analytics.ts";
import { registerAuth } from "./auth.ts";
import { registerChatActions } from "./chat-actions.ts";
import { registerChat } from "./chat.ts";
import { registerConfig } from "./config.ts";
import { registerEnv } from "./env.ts";
import { registerEvents } from "./events.ts";
import { registerLogs } from "./logs.ts";
import { registerLook } from "./look.ts";
import { registerMetrics } from "./metrics.ts";
import { registerModels } from "./models.ts";
import { registerPages } from "./pages.ts";
import { registerProfiles } from "./profiles.ts";
import { registerSessionUpkeep } from "./session-upkeep.ts";
import { registerServices } from "./services.ts";
import { registerSessions } from "./sessions.ts";
import { registerSetup } from "./setup.ts";
import { registerSignIn } from "./sign-in.ts";
import { registerStatus } from "./status.ts";

export function registerAll(routes: Registrars, services: RouteServices): void {
  registerStatus(routes, services);
  registerAuth(routes, services);
  registerSignIn(routes, services);
  registerSetup(routes, services);
  registerChat(routes, services);
  registerChatActions(routes, services);
  registerEvents(routes, services);
  registerSessions(routes, services);
  registerSessionUpkeep(routes, services);
  registerLogs(routes, services);
  registerAnalytics(routes, services);
  registerConfig(routes, services);
  registerEnv(routes, services);
  registerModels(routes, services);
  registerServices(routes, services);
  registerProfiles(routes, services);
  registerMetrics(routes, services);
  registerLook(routes, services);
  registerPages(routes, services);
}
