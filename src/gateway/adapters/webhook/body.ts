// The raw body of a request, with a limit and a deadline (agent.md §7.7).
import type { IncomingMessage } from "node:http";
import type { Clock } from "#base/clock.ts";

const MAX_BYTES = 1024 * 1024;
const LIMIT_MS = 10_000;

export type Body =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly status: 400 | 408 | 413; readonly detail: string };

export function readBody(incoming: IncomingMessage, clock: Clock): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (body: Body): void => {
      timer.cancel();
      resolve(body);
    };
    const timer = clock.after(LIMIT_MS, () =>
      end({ ok: false, status: 408, detail: "The body took too long" }),
    );
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BYTES) chunks.push(chunk);
      else end({ ok: false, status: 413, detail: "The body is larger than 1 MB" });
    });
    incoming.on("end", () => end({ ok: true, bytes: Buffer.concat(chunks) }));
    const cut = (): void => end({ ok: false, status: 400, detail: "The body was cut off" });
    incoming.on("error", cut).on("close", cut);
  });
}
