// Where a turn waits for a person: approvals and questions, answered by whichever surface is first.
import type { AnswerResult } from "./types.ts";

/** Decided requests that are remembered, so that a second answer is told what was chosen. */
const MAX_DECIDED = 200;

export class AnswerDesk<T> {
  readonly #waiting = new Map<string, (answer: T) => void>();
  readonly #decided = new Map<string, string>();

  /** Pends until somebody answers; the caller owns time-out and abort, and must then call `settle`. */
  wait(requestId: string): Promise<T> {
    return new Promise((resolve) => {
      this.#waiting.set(requestId, resolve);
    });
  }

  answer(requestId: string, answer: T, choice: string): AnswerResult {
    const resolve = this.#waiting.get(requestId);
    if (resolve) {
      this.settle(requestId, choice);
      resolve(answer);
      return { ok: true };
    }
    const decided = this.#decided.get(requestId);
    return decided === undefined
      ? { ok: false, reason: "unknown" }
      : { ok: false, reason: "decided", choice: decided };
  }

  /** The request ended, by an answer or without one. */
  settle(requestId: string, choice: string): void {
    this.#waiting.delete(requestId);
    if (this.#decided.has(requestId)) return;
    this.#decided.set(requestId, choice);
    const oldest = this.#decided.keys().next().value;
    if (this.#decided.size > MAX_DECIDED && oldest !== undefined) this.#decided.delete(oldest);
  }
}
