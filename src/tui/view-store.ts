// Holds the view outside React: keys are drawn at once, a flood of events thirty times a second.
import { reduce, type Action } from "./reduce.ts";
import type { View } from "./view.ts";

const FRAME_MS = 33;

export class ViewStore {
  #view: View;
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | null = null;

  constructor(view: View) {
    this.#view = view;
  }

  readonly view = (): View => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Takes effect at once; `soon` is drawn with the next frame. */
  dispatch(action: Action, draw: "now" | "soon" = "now"): void {
    const next = reduce(this.#view, action);
    if (next === this.#view) return;
    this.#view = next;
    if (draw === "now") this.#draw();
    else this.#timer ??= setTimeout(() => this.#draw(), FRAME_MS);
  }

  #draw(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const listener of this.#listeners) listener();
  }
}
