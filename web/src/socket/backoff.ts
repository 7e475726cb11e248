// When to try again, and what a close code asks for (dashboard.md §4.4, §12.1).

const FIRST_MS = 500;
const MOST_MS = 30_000;

/** Doubling with full jitter: attempt 0 waits up to 0.5 s, later ones up to 30 s. `random` is in [0, 1). */
export function waitMs(attempt: number, random: number): number {
  const ceiling = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(attempt, 16));
  return Math.round(ceiling * random);
}

export type CloseAction =
  /** Connect again with back-off. */
  | "retry"
  /** The credential was refused: ask the HTTP side once, which knows how to sign in. */
  | "credential"
  /** Too many sockets: wait long. */
  | "limit"
  /** Our own mistake or a wish of the server: stay closed. */
  | "stop";

export function actionFor(code: number): CloseAction {
  switch (code) {
    case 4401:
      return "credential";
    case 4429:
      return "limit";
    case 4400:
    case 4403:
      return "stop";
    default:
      return "retry";
  }
}

/** Refused this often in a row without one good connection: signed out. */
export const MOST_REFUSALS = 3;
