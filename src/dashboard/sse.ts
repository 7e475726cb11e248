// Server-sent events for scripts (dashboard.md §9.2): comments every 15 s, `retry: 2000`, nothing buffered or compressed.
import type { Clock, Timer } from "#base/clock.ts";

const COMMENT_MS = 15_000;
const MOST_BUFFERED_BYTES = 4 * 1024 * 1024;

export interface SseStream {
  readonly response: Response;
  send(message: { readonly event: string; readonly data: unknown; readonly id?: string }): void;
  close(): void;
}

export interface SseServer {
  /** `owner`: whose session it belongs to. `onEnd` runs once, when either side ends the stream. */
  open(owner: string, onEnd: () => void): SseStream;
  /** The session of this owner is over. */
  endOwner(owner: string): void;
  /** Headers only, for HEAD. */
  head(): Response;
  close(): void;
  readonly size: number;
}

const HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-cache, no-transform",
  "X-Accel-Buffering": "no",
};

export function createSseServer(clock: Clock): SseServer {
  const open = new Map<SseStream, string>();
  return {
    open(owner, onEnd) {
      const stream = openStream(clock, () => {
        open.delete(stream);
        onEnd();
      });
      open.set(stream, owner);
      return stream;
    },
    endOwner(owner) {
      for (const [stream, whose] of open) if (whose === owner) stream.close();
    },
    head: () => new Response(null, { headers: HEADERS }),
    close() {
      for (const stream of open.keys()) stream.close();
    },
    get size() {
      return open.size;
    },
  };
}

function openStream(clock: Clock, onEnd: () => void): SseStream {
  const encoder = new TextEncoder();
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let timer: Timer | null = null;

  const end = (closing: boolean): void => {
    if (!controller) return;
    const mine = controller;
    controller = null;
    timer?.cancel();
    if (closing) mine.close();
    onEnd();
  };
  const write = (text: string): void => {
    if (!controller) return;
    // A reader that is 4 MiB behind is let go: it resumes with Last-Event-ID.
    if ((controller.desiredSize ?? 0) <= 0) end(true);
    else controller.enqueue(encoder.encode(text));
  };
  const tick = (): void => {
    write(": keep-alive\n\n");
    if (controller) timer = clock.after(COMMENT_MS, tick);
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(it) {
        controller = it;
        write("retry: 2000\n\n");
        timer = clock.after(COMMENT_MS, tick);
      },
      cancel: () => end(false),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MOST_BUFFERED_BYTES }),
  );
  return {
    response: new Response(body, { headers: HEADERS }),
    send({ event, data, id }) {
      const head = id === undefined ? "" : `id: ${id}\n`;
      write(`${head}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    },
    close: () => end(true),
  };
}
