// Profiles: the list and how one is made (dashboard.md §11.6).
import * as z from "zod/mini";
import type { CreateProfileInput, ServiceState } from "#protocol/http-status.ts";
import { json, type Registrars } from "../routing.ts";
import type { RouteServices } from "../route-services.ts";

const name = z.string().check(z.minLength(1), z.maxLength(64));

export function registerProfiles(routes: Registrars, { deps }: RouteServices): void {
  const gatewayOf = (profile: string): ServiceState =>
    deps.services.watch.services().find((service) => service.profile === profile)?.state ??
    "stopped";

  routes.session("GET /api/profiles", {
    async handler() {
      const profiles = await deps.profiles.list();
      return json({
        profiles: profiles.map((entry) => ({ ...entry, gateway: gatewayOf(entry.name) })),
      });
    },
  });

  routes.session("POST /api/profiles", {
    body: z.object({
      name,
      clone_from: z.exactOptional(name),
      clone_from_default: z.exactOptional(z.boolean()),
      no_skills: z.exactOptional(z.boolean()),
    }) satisfies z.ZodMiniType<CreateProfileInput>,
    async handler({ body }) {
      return json(await deps.profiles.create(body), 201);
    },
  });
}
