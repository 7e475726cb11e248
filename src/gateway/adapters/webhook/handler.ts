// One request to `POST /webhooks/<route>`: who sent it, was it here before, what becomes of it (agent.md §7.9).
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { PlatformContext } from "../../platform.ts";
import { toErrorWord, type Answer } from "./answer.ts";
import { readBody } from "./body.ts";
import { RateLimit } from "./rate.ts";
import { passesFilter, renderPrompt, valueAt } from "./render.ts";
import { RouteFile, type WebhookRoute } from "./routes.ts";
import { WebhookRuns } from "./runs.ts";
import { isSigned } from "./signature.ts";

const PER_MINUTE = 30;
const REMEMBER_SECONDS = 24 * 3600;
const PATH = /^\/webhooks\/([^/?#]+)\/?(?:\?.*)?$/;

export class WebhookHandler {
  readonly #context: PlatformContext;
  readonly #routes: RouteFile;
  readonly #rate: RateLimit;
  readonly #runs: WebhookRuns;
  /** Checked for unknown routes too, so that they take the same time. */
  readonly #nobody = randomBytes(32).toString("hex");

  constructor(context: PlatformContext) {
    this.#context = context;
    this.#routes = new RouteFile(context.loaded().home, context.log);
    this.#rate = new RateLimit(context.clock, PER_MINUTE);
    this.#runs = new WebhookRuns(context);
  }

  async answer(incoming: IncomingMessage): Promise<Answer> {
    if (incoming.method === "GET" && incoming.url === "/health")
      return { status: 200, body: { status: "ok", platform: "webhook" } };
    const name = PATH.exec(incoming.url ?? "")?.[1];
    if (name === undefined) return { status: 404, body: { error: "not found" } };
    if (incoming.method !== "POST")
      return { status: 405, body: { error: "POST only" }, headers: { Allow: "POST" } };
    const body = await readBody(incoming, this.#context.clock);
    if (!body.ok) return { status: body.status, body: { error: body.detail }, close: true };
    const route = this.#routes.current().get(name);
    const isAllowed = this.#isAllowed(route, incoming, body.bytes);
    if (route === undefined) return { status: 404, body: { error: "not found" } };
    if (!isAllowed) return { status: 401, body: { error: "missing or wrong signature" } };
    return this.#take(route, incoming, body.bytes);
  }

  #isAllowed(
    route: WebhookRoute | undefined,
    { headers }: IncomingMessage,
    bytes: Uint8Array,
  ): boolean {
    const shared = this.#context.loaded().env.get("WEBHOOK_SECRET");
    const secret = route === undefined ? this.#nobody : (route.secret ?? shared);
    return isSigned(route?.scheme, secret, headers, bytes);
  }

  async #take(route: WebhookRoute, incoming: IncomingMessage, bytes: Uint8Array): Promise<Answer> {
    const wait = this.#rate.take(route.name);
    if (wait > 0) {
      const headers = { "Retry-After": String(wait) };
      return { status: 429, body: { error: `more than ${PER_MINUTE} a minute` }, headers };
    }
    const payload = parseJson(bytes);
    if (payload === undefined) return { status: 400, body: { error: "the body is no JSON" } };
    const event = eventOf(incoming, payload);
    if (!isWanted(route, event) || !passesFilter(route.filter, payload))
      return { status: 200, body: { status: "ignored" } };
    return this.#once(route, deliveryOf(incoming), payload);
  }

  async #once(route: WebhookRoute, delivery: string | null, payload: unknown): Promise<Answer> {
    const { deliveries, log } = this.#context;
    const id = delivery === null ? null : `${route.name} ${delivery}`;
    try {
      if (id !== null && !(await deliveries.isNew("webhook", id, REMEMBER_SECONDS)))
        return { status: 200, body: { status: "duplicate" } };
    } catch (error) {
      log.error("a webhook could not be noted", { error });
      return { status: 503, body: { error: toErrorWord(error) }, headers: { "Retry-After": "30" } };
    }
    const accepted = this.#runs.accept(route.name, renderPrompt(route.prompt, route.name, payload));
    if (accepted.ok) return { status: 202, body: { run_id: accepted.runId } };
    if (id !== null) await deliveries.forget("webhook", id).catch(() => undefined);
    const error = accepted.reason === "full" ? "too many are waiting" : "the gateway is ending";
    return { status: 503, body: { error }, headers: { "Retry-After": "30" } };
  }
}

/** No list: every event. */
function isWanted({ events = [] }: WebhookRoute, event: string | null): boolean {
  return events.length === 0 || (event !== null && events.includes(event));
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown;
  } catch {
    return undefined;
  }
}

/** `X-GitHub-Event`, `X-Gitlab-Event`, else what the payload calls itself. */
function eventOf({ headers }: IncomingMessage, payload: unknown): string | null {
  const named = headers["x-github-event"] ?? headers["x-gitlab-event"];
  if (typeof named === "string") return named;
  const own = valueAt(payload, "event_type") ?? valueAt(payload, "event");
  return typeof own === "string" ? own : null;
}

function deliveryOf({ headers }: IncomingMessage): string | null {
  const id =
    headers["x-github-delivery"] ?? headers["x-gitlab-event-uuid"] ?? headers["idempotency-key"];
  return typeof id === "string" && id !== "" ? id.slice(0, 200) : null;
}
