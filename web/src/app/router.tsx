// Routes in code: the shell around all of them, a chunk per page, an error boundary per route.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  retainSearchParams,
} from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { setupQuery } from "../api/queries.ts";
import { QueryView } from "../parts/states.tsx";
import { NotFound, RouteFailure } from "./boundaries.tsx";
import { boot } from "./services.ts";
import { Shell } from "./shell.tsx";

/** The profile that the page shows stays in its address wherever a link leads. */
const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  validateSearch: (search): { profile?: string } =>
    typeof search["profile"] === "string" ? { profile: search["profile"] } : {},
  search: { middlewares: [retainSearchParams(["profile"])] },
});

/** `/` goes to the first run without a usable model, else to the chat. */
function Home() {
  const setup = useQuery(setupQuery);
  return (
    <div className="p-6">
      <QueryView query={setup}>
        {({ model_ready: ready }) => <Navigate to={ready ? "/chat" : "/setup"} replace />}
      </QueryView>
    </div>
  );
}

const page = <T extends string>(path: T) => ({ getParentRoute: () => root, path });

const index = createRoute({ ...page("/"), component: Home });

const chat = createRoute({
  ...page("/chat"),
  component: lazyRouteComponent(() => import("../pages/chat/chat-page.tsx"), "ChatPage"),
});
// The page itself belongs to /chat, so that a new conversation gets its id without being drawn anew.
const chatSession = createRoute({ getParentRoute: () => chat, path: "$id" });

const setup = createRoute({
  ...page("/setup"),
  component: lazyRouteComponent(() => import("../pages/setup/setup-page.tsx"), "SetupPage"),
});

const sessions = createRoute({
  ...page("/sessions"),
  validateSearch: (search): { q?: string } =>
    typeof search["q"] === "string" && search["q"] !== "" ? { q: search["q"] } : {},
  component: lazyRouteComponent(
    () => import("../pages/sessions/sessions-page.tsx"),
    "SessionsPage",
  ),
});

const models = createRoute({
  ...page("/models"),
  component: lazyRouteComponent(() => import("../pages/models-page.tsx"), "ModelsPage"),
});

const env = createRoute({
  ...page("/env"),
  component: lazyRouteComponent(() => import("../pages/keys-page.tsx"), "KeysPage"),
});

const config = createRoute({
  ...page("/config"),
  component: lazyRouteComponent(() => import("../pages/config/config-page.tsx"), "ConfigPage"),
});

const logs = createRoute({
  ...page("/logs"),
  component: lazyRouteComponent(() => import("../pages/logs-page.tsx"), "LogsPage"),
});

const analytics = createRoute({
  ...page("/analytics"),
  component: lazyRouteComponent(() => import("../pages/analytics-page.tsx"), "AnalyticsPage"),
});

const themes = createRoute({
  ...page("/themes"),
  component: lazyRouteComponent(() => import("../pages/themes-page.tsx"), "ThemesPage"),
});

const services = createRoute({
  ...page("/services"),
  component: lazyRouteComponent(
    () => import("../pages/services/services-page.tsx"),
    "ServicesPage",
  ),
});

const profiles = createRoute({
  ...page("/profiles"),
  component: lazyRouteComponent(
    () => import("../pages/profiles/profiles-page.tsx"),
    "ProfilesPage",
  ),
});

const terminal = createRoute({
  ...page("/terminal"),
  validateSearch: (search): { resume?: string } =>
    typeof search["resume"] === "string" ? { resume: search["resume"] } : {},
  component: lazyRouteComponent(
    () => import("../pages/terminal/terminal-page.tsx"),
    "TerminalPage",
  ),
});

export const router = createRouter({
  routeTree: root.addChildren([
    index,
    chat.addChildren([chatSession]),
    setup,
    sessions,
    models,
    env,
    config,
    logs,
    analytics,
    themes,
    terminal,
    services,
    profiles,
  ]),
  basepath: boot.basePath === "" ? "/" : boot.basePath,
  defaultPreload: "intent",
  defaultErrorComponent: RouteFailure,
  scrollRestoration: false,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
