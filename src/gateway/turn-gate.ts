// Counts the turns that run and lets none begin once the gateway is ending (agent.md §7.10).

/** Ends the turn's place. Safe to call twice. */
export type LeaveTurn = () => void;

export class TurnGate {
  #active = 0;
  #isClosed = false;
  #waiting: (() => void)[] = [];
  readonly #changed: (active: number) => void;

  constructor(changed: (active: number) => void = () => undefined) {
    this.#changed = changed;
  }

  get active(): number {
    return this.#active;
  }

  /** True while no new turn may begin. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** null: the gateway is ending. */
  enter(): LeaveTurn | null {
    if (this.#isClosed) return null;
    let isIn = true;
    this.#move(1);
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#move(-1);
    };
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Resolves when no turn runs. */
  idle(): Promise<void> {
    if (this.#active === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #move(by: 1 | -1): void {
    this.#active += by;
    this.#changed(this.#active);
    if (this.#active > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
