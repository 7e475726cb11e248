// Themes and plugins that the page draws itself with (dashboard.md §11.7, §12.5, §12.6): the built-in themes, no plugins yet.
import * as z from "zod/mini";
import type { ThemesBody } from "#protocol/http-status.ts";
import { writeSetting } from "../config-files.ts";
import { notFound } from "../errors.ts";
import { json, type Registrars } from "../routing.ts";
import { profileOf, type RouteServices } from "../route-services.ts";

export const BUILT_IN_THEMES: ThemesBody["themes"] = [
  { name: "default", label: "Hermes Teal", description: "Dark teal with warm text" },
  {
    name: "default-large",
    label: "Hermes Teal (large)",
    description: "Hermes Teal in larger type",
  },
  { name: "midnight", label: "Midnight", description: "Deep blue and violet" },
  { name: "ember", label: "Ember", description: "Dark with orange light" },
  { name: "mono", label: "Mono", description: "Grey scale" },
  { name: "cyberpunk", label: "Cyberpunk", description: "Black with neon green" },
  { name: "rose", label: "Rosé", description: "Dark rose" },
  { name: "daylight", label: "Daylight", description: "Light background" },
];

export function registerLook(routes: Registrars, services: RouteServices): void {
  routes.public("GET /api/dashboard/themes", {
    handler: () => json({ themes: BUILT_IN_THEMES, active: services.snapshot.theme() }),
  });
  routes.public("GET /api/dashboard/plugins", { handler: () => json([]) });

  routes.session("PUT /api/dashboard/theme", {
    body: z.object({ name: z.string().check(z.maxLength(64)) }),
    async handler(context) {
      const { name } = context.body;
      if (!BUILT_IN_THEMES.some((theme) => theme.name === name)) throw notFound("Theme");
      const profile = await profileOf(services, context);
      await writeSetting(profile, services, "dashboard.theme", name);
      return json({ ok: true, theme: name });
    },
  });
}
