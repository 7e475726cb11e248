// A clock that a test moves by hand.
import type { Clock, Timer } from "#base/clock.ts";

interface Waiting {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export class FakeClock implements Clock {
  #now: number;
  #order = 0;
  readonly #waiting = new Set<Waiting>();

  constructor(startMs = Date.UTC(2026, 0, 15, 12, 0, 0)) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  monotonicMs(): number {
    return this.#now;
  }

  after(delayMs: number, run: () => void): Timer {
    const entry: Waiting = { at: this.#now + delayMs, order: this.#order++, run };
    this.#waiting.add(entry);
    return { cancel: () => void this.#waiting.delete(entry) };
  }

  /** How many timers are set: a test waits for this before it moves time. */
  get pending(): number {
    return this.#waiting.size;
  }

  /** Moves time and runs what falls due, in order; between two timers pending promises get a turn. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#waiting]
        .filter((entry) => entry.at <= end)
        .sort((a, b) => a.at - b.at || a.order - b.order)[0];
      if (!due) break;
      this.#waiting.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.run();
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    this.#now = end;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
