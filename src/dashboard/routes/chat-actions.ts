// What a viewer may do to a conversation beside talking: stop, decide, answer, take back (dashboard.md §9.3).
import * as z from "zod/mini";
import type { AnswerResult } from "#session/types.ts";
import { fail, notFound } from "../errors.ts";
import { json, type Registrars } from "../routing.ts";
import { profileOf, type RouteServices } from "../route-services.ts";
import { clientKey, idOf, stateBody, SURFACE, word } from "./chat.ts";

export function registerChatActions(routes: Registrars, services: RouteServices): void {
  routes.session("POST /api/chat/sessions/{id}/stop", {
    async handler(context) {
      const { sessions } = await profileOf(services, context);
      return json({ stopped: await sessions.stop(idOf(context)) });
    },
  });

  routes.session("POST /api/chat/sessions/{id}/approvals/{requestId}", {
    body: z.object({ choice: z.enum(["once", "session", "always", "deny"]) }),
    async handler(context) {
      const { sessions } = await profileOf(services, context);
      const { requestId = "" } = context.params;
      const { choice } = context.body;
      return answered(await sessions.answerApproval(idOf(context), requestId, choice, SURFACE));
    },
  });

  routes.session("POST /api/chat/sessions/{id}/clarify/{requestId}", {
    body: z.object({ answer: z.string().check(z.maxLength(16_384)) }),
    async handler(context) {
      const { sessions } = await profileOf(services, context);
      const { requestId = "" } = context.params;
      const { answer } = context.body;
      return answered(await sessions.answerClarify(idOf(context), requestId, answer, SURFACE));
    },
  });

  routes.session("POST /api/chat/sessions/{id}/retry", {
    body: z.object({ client_message_id: clientKey }),
    async handler(context) {
      const { sessions } = await profileOf(services, context);
      const { turnId, messageId } = await sessions.retry(idOf(context), {
        clientKey: context.body.client_message_id,
        surface: SURFACE,
        answerable: true,
      });
      return json({ ok: true, turn_id: turnId, message_id: messageId }, 202);
    },
  });

  routes.session("POST /api/chat/sessions/{id}/undo", {
    async handler(context) {
      const { sessions } = await profileOf(services, context);
      return json({ ok: true, removed: await sessions.undo(idOf(context)) });
    },
  });

  routes.session("POST /api/chat/sessions/{id}/compress", {
    body: z.object({ focus: z.exactOptional(z.string().check(z.maxLength(2000))) }),
    async handler(context) {
      const { sessions } = await profileOf(services, context);
      const done = await sessions.compress(idOf(context), context.body.focus);
      return json({ ok: done.ok, session_id: done.sessionId });
    },
  });

  routes.session("POST /api/chat/sessions/{id}/unqueue", {
    body: z.object({ queue_id: word }),
    async handler(context) {
      const { sessions } = await profileOf(services, context);
      const taken = await sessions.unqueue(idOf(context), context.body.queue_id);
      if (!taken) throw notFound("Queued message");
      return json({ ok: true });
    },
  });

  routes.session("PATCH /api/chat/sessions/{id}", {
    body: z.object({
      model: z.exactOptional(word),
      provider: z.exactOptional(word),
      effort: z.exactOptional(z.enum(["", "none", "low", "medium", "high"])),
      yolo: z.exactOptional(z.boolean()),
    }),
    async handler(context) {
      const { sessions } = await profileOf(services, context);
      const id = idOf(context);
      const { model, provider, effort, yolo } = context.body;
      // Asked first: an unknown session changes nothing.
      await sessions.state(id);
      if (model !== undefined) {
        await sessions.setModel(id, { model, ...(provider === undefined ? {} : { provider }) });
      }
      if (effort !== undefined) await sessions.setEffort(id, effort);
      if (yolo !== undefined) await sessions.setYolo(id, yolo);
      return json(stateBody(await sessions.state(id)));
    },
  });
}

function answered(result: AnswerResult) {
  if (result.ok) return json({ ok: true as const });
  if (result.reason === "unknown") throw notFound("Request");
  throw fail(409, "conflict", "Already decided", { choice: result.choice });
}
