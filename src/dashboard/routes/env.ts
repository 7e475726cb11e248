// Keys and other variables of `.env` (dashboard.md §11.5). Values leave only through `reveal`.
import * as z from "zod/mini";
import { createLimiter } from "#auth/limiter.ts";
import { isRefusedName, isSecretName, type Variable, variableOf, VARIABLES } from "#config/env.ts";
import { parseEnv } from "#config/env-file.ts";
import { readText } from "#config/files.ts";
import type { LoadedConfig } from "#config/loaded.ts";
import type { EnvBody, EnvEntry } from "#protocol/http-config.ts";
import { removeEnv, writeEnv } from "../config-files.ts";
import { fail, notFound } from "../errors.ts";
import { json, type Registrars } from "../routing.ts";
import { profileOf, type RouteServices } from "../route-services.ts";

const MOST_VALUE_CHARS = 32_768;
const key = z.string().check(z.minLength(1), z.maxLength(128));

export function registerEnv(routes: Registrars, services: RouteServices): void {
  const { deps, auth } = services;

  routes.session("GET /api/env", {
    handler: async (context) => json(envBody((await profileOf(services, context)).loaded())),
  });

  routes.recheck(
    "PUT /api/env",
    { freshLogin: false },
    {
      body: z.object({ key, value: z.string().check(z.maxLength(MOST_VALUE_CHARS)) }),
      async handler(context) {
        const { key: name, value } = context.body;
        checkName(name);
        if (/[\r\n\0]/.test(value)) throw refused(name, "its value holds a line end or NUL");
        const profile = await profileOf(services, context);
        checkOwner(name, profile.loaded());
        await writeEnv(profile, services, name, value);
        return json({ ok: true, key: name });
      },
    },
  );

  routes.recheck(
    "DELETE /api/env",
    { freshLogin: false },
    {
      body: z.object({ key }),
      async handler(context) {
        const { key: name } = context.body;
        checkName(name);
        const profile = await profileOf(services, context);
        if (!(await removeEnv(profile, services, name))) throw notFound(name);
        return json({ ok: true, key: name });
      },
    },
  );

  routes.recheck(
    "POST /api/env/reveal",
    { freshLogin: true },
    {
      body: z.object({ key }),
      limit: {
        limiter: createLimiter({ most: 5, windowMs: 30_000 }, deps.clock),
        key: () => "process",
      },
      async handler(context) {
        const { key: name } = context.body;
        const { env } = (await profileOf(services, context)).loaded();
        if (!variableOf(name) || isDashboardName(name)) {
          throw fail(403, "forbidden", "Only variables that Hermes knows are shown");
        }
        const value = env.get(name);
        if (value === undefined) throw notFound(name);
        auth.audit.write("env_revealed", { name, ip: context.facts.client });
        return json({ key: name, value });
      },
    },
  );
}

function envBody({ env, envPath }: LoadedConfig): EnvBody {
  const file = readText(envPath);
  const written = file.state === "text" ? parseEnv(file.text) : new Map<string, string>();
  const own = [...written.keys()].filter((name) => !variableOf(name));
  return Object.fromEntries([
    ...VARIABLES.map((variable) => [variable.name, entryOf(variable.name, variable, env)]),
    ...own.map((name) => [name, entryOf(name, null, env)]),
  ]);
}

function entryOf(name: string, known: Variable | null, env: LoadedConfig["env"]): EnvEntry {
  const value = env.get(name);
  return {
    is_set: value !== undefined,
    redacted_value: value === undefined ? null : preview(value),
    description: known?.description ?? "",
    url: null,
    category: known?.area ?? "custom",
    is_password: known?.secret ?? isSecretName(name),
    tools: [],
    advanced: known !== null && known.area !== "models" && known.area !== "chats",
    channel_managed: known?.area === "chats",
    custom: known === null,
    source: value === undefined ? null : env.source(name),
  };
}

/** Enough to tell two keys apart, too little to use: the last four of a long value. */
function preview(value: string): string {
  return value.length >= 16 ? `…${value.slice(-4)}` : "…";
}

function checkName(name: string): void {
  if (!/^[A-Z][A-Z0-9_]*$/.test(name)) throw refused(name, "a name is A-Z, 0-9 and _");
  if (isRefusedName(name)) throw refused(name, "it changes which program runs or what it may do");
  if (isDashboardName(name)) throw refused(name, "it decides who gets into this dashboard");
}

function isDashboardName(name: string): boolean {
  return name.startsWith("HERMES_DASHBOARD_");
}

/** The process's environment wins over `.env`: a change here would show no effect. */
function checkOwner(name: string, { env }: LoadedConfig): void {
  const source = env.source(name);
  if (source === "env" || source === "file") {
    const where = source === "env" ? "the environment of the process" : `the file of ${name}_FILE`;
    throw fail(409, "conflict", `${name} is set by ${where}, which wins over .env`);
  }
}

function refused(name: string, why: string): Error {
  return fail(400, "invalid", `${name.slice(0, 80)} cannot be changed here: ${why}`);
}
