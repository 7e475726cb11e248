// Chat: start, look, send (dashboard.md §9.3). All changes are POSTs; streams only carry.
import * as z from "zod/mini";
import type { ChatStateBody, SendMessageBody, SendMessageInput } from "#protocol/http-chat.ts";
import type { SendOptions, SendResult, SessionState } from "#session/types.ts";
import type { ProfileServices } from "../deps.ts";
import { saveAttachment, useAttachments } from "../attachments.ts";
import { mediaType, UPLOAD_LIMIT_BYTES } from "../body.ts";
import { fail, invalidField, notFound } from "../errors.ts";
import { json, type Registrars, type RouteContext } from "../routing.ts";
import { profileOf, type RouteServices } from "../route-services.ts";

const TEXT_LIMIT_BYTES = 256 * 1024;

export const SURFACE = "web";
export const word = z.string().check(z.minLength(1), z.maxLength(200));
export const clientKey = z.string().check(z.regex(/^[A-Za-z0-9._-]{1,128}$/));

export function registerChat(routes: Registrars, services: RouteServices): void {
  routes.session("POST /api/chat/sessions", {
    body: z.object({
      profile: z.exactOptional(word),
      title: z.exactOptional(z.string().check(z.maxLength(500))),
      model: z.exactOptional(word),
      provider: z.exactOptional(word),
      resume: z.exactOptional(word),
    }),
    async handler(context) {
      const { profile: name, resume, ...options } = context.body;
      const profile = await profileOf(services, context, name);
      const row =
        resume === undefined
          ? await profile.sessions.start({ source: SURFACE, ...options })
          : await profile.sessions.resolve(resume);
      services.changes.publish("sessions", profile.name);
      return json({ session_id: row.id }, 201);
    },
  });

  routes.session("GET /api/chat/sessions/{id}", {
    async handler(context) {
      const { sessions } = await profileOf(services, context);
      return json(stateBody(await sessions.state(idOf(context))));
    },
  });

  routes.session("POST /api/chat/sessions/{id}/messages", {
    body: z.object({
      text: z.string(),
      attachments: z.exactOptional(z.array(word).check(z.maxLength(20))),
      client_message_id: clientKey,
      when_busy: z.exactOptional(z.enum(["queue", "steer", "interrupt"])),
      replaces: z.exactOptional(z.int().check(z.positive())),
    }) satisfies z.ZodMiniType<SendMessageInput>,
    async handler(context) {
      const profile = await profileOf(services, context);
      const options = sendOptions(context.body, profile.home);
      await checkReplaced(profile, idOf(context), context.body);
      return json(sendBody(await profile.sessions.send(idOf(context), options)), 202);
    },
  });

  routes.session("POST /api/chat/attachments", {
    upload: { types: ["*"], maxBytes: UPLOAD_LIMIT_BYTES },
    async handler(context) {
      const { home } = await profileOf(services, context);
      const { clock, random } = services.deps;
      const { headers } = context.facts;
      const input = {
        name: fileNameOf(headers["x-file-name"]),
        mime: mediaType(headers["content-type"]) || "application/octet-stream",
        bytes: context.bytes,
      };
      return json(saveAttachment({ home, clock, random }, input), 201);
    },
  });
}

export function idOf(context: Pick<RouteContext, "params">): string {
  return context.params["id"] ?? "";
}

export function stateBody(state: SessionState): ChatStateBody {
  return {
    session_id: state.sessionId,
    status: state.status,
    state: state.state,
    holder: state.holder,
    turn_id: state.turnId,
    pending: state.pending,
    last_event_id: state.lastEventId,
    model: state.model,
    provider: state.provider,
    context: state.context,
  };
}

function sendOptions(body: SendMessageInput, home: string): SendOptions {
  if (Buffer.byteLength(body.text, "utf8") > TEXT_LIMIT_BYTES) {
    throw fail(413, "too_large", "The text is larger than 256 KiB");
  }
  const files = useAttachments(home, body.attachments ?? []);
  if (body.text.trim() === "" && files.length === 0) {
    throw invalidField("body", "text", "must not be empty");
  }
  return {
    text: [body.text, ...files].filter(Boolean).join("\n"),
    clientKey: body.client_message_id,
    surface: SURFACE,
    answerable: true,
    ...(body.when_busy === undefined ? {} : { whenBusy: body.when_busy }),
    ...(body.replaces === undefined ? {} : { replaces: body.replaces }),
  };
}

/** Only a text of the user that the model still sees can be said anew: another id would take out something else. */
async function checkReplaced(
  { sessions, archive }: ProfileServices,
  id: string,
  { replaces, when_busy: whenBusy, client_message_id: key }: SendMessageInput,
): Promise<void> {
  if (replaces === undefined) return;
  if (whenBusy !== undefined) throw invalidField("body", "when_busy", "cannot go with replaces");
  const { sessionId } = await sessions.state(id);
  const at = { after: replaces - 1, limit: 1, order: "asc" } as const;
  const [row] = (await archive.readMessages(sessionId, at)).messages;
  const isText = row?.id === replaces && row.role === "user" && row.kind === null;
  if (isText && row.active) return;
  // Asked again after it was done, the key of the request has its answer already.
  const newest = await archive.readMessages(sessionId, { limit: 50, order: "desc" });
  if (!newest.messages.some(({ clientKey }) => clientKey === key)) throw notFound("Message");
}

function sendBody(result: SendResult): SendMessageBody {
  const { status, turnId, messageId } = result;
  const queued = result.status === "queued" ? { queue_id: result.queueId } : {};
  return { turn_id: turnId, message_id: messageId, status, ...queued };
}

function fileNameOf(header: string | string[] | undefined): string {
  const text = Array.isArray(header) ? (header.at(-1) ?? "") : (header ?? "");
  try {
    return decodeURIComponent(text);
  } catch {
    throw fail(400, "invalid", "X-File-Name must be percent-encoded UTF-8");
  }
}
