// Everyone who watches one session: numbers the events, keeps the last ones, folds the running turn for late comers.
import type { Clock } from "#base/clock.ts";
import { messageOf } from "#base/errors.ts";
import type { Log } from "#base/log.ts";
import { foldEvent, idleView, type TurnView } from "#agent/fold.ts";
import type { AgentEvent, AgentEventBody, EventOf } from "#protocol/events.ts";
import { EventRing } from "./event-ring.ts";
import type { NumberedEvent, Subscription } from "./types.ts";

export type Listener = (event: NumberedEvent) => void;

export class Viewers {
  readonly #run: string;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #listeners = new Set<Listener>();
  #ring = new EventRing();
  #seq = 0;
  #view: TurnView = idleView;

  /** `run` names this process life: an id of another life is recognised by it. */
  constructor(run: string, clock: Clock, log: Log) {
    this.#run = run;
    this.#clock = clock;
    this.#log = log;
  }

  get view(): TurnView {
    return this.#view;
  }

  get count(): number {
    return this.#listeners.size;
  }

  get lastEventId(): string {
    return `${this.#run}.${this.#seq}`;
  }

  emit(sessionId: string, turnId: string | null, body: AgentEventBody): void {
    const at = new Date(this.#clock.now()).toISOString();
    const event: AgentEvent = { v: 1, seq: ++this.#seq, at, sessionId, turnId, ...body };
    this.#view = foldEvent(this.#view, event);
    this.#ring.push(event);
    const numbered = { id: `${this.#run}.${event.seq}`, event };
    for (const listener of this.#listeners) this.#tell(listener, numbered);
  }

  /** Every event after `after` once, then live; `snapshot` first where that cannot be done (§9.3 of dashboard.md). */
  subscribe(sessionId: string, after: string | null, listener: Listener): Subscription {
    const missed = this.#missedSince(after) ?? [this.#snapshot(sessionId)];
    for (const event of missed) this.#tell(listener, { id: `${this.#run}.${event.seq}`, event });
    this.#listeners.add(listener);
    return { close: () => void this.#listeners.delete(listener) };
  }

  /** Forgets kept events (memory of a session that nobody looked at for a while); numbers go on. */
  forget(): void {
    this.#ring = new EventRing(this.#seq);
  }

  #missedSince(after: string | null): readonly AgentEvent[] | null {
    const dot = after?.lastIndexOf(".") ?? -1;
    if (after === null || after.slice(0, dot) !== this.#run) return null;
    const seq = Number(after.slice(dot + 1));
    return Number.isSafeInteger(seq) ? this.#ring.since(seq) : null;
  }

  #snapshot(sessionId: string): EventOf<"snapshot"> {
    const { state, turn, queue } = this.#view;
    return {
      v: 1,
      seq: this.#seq,
      at: new Date(this.#clock.now()).toISOString(),
      sessionId,
      turnId: turn?.turnId ?? null,
      type: "snapshot",
      state,
      turn,
      queue,
    };
  }

  /** A viewer that throws must not end the turn nor keep others from the event. */
  #tell(listener: Listener, event: NumberedEvent): void {
    try {
      listener(event);
    } catch (error) {
      this.#log.error("a viewer of a session failed", { error: messageOf(error) });
    }
  }
}
