// Reading a request body with a limit and a deadline (dashboard.md §1.5).
import type { IncomingMessage } from "node:http";
import type { Clock } from "#base/clock.ts";
import { fail, type HttpFailure } from "./errors.ts";

export const JSON_LIMIT_BYTES = 1024 * 1024;
export const UPLOAD_LIMIT_BYTES = 25 * 1024 * 1024;
export const JSON_DEADLINE_MS = 60_000;
export const UPLOAD_DEADLINE_MS = 600_000;

/** Who is too slow is not waited for: the connection closes with the answer. */
const CLOSE = { Connection: "close" };

export interface BodyRule {
  readonly maxBytes: number;
  readonly deadlineMs: number;
}

/** Throws 413 as soon as the limit is known to be passed, 408 at the deadline, 400 when the client went away. */
export function readBody(incoming: IncomingMessage, rule: BodyRule, clock: Clock): Promise<Buffer> {
  if (Number(incoming.headers["content-length"] ?? 0) > rule.maxBytes) {
    return Promise.reject(tooLarge(rule));
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (finish: () => void): void => {
      timer.cancel();
      incoming.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      finish();
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > rule.maxBytes) end(() => reject(tooLarge(rule)));
    };
    const onEnd = (): void => end(() => resolve(Buffer.concat(chunks, size)));
    const onGone = (): void => end(() => reject(fail(400, "invalid", "The body was cut off")));
    const timer = clock.after(rule.deadlineMs, () =>
      end(() => reject(fail(408, "invalid", "The body took too long", {}, CLOSE))),
    );
    incoming.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

function tooLarge(rule: BodyRule): HttpFailure {
  const limit =
    rule.maxBytes >= 1024 * 1024 ? `${rule.maxBytes / 1048576} MiB` : `${rule.maxBytes / 1024} KiB`;
  return fail(413, "too_large", `The body is larger than ${limit}`);
}

/** The media type in lower case, without parameters; "" when there is none. */
export function mediaType(contentType: string | undefined): string {
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
}
