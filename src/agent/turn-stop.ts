// Everything that can end a turn from outside: the user's stop, the wall clock, a store that no longer takes rows.
import type { Clock, Timer } from "#base/clock.ts";

export type StopCause = "interrupted" | "wall-clock" | "broken";

/** Thrown inside the loop where a turn was stopped; the loop's one catch turns it into a `turn-end`. */
export class TurnStopped extends Error {
  constructor() {
    super("the turn was stopped");
    this.name = "TurnStopped";
  }
}

export interface StopOptions {
  /** Aborts when somebody stops the turn. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Wall clock in milliseconds; 0 = none. */
  readonly budgetMs: number;
  /** Called once, at the moment of the stop. */
  readonly onStop: (cause: StopCause) => void;
}

/** The first cause wins. Call `close` when the turn is over. */
export class TurnStop {
  readonly #controller = new AbortController();
  readonly #options: StopOptions;
  readonly #timer: Timer | null;
  readonly #onAbort = (): void => this.fire("interrupted");
  #cause: StopCause | null = null;
  #error: unknown = null;

  constructor(options: StopOptions) {
    const { signal, clock, budgetMs } = options;
    this.#options = options;
    this.#timer = budgetMs > 0 ? clock.after(budgetMs, () => this.fire("wall-clock")) : null;
    signal.addEventListener("abort", this.#onAbort, { once: true });
    if (signal.aborted) this.fire("interrupted");
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get cause(): StopCause | null {
    return this.#cause;
  }

  /** What broke, for cause `broken`. */
  get error(): unknown {
    return this.#error;
  }

  fire(cause: StopCause, error: unknown = null): void {
    if (this.#cause !== null) return;
    this.#cause = cause;
    this.#error = error;
    this.#options.onStop(cause);
    this.#controller.abort(new TurnStopped());
  }

  throwIfStopped(): void {
    if (this.#cause !== null) throw new TurnStopped();
  }

  close(): void {
    this.#timer?.cancel();
    this.#options.signal.removeEventListener("abort", this.#onAbort);
  }
}
