// Deltas to one viewer are merged to at most 30 frames a second (dashboard.md §9.3). Pure but for the clock.
import type { Clock, Timer } from "#base/clock.ts";
import type { AgentEvent } from "#protocol/events.ts";
import type { NumberedEvent } from "#session/types.ts";

const FRAME_MS = 34;
const MOST_PENDING_CHARS = 64 * 1024;

export interface DeltaMerger {
  push(event: NumberedEvent): void;
  /** Drops what waits; nothing is sent after it. */
  close(): void;
}

/**
 * The first delta goes out at once; later ones wait for the next frame. Only neighbours of the same block are joined, and
 * a joined event carries the number of its last part: resuming after it misses and repeats nothing.
 */
export function createDeltaMerger(clock: Clock, send: (event: NumberedEvent) => void): DeltaMerger {
  let waiting: NumberedEvent[] = [];
  let chars = 0;
  let sentAt = Number.NEGATIVE_INFINITY;
  let timer: Timer | null = null;

  const flush = (): void => {
    timer?.cancel();
    timer = null;
    const due = waiting;
    waiting = [];
    chars = 0;
    sentAt = clock.monotonicMs();
    for (const event of due) send(event);
  };

  return {
    push(next) {
      const size = textOf(next.event)?.length;
      if (size === undefined) {
        if (waiting.length > 0) flush();
        send(next);
        return;
      }
      const last = waiting.at(-1);
      const joined = last ? join(last, next) : null;
      if (joined) waiting[waiting.length - 1] = joined;
      else waiting.push(next);
      chars += size;
      const wait = sentAt + FRAME_MS - clock.monotonicMs();
      if (wait <= 0 || chars > MOST_PENDING_CHARS) flush();
      else timer ??= clock.after(wait, flush);
    },
    close() {
      timer?.cancel();
      waiting = [];
    },
  };
}

function textOf(event: AgentEvent): string | undefined {
  const { type } = event;
  const isDelta = type === "text-delta" || type === "reasoning-delta" || type === "tool-output";
  return isDelta ? event.text : undefined;
}

function join(a: NumberedEvent, b: NumberedEvent): NumberedEvent | null {
  const [left, right] = [a.event, b.event];
  if (left.type === "tool-output" && right.type === "tool-output") {
    if (left.callId !== right.callId || left.stream !== right.stream) return null;
    return { id: b.id, event: { ...right, text: left.text + right.text } };
  }
  const streams = left.type === "text-delta" || left.type === "reasoning-delta";
  if (!streams || left.type !== right.type || left.blockId !== right.blockId) return null;
  return { id: b.id, event: { ...right, text: left.text + right.text } };
}
