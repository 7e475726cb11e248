// The registrars: the only way to add a route. A route has its access class from its registrar and its shapes from the REST
// table in protocol/http-routes.ts, or it does not compile (dashboard.md §3.2).
import type { IncomingMessage } from "node:http";
import type * as z from "zod/mini";
import type { AccessRule, Caller } from "#auth/access.ts";
import type { Limiter } from "#auth/limiter.ts";
import { isBootstrapPath, isPublicApiPath } from "#auth/public-paths.ts";
import type { RouteIn, RouteKey, RouteKeyOf, RouteOut } from "#protocol/http-routes.ts";
import type { WebSocket } from "ws";
import type { RequestFacts } from "./facts.ts";

export interface RouteContext<Body = unknown> {
  readonly facts: RequestFacts;
  readonly caller: Caller;
  /** Decoded and checked against the grammar of its name. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Checked JSON; null where the route takes none. */
  readonly body: Body;
  /** Raw bytes of an upload; empty elsewhere. */
  readonly bytes: Buffer;
  readonly incoming: IncomingMessage;
}

export interface JsonReply<T> {
  readonly kind: "json";
  readonly status: number;
  readonly body: T;
  readonly headers: Readonly<Record<string, string>>;
}

export function json<T>(
  body: T,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): JsonReply<T> {
  return { kind: "json", status, body, headers };
}

export type Reply<Out> = Out extends "raw" ? Response : JsonReply<Out>;

interface LimitRule<Body> {
  readonly limiter: Limiter;
  readonly key: (context: RouteContext<Body>) => string;
}

interface Common<Key extends RouteKey> {
  readonly handler: (
    context: RouteContext<RouteIn<Key>>,
  ) => Reply<RouteOut<Key>> | Promise<Reply<RouteOut<Key>>>;
  readonly limit?: LimitRule<null>;
}

/** A route whose body is JSON says how it is checked; one without may take raw bytes of named types. */
export type RouteDefinition<Key extends RouteKey> = Common<Key> &
  (RouteIn<Key> extends null
    ? { readonly upload?: UploadRule }
    : { readonly body: z.ZodMiniType<RouteIn<Key>> });

export interface UploadRule {
  /** Media types; `*` takes any. */
  readonly types: readonly string[];
  readonly maxBytes: number;
}

export interface Socket {
  readonly ws: WebSocket;
  readonly facts: RequestFacts;
  readonly caller: Caller;
  readonly query: URLSearchParams;
}

declare const registered: unique symbol;

/** Made by a registrar and nowhere else. */
export interface RegisteredRoute {
  readonly [registered]: true;
  readonly method: string;
  /** With `{name}` and a trailing `/*`. */
  readonly path: string;
  readonly rule: AccessRule;
  readonly handler: (context: RouteContext<never>) => unknown;
  readonly body: z.ZodMiniType | null;
  readonly upload: UploadRule | null;
  readonly limit: LimitRule<null> | null;
}

export interface SocketRoute {
  readonly path: string;
  readonly open: (socket: Socket) => void;
}

export interface Registrars {
  /** P: the path is a key of PUBLIC_API_PATHS; GET and HEAD only. */
  public<Key extends RouteKeyOf<"P">>(key: Key, definition: RouteDefinition<Key>): void;
  /** B: the path is a key of BOOTSTRAP_PATHS. */
  bootstrap<Key extends RouteKeyOf<"B">>(key: Key, definition: RouteDefinition<Key>): void;
  /** N: what a tag or a link loads and no header can go with. */
  page<Key extends RouteKeyOf<"N">>(key: Key, definition: RouteDefinition<Key>): void;
  session<Key extends RouteKeyOf<"S">>(key: Key, definition: RouteDefinition<Key>): void;
  recheck<Key extends RouteKeyOf<"R">>(
    key: Key,
    options: { readonly freshLogin: boolean },
    definition: RouteDefinition<Key>,
  ): void;
  scoped<Key extends RouteKeyOf<"T">>(
    key: Key,
    options: { readonly scope: string; readonly orSession: boolean },
    definition: RouteDefinition<Key>,
  ): void;
  /** An upgrade, class S. */
  socket(path: `/api/${string}`, open: (socket: Socket) => void): void;
}

export interface RouteTable {
  readonly registrars: Registrars;
  readonly routes: readonly RegisteredRoute[];
  readonly sockets: readonly SocketRoute[];
}

export function createRouteTable(): RouteTable {
  const routes: RegisteredRoute[] = [];
  const sockets: SocketRoute[] = [];
  const add = (key: string, rule: AccessRule, definition: object): void => {
    const space = key.indexOf(" ");
    const { body, upload, limit, handler } = definition as Partial<RegisteredRoute>;
    routes.push({
      method: key.slice(0, space),
      path: key.slice(space + 1),
      rule,
      handler,
      body: body ?? null,
      upload: upload ?? null,
      limit: limit ?? null,
    } as RegisteredRoute);
  };
  return {
    routes,
    sockets,
    registrars: {
      public(key, definition) {
        if (!isPublicApiPath(key.slice("GET ".length))) throw listError(key, "PUBLIC_API_PATHS");
        add(key, { class: "P" }, definition);
      },
      bootstrap(key, definition) {
        if (!isBootstrapPath(key.slice(key.indexOf(" ") + 1))) {
          throw listError(key, "BOOTSTRAP_PATHS");
        }
        add(key, { class: "B" }, definition);
      },
      page: (key, definition) => add(key, { class: "N" }, definition),
      session: (key, definition) => add(key, { class: "S" }, definition),
      recheck: (key, options, definition) => add(key, { class: "R", ...options }, definition),
      scoped: (key, options, definition) => add(key, { class: "T", ...options }, definition),
      socket: (path, open) => void sockets.push({ path, open }),
    },
  };
}

function listError(key: string, list: string): Error {
  return new Error(`route ${key} is not in ${list}`);
}
