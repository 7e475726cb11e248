// The terminal while the interface has it: drawn anew on request and after a change of its width, given back while stopped.
import type { SuspendTerminal } from "ink";
import type { ViewStore } from "./view-store.ts";

const CLEAR = "\x1b[2J\x1b[H";
const SETTLE_MS = 80;
/** A stop that nobody answers (no job control above us) lasts this long. */
const STOPPED_MS = 50;

export class Terminal {
  readonly #stdout: NodeJS.WriteStream;
  readonly #store: ViewStore;
  #suspend: SuspendTerminal | null = null;
  #columns: number;
  #resized: NodeJS.Timeout | null = null;
  #isBusy = false;

  constructor(stdout: NodeJS.WriteStream, store: ViewStore) {
    this.#stdout = stdout;
    this.#store = store;
    this.#columns = stdout.columns;
    stdout.on("resize", this.#onResize);
    process.on("SIGTSTP", this.stop);
    process.on("SIGCONT", this.redraw);
  }

  /** Ink's own way to let go of the terminal; there is one only while its tree is mounted. */
  readonly hold = (suspend: SuspendTerminal): void => {
    this.#suspend = suspend;
  };

  /** Ctrl-L, and after a SIGCONT: whatever is on the screen is replaced. */
  readonly redraw = (): void => {
    void this.#without(() => void this.#stdout.write(CLEAR));
  };

  /** Ctrl-Z and SIGTSTP: the terminal is the shell's until we are continued. */
  readonly stop = (): void => {
    void this.#without(async () => {
      process.off("SIGTSTP", this.stop);
      // The whole job, as the kernel would: whoever started us and waits stops as well.
      process.kill(0, "SIGTSTP");
      await new Promise((resolve) => setTimeout(resolve, STOPPED_MS));
      process.on("SIGTSTP", this.stop);
      this.#stdout.write(CLEAR);
    });
  };

  end(): void {
    this.#suspend = null;
    if (this.#resized) clearTimeout(this.#resized);
    this.#stdout.off("resize", this.#onResize);
    process.off("SIGTSTP", this.stop);
    process.off("SIGCONT", this.redraw);
  }

  /** What is printed already must stand on the new screen as well: first the live area, then the transcript above it. */
  async #without(work: () => void | Promise<void>): Promise<void> {
    if (this.#isBusy || this.#suspend === null) return;
    this.#isBusy = true;
    try {
      await this.#suspend(work);
      this.#store.dispatch({ type: "redraw", rows: this.#stdout.rows });
    } finally {
      this.#isBusy = false;
    }
  }

  /** Ink draws every size; the terminal wrapped the old frame by itself, so the last size is drawn on an empty screen. */
  readonly #onResize = (): void => {
    if (this.#stdout.columns === this.#columns) return;
    this.#columns = this.#stdout.columns;
    if (this.#resized) clearTimeout(this.#resized);
    this.#resized = setTimeout(this.redraw, SETTLE_MS);
  };
}
