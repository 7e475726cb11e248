// Stored conversations: list, search, one, its messages (dashboard.md §11.3).
import * as z from "zod/mini";
import { epochSeconds } from "#base/clock.ts";
import { makeSessionId } from "#base/ids.ts";
import type { SessionFilter } from "#session/archive.ts";
import type { SessionRow } from "#protocol/messages.ts";
import type { ProfileServices } from "../deps.ts";
import { fail, invalidField, notFound } from "../errors.ts";
import { flagParam, intParam, pageParams, requiredParam, textParam } from "../query.ts";
import { json, type Registrars, type RouteContext } from "../routing.ts";
import { profileOf, type RouteServices } from "../route-services.ts";
import { prefixTerms } from "../search-terms.ts";
import { messageBody, searchHitBody, sessionBody } from "../session-bodies.ts";
import { allMessages, downloadOf, exportJsonLines, exportMarkdown } from "../session-export.ts";
import { idOf } from "./chat.ts";

export function registerSessions(routes: Registrars, services: RouteServices): void {
  const { deps, changes } = services;
  const now = (): number => epochSeconds(deps.clock);

  routes.session("GET /api/sessions", {
    async handler(context) {
      const { archive, redactor } = await profileOf(services, context);
      const { limit, offset } = pageParams(context.query);
      const { sessions, total } = await archive.listSessions(
        filterOf(context.query, limit, offset),
      );
      const rows = sessions.map((row) => sessionBody(row, now()));
      return json({ sessions: redactor.value(rows), total, limit, offset });
    },
  });

  routes.session("GET /api/sessions/search", {
    async handler(context) {
      const { archive, redactor } = await profileOf(services, context);
      const query = requiredParam(context.query, "q").slice(0, 500);
      const limit = intParam(context.query, "limit", { fallback: 20, least: 1, most: 100 });
      if (query.trim() === "") return json({ results: [], partial: false });
      const source = textParam(context.query, "source");
      const options = { limit, ...(source === undefined ? {} : { source }) };
      const { hits, partial } = await archive.search(prefixTerms(query), options);
      return json({ results: redactor.value(hits.map(searchHitBody)), partial });
    },
  });

  routes.session("GET /api/sessions/{id}", {
    async handler(context) {
      const profile = await profileOf(services, context);
      return json(profile.redactor.value(sessionBody(await findSession(profile, context), now())));
    },
  });

  routes.session("PATCH /api/sessions/{id}", {
    body: z.object({
      title: z.exactOptional(z.string().check(z.maxLength(500))),
      archived: z.exactOptional(z.boolean()),
      pinned: z.exactOptional(z.boolean()),
    }),
    async handler(context) {
      const profile = await profileOf(services, context);
      let row = await findSession(profile, context);
      const { title, ...marks } = context.body;
      if (title === "") {
        const cleared = { title: null, titleSource: null };
        row = await profile.archive.updateSession(row.id, cleared);
      } else if (title !== undefined) row = await profile.sessions.rename(row.id, title);
      if (Object.keys(marks).length > 0) row = await profile.archive.updateSession(row.id, marks);
      changes.publish("sessions", profile.name);
      return json(sessionBody(row, now()));
    },
  });

  routes.session("DELETE /api/sessions/{id}", {
    async handler(context) {
      const profile = await profileOf(services, context);
      await profile.archive.deleteSession((await findSession(profile, context)).id);
      changes.publish("sessions", profile.name);
      return json({ ok: true });
    },
  });

  routes.session("GET /api/sessions/{id}/messages", {
    async handler(context) {
      const profile = await profileOf(services, context);
      const { id } = await findSession(profile, context);
      const { limit, offset } = pageParams(context.query, 200);
      const order = orderOf(context.query);
      const page = { limit, offset, order, ...bounds(context.query) };
      const { messages, total } = await profile.archive.readMessages(id, page);
      return json({
        session_id: id,
        messages: profile.redactor.value(messages.map(messageBody)),
        pagination: { limit, offset, order, total },
      });
    },
  });

  routes.session("GET /api/sessions/{id}/latest-descendant", {
    async handler(context) {
      const profile = await profileOf(services, context);
      const { id } = await findSession(profile, context);
      const { session, path } = await profile.archive.newestDescendant(id);
      return json({
        requested_session_id: id,
        session_id: session.id,
        path,
        changed: session.id !== id,
      });
    },
  });

  routes.session("GET /api/sessions/{id}/export", {
    async handler(context) {
      const { archive, redactor, ...profile } = await profileOf(services, context);
      const row = await findSession({ archive }, context);
      switch (context.query.get("format") ?? "jsonl") {
        case "jsonl":
          return downloadOf(
            exportJsonLines(archive, redactor, row.id),
            `hermes-${row.id}.jsonl`,
            "application/x-ndjson",
          );
        case "md":
          return downloadOf(
            exportMarkdown(archive, redactor, row),
            `hermes-${row.id}.md`,
            "text/markdown; charset=utf-8",
          );
        default:
          throw invalidField("query", "format", `must be jsonl or md in ${profile.name}`);
      }
    },
  });

  routes.session("POST /api/sessions/{id}/fork", {
    async handler(context) {
      const profile = await profileOf(services, context);
      const row = await findSession(profile, context);
      const id = await forkSession(
        profile,
        row,
        makeSessionId(deps.clock.now(), 6, deps.random),
        now(),
      );
      changes.publish("sessions", profile.name);
      return json({ session_id: id }, 201);
    },
  });
}

/** By id or unique id prefix; titles and words such as `latest` are no ids here. */
export async function findSession(
  { archive }: Pick<ProfileServices, "archive">,
  context: Pick<RouteContext, "params">,
): Promise<SessionRow> {
  const ref = idOf(context);
  const resolved = await archive.resolveSession(ref);
  switch (resolved.found) {
    case "one":
      if (resolved.session.id.startsWith(ref)) return resolved.session;
      throw notFound("Session");
    case "many":
      throw fail(409, "conflict", `${ref} names several sessions`, {
        candidates: resolved.candidates.map(({ id }) => id),
      });
    case "none":
      throw notFound("Session");
    default:
      return resolved satisfies never;
  }
}

function filterOf(query: URLSearchParams, limit: number, offset: number): SessionFilter {
  const source = textParam(query, "source");
  return {
    limit,
    offset,
    archived: flagParam(query, "archived"),
    ...(source === undefined ? {} : { source }),
  };
}

function orderOf(query: URLSearchParams): "asc" | "desc" {
  const order = query.get("order") ?? "asc";
  if (order === "asc" || order === "desc") return order;
  throw invalidField("query", "order", "must be asc or desc");
}

function bounds(query: URLSearchParams): { before?: number; after?: number } {
  const most = Number.MAX_SAFE_INTEGER;
  const before = intParam(query, "before", { fallback: 0, least: 0, most });
  const after = intParam(query, "after", { fallback: 0, least: 0, most });
  return { ...(before > 0 ? { before } : {}), ...(after > 0 ? { after } : {}) };
}

/** A copy of what the model sees, with no tie to the original: resuming that one must not lead here. */
async function forkSession(
  { archive }: ProfileServices,
  row: SessionRow,
  id: string,
  startedAt: number,
): Promise<string> {
  const { model, cwd, source, modelConfig } = row;
  await archive.createSession({
    id,
    source,
    model,
    cwd,
    modelConfig: { ...modelConfig, forked_from: row.id },
    startedAt,
  });
  let batch = [];
  for await (const message of allMessages(archive, row.id)) {
    if (!message.active) continue;
    const { id: _id, sessionId: _session, active: _active, turnId: _turn, ...copy } = message;
    batch.push({ ...copy, clientKey: null });
    if (batch.length >= 200) await archive.appendMessages(id, batch.splice(0));
  }
  if (batch.length > 0) await archive.appendMessages(id, batch);
  return id;
}
