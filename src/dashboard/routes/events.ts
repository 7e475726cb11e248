// Event streams for scripts and other clients (dashboard.md §9.2, §9.3). The app itself uses WS /api/ws.
import { TOPICS, type Topic } from "#protocol/socket.ts";
import { createDeltaMerger } from "../delta-merger.ts";
import { fail, invalidField } from "../errors.ts";
import type { Registrars, RouteContext } from "../routing.ts";
import { ownerOf } from "../owner.ts";
import { profileOf, type RouteServices } from "../route-services.ts";

const MOST_PER_SESSION = 4;
const MOST_EVENTS_PER_SESSION = 32;
const MOST_IN_ALL = 256;

export function registerEvents(routes: Registrars, services: RouteServices): void {
  const { sse, changes, deps } = services;
  const open = new Map<string, number>();
  const count = (key: string, by: number): number => {
    const now = (open.get(key) ?? 0) + by;
    if (now > 0) open.set(key, now);
    else open.delete(key);
    return now;
  };

  routes.session("GET /api/chat/sessions/{id}/events", {
    async handler(context) {
      const profile = await profileOf(services, context);
      const { sessionId } = await profile.sessions.state(context.params["id"] ?? "");
      if (context.facts.method === "HEAD") return sse.head();
      const owner = ownerOf(context.caller);
      const key = `${profile.name} ${sessionId} ${owner ?? context.facts.client}`;
      if ((open.get(key) ?? 0) >= MOST_PER_SESSION || sse.size >= MOST_IN_ALL)
        throw tooManyStreams();
      count(key, 1);
      let stop = (): void => undefined;
      let ended = false;
      const stream = sse.open(owner ?? "", () => {
        ended = true;
        count(key, -1);
        stop();
      });
      const merger = createDeltaMerger(deps.clock, ({ id, event }) =>
        stream.send({ id, event: event.type, data: event }),
      );
      try {
        const subscription = await profile.sessions.subscribe(
          sessionId,
          afterOf(context),
          (event) => merger.push(event),
        );
        stop = () => {
          merger.close();
          subscription.close();
        };
        if (ended) stop();
      } catch (error) {
        stream.close();
        throw error;
      }
      return stream.response;
    },
  });

  routes.session("GET /api/events", {
    handler(context) {
      const topics = topicsOf(context.query);
      if (context.facts.method === "HEAD") return sse.head();
      const owner = ownerOf(context.caller);
      const key = `events ${owner ?? ""}`;
      const isFull = owner !== null && (open.get(key) ?? 0) >= MOST_EVENTS_PER_SESSION;
      if (isFull || sse.size >= MOST_IN_ALL) throw tooManyStreams();
      count(key, 1);
      let stop = (): void => undefined;
      const stream = sse.open(owner ?? "", () => {
        count(key, -1);
        stop();
      });
      stop = changes.watch(topics, (event) => stream.send({ event: event.topic, data: event }));
      return stream.response;
    },
  });
}

function tooManyStreams(): Error {
  return fail(429, "rate_limited", "Too many event streams", {}, { "Retry-After": "10" });
}

function afterOf({ facts, query }: RouteContext<null>): string | null {
  const header = facts.headers["last-event-id"];
  return query.get("after") ?? (typeof header === "string" && header !== "" ? header : null);
}

function topicsOf(query: URLSearchParams): ReadonlySet<Topic> {
  const words = (query.get("topics") ?? TOPICS.join(",")).split(",").filter(Boolean);
  const topics = words.map((word) => TOPICS.find((topic) => topic === word));
  if (topics.includes(undefined) || topics.length === 0) {
    throw invalidField("query", "topics", `must be some of ${TOPICS.join(", ")}`);
  }
  return new Set(topics.filter((topic) => topic !== undefined));
}
