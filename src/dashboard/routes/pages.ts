// The browser app's files and its page (dashboard.md §11.7).
import type { RouteKeyOf } from "#protocol/http-routes.ts";
import { notFound } from "../errors.ts";
import { renderNoBuild, renderPage } from "../page.ts";
import type { Registrars, RouteContext } from "../routing.ts";
import type { RouteServices } from "../route-services.ts";

const FILES = [
  "GET /assets/*",
  "GET /fonts/*",
  "GET /icons/*",
  "GET /favicon.ico",
  "GET /manifest.webmanifest",
] as const satisfies readonly RouteKeyOf<"B">[];

/** Replaces a worker that another version may have left in a browser. */
const WORKER = `self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.registration.unregister()));
`;

export function registerPages(routes: Registrars, services: RouteServices): void {
  const serveFile = async ({ facts }: Pick<RouteContext, "facts">): Promise<Response> => {
    const found = await services.files.answer({
      path: facts.path,
      acceptEncoding: facts.headers["accept-encoding"],
      ifNoneMatch: facts.headers["if-none-match"],
    });
    if (!found) throw notFound("File");
    return found;
  };
  for (const key of FILES) routes.bootstrap(key, { handler: serveFile });
  routes.bootstrap("GET /sw.js", {
    handler: () =>
      new Response(WORKER, {
        headers: {
          "Content-Type": "text/javascript; charset=utf-8",
          "Cache-Control": "no-cache",
        },
      }),
  });
  routes.page("GET /*", {
    handler: ({ facts }) => {
      const { settings } = services.deps;
      const html = services.files.index();
      if (html === null) return renderNoBuild(settings.csp);
      const page = {
        prefix: facts.prefix,
        token: services.auth.pageToken,
        authRequired: services.auth.gated !== null,
        embeddedChat: true,
      };
      return renderPage(html, page, settings.csp);
    },
  });
}
