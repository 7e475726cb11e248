// The Hono app, private to this module, and what happens to a request once its route is known: cross-site rule, credential,
// limits, body, handler (dashboard.md §2, §3). The class sits on the route that runs; no middleware looks at a path.
import type { IncomingMessage } from "node:http";
import { Hono, type Context } from "hono";
import type { GateAnswer } from "#auth/answer.ts";
import { type AccessRule, bearerOf, type Caller, type Gate } from "#auth/access.ts";
import { limiterKey } from "#auth/addresses.ts";
import { type Audit, deviceOf } from "#auth/audit.ts";
import { passesCrossSite } from "#auth/cross-site.ts";
import type { Limiter } from "#auth/limiter.ts";
import { isNeverARoute } from "#auth/request-target.ts";
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import { isResponse, toResponse } from "./answer-response.ts";
import { fail, mapError, notFound, tooMany } from "./errors.ts";
import type { RequestFacts } from "./facts.ts";
import { readRequestBody } from "./request-body.ts";
import { allowOf, assertRouteTable, honoPath, routesAt, sortedRoutes } from "./route-check.ts";
import type { JsonReply, RegisteredRoute, RouteContext, RouteTable } from "./routing.ts";

export interface AppDeps {
  readonly gate: Gate;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
  /** Wrong tokens, per client (§10). */
  readonly failures: Limiter;
  readonly corsOrigins: readonly string[];
  readonly redact: (text: string) => string;
}

export interface Bindings {
  readonly incoming: IncomingMessage;
  readonly facts: RequestFacts;
}

type Env = { Bindings: Bindings };

/** An answer as it is written: what most requests get, without the objects of the Fetch standard around it. */
export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly text: string;
}

export type DirectAnswer = PlainAnswer | Response;

export interface DashboardApp {
  fetch(request: Request, bindings: Bindings): Response | Promise<Response>;
  /**
   * A GET of a path without parameters under /api/, which a table finds as surely as the router does: the same checks, in the same
   * order, and the same handler. null: `fetch` answers it.
   */
  direct(bindings: Bindings): DirectAnswer | Promise<DirectAnswer> | null;
}

const EVERYTHING = "/*";
/** Matches the route for unknown API paths and no other. */
const NEVER = "/api//";
const SESSION_RULE: AccessRule = { class: "S" };
const OPEN_RULE: AccessRule = { class: "B" };

/** Throws when the table, the app and the two path lists do not agree. */
export function buildApp(table: RouteTable, deps: AppDeps): DashboardApp {
  const app = new Hono<Env>({
    strict: true,
    // The front made this path; Hono's own decoding would make a second spelling of it.
    getPath: (_request, options) => {
      const { path } = pathOwner(options?.env).facts;
      return isNeverARoute(path) ? NEVER : path;
    },
  });
  const routes = sortedRoutes(table.routes);
  const put = (route: RegisteredRoute): void => {
    app.on(route.method, [honoPath(route.path)], (c) => run(route, c, deps));
  };
  const unknown = (c: Context<Env>): Promise<Response> => answerUnknown(c.env.facts, routes, deps);
  routes.filter(({ path }) => path !== EVERYTHING).forEach(put);
  const mark = app.routes.length;
  app.all("/api/*", unknown);
  const marked = app.routes.length;
  const page = routes.find(({ path }) => path === EVERYTHING);
  if (page) {
    // A path that only takes other methods is no page.
    app.on(page.method, [EVERYTHING], (c) =>
      namedAt(routes, c.env.facts.path).length > 0 ? unknown(c) : run(page, c, deps),
    );
  }
  assertRouteTable(routes, [...app.routes.slice(0, mark), ...app.routes.slice(marked)]);
  app.notFound(unknown);
  app.onError((error, c) => errorResponse(error, c.env.facts, deps));
  const literal = new Map(routes.filter(isLiteral).map((route) => [route.path, route]));
  return {
    fetch: (request, bindings) => app.fetch(request, bindings),
    direct(bindings) {
      const { method, path } = bindings.facts;
      const route = method === "GET" ? literal.get(path) : undefined;
      return route === undefined ? null : answerDirect(route, bindings, deps);
    },
  };
}

function isLiteral({ method, path }: RegisteredRoute): boolean {
  return method === "GET" && path.startsWith("/api/") && !/[{*]/u.test(path);
}

/** As `run`, on values; a promise only where a credential or a handler needs one. */
function answerDirect(
  route: RegisteredRoute,
  { facts, incoming }: Bindings,
  deps: AppDeps,
): DirectAnswer | Promise<DirectAnswer> {
  const failed = (error: unknown): PlainAnswer => plainError(error, facts, deps);
  const decided = ({ refusal, caller }: Passed): DirectAnswer | Promise<DirectAnswer> => {
    if (refusal !== null) return isText(refusal) ? toResponse(refusal) : plainRefusal(refusal);
    const query = new URLSearchParams(facts.query);
    const base = { facts, caller, params: NO_PARAMS, query, incoming };
    const limit = route.limit?.limiter.hit(route.limit.key({ ...base, ...EMPTY })) ?? null;
    if (limit !== null) throw limited(limit, facts, deps);
    const reply = route.handler({ ...base, ...EMPTY } as RouteContext<never>);
    return reply instanceof Promise ? reply.then(plainReply) : plainReply(reply);
  };
  try {
    const refused = refuseRequest(route.rule, facts, deps);
    const answer = refused instanceof Promise ? refused.then(decided) : decided(refused);
    return answer instanceof Promise ? answer.catch(failed) : answer;
  } catch (error) {
    return failed(error);
  }
}

const NO_PARAMS = {};

function plainReply(reply: unknown): DirectAnswer {
  if (isResponse(reply)) return reply;
  const { status, body, headers } = reply as JsonReply<unknown>;
  return { status, headers, cookies: [], text: JSON.stringify(body) };
}

const isText = ({ body }: GateAnswer): boolean => body === null || typeof body === "string";

function plainRefusal({ status, headers, cookies, body }: GateAnswer): PlainAnswer {
  return { status, headers, cookies, text: JSON.stringify(body) };
}

function plainError(error: unknown, facts: RequestFacts, deps: AppDeps): PlainAnswer {
  const { failure, unexpected } = mapError(error, facts.id);
  if (unexpected) logUnexpected(error, facts, deps);
  const text = deps.redact(JSON.stringify(failure.body));
  return { status: failure.status, headers: failure.headers, cookies: [], text };
}

function pathOwner(env: Bindings | undefined): Bindings {
  if (!env) throw new Error("request without facts");
  return env;
}

async function run(route: RegisteredRoute, c: Context<Env>, deps: AppDeps): Promise<Response> {
  const { facts, incoming } = c.env;
  const refused = await refuseRequest(route.rule, facts, deps);
  if (refused.refusal !== null) return toResponse(refused.refusal);
  const params = c.req.param() as Record<string, string>;
  if (!Object.entries(params).every(isSoundParam)) throw notFound("Path");
  const query = new URLSearchParams(facts.query);
  const base = { facts, caller: refused.caller, params, query, incoming };
  const limit = route.limit?.limiter.hit(route.limit.key({ ...base, ...EMPTY })) ?? null;
  if (limit !== null) throw limited(limit, facts, deps);
  const unsafe = isUnsafe(facts.method);
  const read = unsafe ? await readRequestBody(route, incoming, deps.clock) : EMPTY;
  const reply = await route.handler({ ...base, ...read } as RouteContext<never>);
  return isResponse(reply) ? reply : jsonResponse(reply as JsonReply<unknown>);
}

const EMPTY = { body: null, bytes: Buffer.alloc(0) };

/** Ids, names and slots: no dot segment, no slash, nothing that a file system or a log would trip over. */
function isSoundParam([name, value]: [string, string]): boolean {
  return name === "*" || /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}$/.test(value);
}

function isUnsafe(method: string): boolean {
  return method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
}

interface Passed {
  /** null: go on. */
  readonly refusal: GateAnswer | null;
  readonly caller: Caller;
}

/** Cross-site rule, then credential. */
function refuseRequest(
  rule: AccessRule,
  facts: RequestFacts,
  deps: AppDeps,
): Passed | Promise<Passed> {
  const { headers } = facts;
  const hasTokenHeader =
    bearerOf(headers) !== null || headers["x-hermes-session-token"] !== undefined;
  const passes = passesCrossSite({
    unsafe: isUnsafe(facts.method),
    origin: headers.origin,
    secFetchSite: headerText(headers["sec-fetch-site"]),
    contentType: headers["content-type"],
    hasTokenHeader,
    ownOrigins: facts.ownOrigins,
  });
  if (!passes) throw originRefused(facts, deps.log);
  const decide = (caller: Caller): Passed => {
    const refusal = deps.gate.refuse(rule, caller, facts);
    if (refusal !== null && caller.kind === "stranger" && caller.presented === "token") {
      noteFailure(facts, deps);
    }
    return { refusal, caller };
  };
  const identified = deps.gate.identify(rule, facts, null);
  return identified instanceof Promise ? identified.then(decide) : decide(identified);
}

const warnedOrigins = new Set<string>();

export function originRefused(facts: RequestFacts, log: Log): Error {
  const origin = (facts.headers.origin ?? "none").slice(0, 200);
  if (!warnedOrigins.has(origin) && warnedOrigins.size < 1000) {
    warnedOrigins.add(origin);
    log.warn(`request from origin ${origin} refused; see dashboard.public_url and cors_origins`);
  }
  return fail(403, "origin_not_allowed", "Requests from this origin are not allowed");
}

/** A credential that was there and wrong: counted per client, so that guessing is slow. */
function noteFailure(facts: RequestFacts, deps: AppDeps): void {
  const wait = deps.failures.hit(limiterKey(facts.client));
  if (wait !== null) throw limited(wait, facts, deps);
  const device = deviceOf(facts.headers["user-agent"]);
  deps.audit.write("token_auth_failure", { ip: facts.client, path: facts.path, device });
}

function limited(seconds: number, facts: RequestFacts, deps: AppDeps): Error {
  deps.audit.write("rate_limited", { ip: facts.client, path: facts.path });
  return tooMany(seconds);
}

/** No route: a stranger learns nothing, others get 404, or 405 with `Allow` where the path has other methods. */
async function answerUnknown(
  facts: RequestFacts,
  routes: readonly RegisteredRoute[],
  deps: AppDeps,
): Promise<Response> {
  const preflight = answerPreflight(facts, deps.corsOrigins);
  if (preflight) return preflight;
  const never = isNeverARoute(facts.path);
  const isApi = never || facts.path === "/api" || facts.path.startsWith("/api/");
  const named = never ? [] : namedAt(routes, facts.path);
  const here = named.length > 0 || isApi ? named : routesAt(routes, facts.path);
  const open = here.some(({ rule }) => rule.class === "B");
  const refused = await refuseRequest(open ? OPEN_RULE : SESSION_RULE, facts, deps);
  if (refused.refusal !== null) return toResponse(refused.refusal);
  if (here.length === 0) throw notFound("Path");
  const allow = { Allow: allowOf(here) };
  throw fail(405, "method_not_allowed", "Method not allowed", {}, allow);
}

function namedAt(routes: readonly RegisteredRoute[], path: string): readonly RegisteredRoute[] {
  return routesAt(routes, path).filter((route) => route.path !== EVERYTHING);
}

function answerPreflight(
  { method, headers }: RequestFacts,
  corsOrigins: readonly string[],
): Response | null {
  const { origin } = headers;
  if (method !== "OPTIONS" || origin === undefined) return null;
  if (headers["access-control-request-method"] === undefined) return null;
  if (!corsOrigins.includes(origin)) {
    throw fail(403, "origin_not_allowed", "Requests from this origin are not allowed");
  }
  return new Response(null, {
    status: 204,
    headers: {
      "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
      "Access-Control-Allow-Headers": "authorization, content-type",
      "Access-Control-Max-Age": "600",
    },
  });
}

function jsonResponse({ status, body, headers }: JsonReply<unknown>): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });
}

function errorResponse(error: unknown, facts: RequestFacts, deps: AppDeps): Response {
  const { status, headers, text } = plainError(error, facts, deps);
  return new Response(text, {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });
}

function logUnexpected(error: unknown, facts: RequestFacts, deps: AppDeps): void {
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
  deps.log.error(`request ${facts.id} failed`, { path: facts.path, cause: deps.redact(cause) });
}

function headerText(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.at(-1) : value;
}
