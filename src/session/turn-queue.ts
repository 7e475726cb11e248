// What waits while a turn runs (agent.md §4.5).
import { HermesError } from "#base/errors.ts";
import type { BusyMode, QueueItem } from "#protocol/events.ts";
import type { SendOptions } from "./types.ts";

const MAX_WAITING = 20;

export interface Waiting {
  readonly id: string;
  readonly options: SendOptions;
  readonly mode: BusyMode;
}

export class TurnQueue {
  #waiting: Waiting[] = [];
  #steer: string[] = [];

  get items(): readonly QueueItem[] {
    return this.#waiting.map(({ id, options, mode }) => ({ id, text: options.text, mode }));
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#steer.length === 0;
  }

  /** `interrupt` goes first, `queue` last. */
  add(item: Waiting): void {
    if (this.#waiting.length >= MAX_WAITING) {
      throw new HermesError("QUEUE_FULL", `${MAX_WAITING} messages wait already`, {
        fix: "wait for the running turn, stop it, or take a message out of the queue",
      });
    }
    if (item.mode === "interrupt") this.#waiting.unshift(item);
    else this.#waiting.push(item);
  }

  steer(text: string): void {
    this.#steer.push(text);
  }

  takeSteer(): readonly string[] {
    const texts = this.#steer;
    this.#steer = [];
    return texts;
  }

  remove(id: string): boolean {
    const before = this.#waiting.length;
    this.#waiting = this.#waiting.filter((item) => item.id !== id);
    return this.#waiting.length < before;
  }

  /**
   * The next turn: a steer text that found no tool round comes first; queued texts of the same sender that follow each
   * other are joined by a blank line. Null when nothing waits. `surface` is who steered.
   */
  next(steeredBy: SendOptions | null): SendOptions | null {
    const steer = this.takeSteer();
    if (steer.length > 0 && steeredBy) {
      const { clientKey: _used, whenBusy: _mode, ...rest } = steeredBy;
      return { ...rest, text: steer.join("\n\n") };
    }
    const first = this.#waiting.shift();
    if (!first) return null;
    if (first.mode === "interrupt") return first.options;
    const joined = [first.options.text];
    while (
      this.#waiting[0]?.mode === "queue" &&
      this.#waiting[0].options.surface === first.options.surface
    ) {
      joined.push(this.#waiting.shift()?.options.text ?? "");
    }
    return { ...first.options, text: joined.join("\n\n") };
  }
}
