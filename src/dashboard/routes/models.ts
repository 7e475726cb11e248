// Which models there are and which one is used (dashboard.md §11.5).
import * as z from "zod/mini";
import type { PathChange } from "#config/old-spellings-write.ts";
import type { Config } from "#config/tree.ts";
import type { SetModelInput } from "#protocol/http-config.ts";
import { writeSettings } from "../config-files.ts";
import { fail } from "../errors.ts";
import { flagParam } from "../query.ts";
import { json, type Registrars } from "../routing.ts";
import { profileOf, type RouteServices } from "../route-services.ts";

const name = z.string().check(z.maxLength(200));
const RESET = "__reset__";

export function registerModels(routes: Registrars, services: RouteServices): void {
  routes.session("GET /api/model/options", {
    async handler(context) {
      const { models } = await profileOf(services, context);
      const query = {
        includeUnconfigured: flagParam(context.query, "include_unconfigured"),
        refresh: flagParam(context.query, "refresh"),
      };
      return json(await models.options(query));
    },
  });

  routes.session("GET /api/model/auxiliary", {
    async handler(context) {
      const profile = await profileOf(services, context);
      const { auxiliary, model } = profile.loaded().config;
      const readiness = profile.models.readiness();
      return json({
        tasks: Object.entries(auxiliary)
          .filter(([task]) => tasksOf(auxiliary).includes(task))
          .map(([task, entry]) => ({
            task,
            provider: entry.provider,
            model: entry.model,
            base_url: entry.base_url,
          })),
        main: readiness.ready
          ? { provider: readiness.provider, model: readiness.model }
          : { provider: model.provider, model: model.default },
      });
    },
  });

  routes.session("POST /api/model/set", {
    body: z.object({
      scope: z.enum(["main", "auxiliary"]),
      provider: z.exactOptional(name),
      model: z.exactOptional(name),
      task: z.exactOptional(name),
    }) satisfies z.ZodMiniType<SetModelInput>,
    async handler(context) {
      const profile = await profileOf(services, context);
      const { auxiliary } = profile.loaded().config;
      const { provider = "auto" } = context.body;
      // A name that nobody knows would be refused at the next start.
      if (provider !== "auto" && provider !== "" && !profile.models.isProvider(provider)) {
        throw fail(400, "invalid", `There is no provider ${provider}`);
      }
      const changes =
        context.body.scope === "main"
          ? mainChanges(context.body)
          : auxiliaryChanges(context.body, tasksOf(auxiliary));
      await writeSettings(profile, services, changes);
      return json({ ok: true, applies: "new sessions" });
    },
  });
}

function tasksOf(auxiliary: Config["auxiliary"]): string[] {
  return Object.entries(auxiliary)
    .filter(([, entry]) => typeof entry === "object" && entry !== null && "provider" in entry)
    .map(([task]) => task);
}

/** Window and address belonged to the old model. */
function mainChanges({ provider = "", model = "" }: SetModelInput): PathChange[] {
  if (provider === "" || model === "") {
    throw fail(400, "invalid", "The main model needs both provider and model");
  }
  return [
    { path: ["model", "provider"], value: provider },
    { path: ["model", "default"], value: model },
    { path: ["model", "base_url"], value: undefined },
    { path: ["model", "context_length"], value: undefined },
  ];
}

function auxiliaryChanges(
  { task = "", provider = "auto", model = "" }: SetModelInput,
  tasks: readonly string[],
): PathChange[] {
  if (task === RESET) {
    return tasks.flatMap((each) => taskChanges(each, undefined, undefined));
  }
  if (task !== "" && !tasks.includes(task)) {
    throw fail(400, "invalid", `Unknown task; there are ${tasks.join(", ")}`);
  }
  return (task === "" ? tasks : [task]).flatMap((each) => taskChanges(each, provider, model));
}

function taskChanges(task: string, provider?: string, model?: string): PathChange[] {
  return [
    { path: ["auxiliary", task, "provider"], value: provider },
    { path: ["auxiliary", task, "model"], value: model },
    { path: ["auxiliary", task, "base_url"], value: undefined },
  ];
}
