// What a handler is given: checked JSON, or the raw bytes of an upload.
import type { IncomingMessage } from "node:http";
import type { Clock } from "#base/clock.ts";
import {
  JSON_DEADLINE_MS,
  JSON_LIMIT_BYTES,
  mediaType,
  readBody,
  UPLOAD_DEADLINE_MS,
} from "./body.ts";
import { fail, invalidFields } from "./errors.ts";
import type { RegisteredRoute } from "./routing.ts";

export interface ReadRequest {
  readonly body: unknown;
  readonly bytes: Buffer;
}

const NOTHING: ReadRequest = { body: null, bytes: Buffer.alloc(0) };

/** Throws 415, 413, 408, 400, 422. */
export async function readRequestBody(
  route: RegisteredRoute,
  incoming: IncomingMessage,
  clock: Clock,
): Promise<ReadRequest> {
  const type = mediaType(incoming.headers["content-type"]);
  if (route.upload) {
    const { types, maxBytes } = route.upload;
    if (!types.includes("*") && !types.includes(type)) throw unsupported(types.join(" or "));
    const rule = { maxBytes, deadlineMs: UPLOAD_DEADLINE_MS };
    return { body: null, bytes: await readBody(incoming, rule, clock) };
  }
  if (type !== "" && type !== "application/json") throw unsupported("application/json");
  if (!route.body) return NOTHING;
  if (type === "") throw unsupported("application/json");
  const rule = { maxBytes: JSON_LIMIT_BYTES, deadlineMs: JSON_DEADLINE_MS };
  const bytes = await readBody(incoming, rule, clock);
  const parsed = route.body.safeParse(parseJson(bytes));
  if (parsed.success) return { body: parsed.data, bytes };
  throw invalidFields(
    parsed.error.issues.map(({ path, message, code }) => ({
      loc: ["body", ...path.map((key) => (typeof key === "number" ? key : String(key)))],
      msg: message,
      type: code,
    })),
  );
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    throw invalidFields([{ loc: ["body"], msg: "is not valid JSON", type: "json_invalid" }]);
  }
}

function unsupported(wanted: string) {
  return fail(415, "unsupported_media_type", `Content-Type must be ${wanted}`);
}
