// Profiles: the list, and what can be done with each (dashboard.md §11.6).
import { join } from "node:path";
import * as z from "zod/mini";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { readText } from "#config/files.ts";
import type {
  ActivateProfileInput,
  ChangeProfileInput,
  CreateProfileInput,
  ServiceState,
  SoulBody,
} from "#protocol/http-status.ts";
import { fail } from "../errors.ts";
import { json, type Registrars } from "../routing.ts";
import type { RouteServices } from "../route-services.ts";

/** Beyond what the prompt takes of it anyway (agent.md §2.1). */
const MOST_SOUL_CHARS = 256 * 1024;
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

  routes.session("POST /api/profiles/active", {
    body: z.object({ name }) satisfies z.ZodMiniType<ActivateProfileInput>,
    async handler({ body }) {
      deps.profiles.use(body.name);
      return json({ ok: true });
    },
  });

  routes.session("PATCH /api/profiles/{name}", {
    body: z.object({
      new_name: z.exactOptional(name),
      description: z.exactOptional(z.string().check(z.maxLength(2000))),
    }) satisfies z.ZodMiniType<ChangeProfileInput>,
    async handler({ params, body }) {
      return json(await deps.profiles.change(params["name"] ?? "", body));
    },
  });

  routes.session("DELETE /api/profiles/{name}", {
    async handler({ params }) {
      return json(await deps.profiles.remove(params["name"] ?? ""));
    },
  });

  routes.session("POST /api/profiles/{name}/register", {
    async handler({ params }) {
      return json(await deps.profiles.register(params["name"] ?? ""));
    },
  });

  const soulOf = (profile: string): string => join(deps.profiles.homeOf(profile), "SOUL.md");

  routes.session("GET /api/profiles/{name}/soul", {
    async handler({ params }) {
      const file = readText(soulOf(params["name"] ?? ""));
      if (file.state === "unreadable") throw fail(503, "store_failed", file.problem.message);
      if (file.state === "binary") throw fail(409, "conflict", "SOUL.md is no text.");
      return json({ content: file.state === "text" ? file.text : "" });
    },
  });

  routes.session("PUT /api/profiles/{name}/soul", {
    body: z.object({
      content: z.string().check(z.maxLength(MOST_SOUL_CHARS)),
    }) satisfies z.ZodMiniType<SoulBody>,
    async handler({ params, body }) {
      writeFileAtomic(soulOf(params["name"] ?? ""), body.content, { mode: 0o640 });
      return json({ ok: true });
    },
  });

  routes.session("GET /api/profiles/{name}/setup-command", {
    async handler({ params }) {
      const profile = params["name"] ?? "";
      deps.profiles.homeOf(profile);
      return json({
        command: profile === "default" ? "hermes setup" : `hermes -p ${profile} setup`,
      });
    },
  });
}
