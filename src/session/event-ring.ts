// The last events of one session, kept so that a reconnecting viewer gets each one exactly once (product.md D17).
import type { AgentEvent } from "#protocol/events.ts";

/** Limits of agent.md §4.2. Bytes are counted as characters of the event's JSON, close enough for a cap. */
const MAX_EVENTS = 2000;
const MAX_BYTES = 2_000_000;

interface Kept {
  readonly event: AgentEvent;
  readonly size: number;
}

export class EventRing {
  #kept: Kept[] = [];
  #size = 0;
  #lastSeq: number;

  /** A ring that starts after `lastSeq`: older events are not kept. */
  constructor(lastSeq = 0) {
    this.#lastSeq = lastSeq;
  }

  /** `seq` of the newest event; 0 before the first. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  push(event: AgentEvent): void {
    const size = JSON.stringify(event).length;
    this.#kept.push({ event, size });
    this.#size += size;
    this.#lastSeq = event.seq;
    while (this.#kept.length > 1 && (this.#kept.length > MAX_EVENTS || this.#size > MAX_BYTES)) {
      this.#size -= this.#kept.shift()?.size ?? 0;
    }
  }

  /** Every event after `seq` in order, or null when some of them are no longer kept (or `seq` is from the future). */
  since(seq: number): readonly AgentEvent[] | null {
    if (seq > this.#lastSeq) return null;
    const first = this.#kept[0]?.event.seq ?? this.#lastSeq + 1;
    if (seq + 1 < first) return null;
    return this.#kept.filter((entry) => entry.event.seq > seq).map((entry) => entry.event);
  }
}
