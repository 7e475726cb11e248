// Themes that the page draws itself with (dashboard.md §11.7, §12.5).
import * as z from "zod/mini";
import { writeSetting } from "../config-files.ts";
import { notFound } from "../errors.ts";
import { json, type Registrars } from "../routing.ts";
import { profileOf, type RouteServices } from "../route-services.ts";
import { createThemes } from "../themes.ts";

export function registerLook(routes: Registrars, services: RouteServices): void {
  const { home, settings, clock } = services.deps;
  const rules = { styleOrigins: settings.csp.style };
  const themes = createThemes(home, rules, () => clock.monotonicMs());

  // The first question finds them read, and waits for no disk.
  void themes.refresh();

  routes.public("GET /api/dashboard/themes", {
    handler: () => json({ themes: themes.current().themes, active: services.snapshot.theme() }),
  });

  routes.public("GET /api/dashboard/plugins", { handler: () => json([]) });

  routes.session("GET /api/dashboard/themes/problems", {
    handler: async () => json((await themes.refresh()).problems),
  });

  routes.session("PUT /api/dashboard/theme", {
    body: z.object({ name: z.string().check(z.maxLength(64)) }),
    async handler(context) {
      const { name } = context.body;
      const known = await themes.refresh();
      if (!known.themes.some((theme) => theme.name === name)) throw notFound("Theme");
      const profile = await profileOf(services, context);
      await writeSetting(profile, services, "dashboard.theme", name);
      return json({ ok: true, theme: name });
    },
  });
}
