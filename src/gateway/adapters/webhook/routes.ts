// `webhook_subscriptions.json`: which webhooks there are (agent.md §7.9). Read again when it changed; a broken file keeps the last good one.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { errnoOf, messageOf } from "#base/errors.ts";
import type { Log } from "#base/log.ts";

export const ROUTES_FILE = "webhook_subscriptions.json";
const MAX_BYTES = 1024 * 1024;

const text = z.string().check(z.maxLength(100_000));
const scalar = z.union([z.string(), z.number(), z.boolean()]);
const routeSchema = z.object({
  name: z.optional(z.string()),
  secret: z.optional(text),
  scheme: z.optional(z.enum(["hmac-sha256", "github", "gitlab"])),
  events: z.optional(z.array(text)),
  prompt: z.optional(text),
  filter: z.optional(z.record(z.string(), z.union([scalar, z.array(scalar)]))),
  skills: z.optional(z.array(text)),
  deliver: z.optional(text),
  deliver_only: z.optional(z.boolean()),
});

export type WebhookRoute = z.infer<typeof routeSchema> & { readonly name: string };

export type Routes = ReadonlyMap<string, WebhookRoute>;

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

/** Name → route, or a list of routes with names. Throws a sentence that names the route at fault. */
export function parseRoutes(json: string): Routes {
  const value: unknown = JSON.parse(json);
  if (typeof value !== "object" || value === null) throw new Error("it is no JSON object");
  const entries: readonly (readonly [string, unknown])[] = Array.isArray(value)
    ? value.map((route: unknown) => [nameIn(route), route] as const)
    : Object.entries(value);
  return new Map(entries.map(([name, route]) => [name, parseRoute(name, route)]));
}

function parseRoute(name: string, value: unknown): WebhookRoute {
  if (!NAME.test(name))
    throw new Error(`${JSON.stringify(name.slice(0, 80))} is no name of a route`);
  const parsed = routeSchema.safeParse(value);
  if (parsed.success) return { ...parsed.data, name };
  const [issue] = parsed.error.issues;
  throw new Error(`route ${name}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is wrong"}`);
}

function nameIn(route: unknown): string {
  const name = typeof route === "object" && route !== null && "name" in route ? route.name : "";
  return typeof name === "string" ? name : "";
}

export class RouteFile {
  readonly #path: string;
  readonly #log: Log;
  #stamp = "";
  #routes: Routes = new Map();

  constructor(home: string, log: Log) {
    this.#path = join(home, ROUTES_FILE);
    this.#log = log;
  }

  current(): Routes {
    const stamp = this.#stampNow();
    if (stamp === this.#stamp) return this.#routes;
    this.#stamp = stamp;
    this.#reload();
    return this.#routes;
  }

  #reload(): void {
    try {
      if (statSync(this.#path).size > MAX_BYTES) throw new Error("it is larger than 1 MB");
      this.#routes = parseRoutes(readFileSync(this.#path, "utf8"));
    } catch (error) {
      if (errnoOf(error) === "ENOENT") this.#routes = new Map();
      else this.#log.error(`${ROUTES_FILE} is not used: ${messageOf(error)}`, { path: this.#path });
    }
  }

  #stampNow(): string {
    try {
      const found = statSync(this.#path, { throwIfNoEntry: false });
      return found ? `${found.ino} ${found.size} ${found.mtimeMs}` : "missing";
    } catch (error) {
      return `unreadable ${errnoOf(error) ?? ""}`;
    }
  }
}
