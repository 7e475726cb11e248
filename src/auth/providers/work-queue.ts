// A few at a time, some waiting, the rest turned away at once.
import { AuthError } from "./auth-error.ts";

export interface WorkQueue {
  /** Rejects with `busy` when the line is full, with `unreachable` when the signal aborts before its turn. */
  run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

interface Waiting {
  readonly go: () => void;
}

export function createWorkQueue(atATime: number, mostWaiting: number): WorkQueue {
  let running = 0;
  const line = new Set<Waiting>();

  const turn = (signal: AbortSignal): Promise<void> => {
    if (running < atATime) {
      running++;
      return Promise.resolve();
    }
    if (line.size >= mostWaiting) {
      return Promise.reject(new AuthError("busy", `${mostWaiting} logins are waiting already`));
    }
    return new Promise((resolve, reject) => {
      const entry: Waiting = {
        go() {
          signal.removeEventListener("abort", giveUp);
          resolve();
        },
      };
      const giveUp = (): void => {
        if (line.delete(entry)) reject(new AuthError("unreachable", "the login waited too long"));
      };
      line.add(entry);
      signal.addEventListener("abort", giveUp, { once: true });
      if (signal.aborted) giveUp();
    });
  };

  /** The place goes to the next in line, without being free in between. */
  const done = (): void => {
    const next = line.values().next();
    if (next.done) {
      running--;
      return;
    }
    line.delete(next.value);
    next.value.go();
  };

  return {
    async run(work, signal) {
      await turn(signal);
      try {
        return await work();
      } finally {
        done();
      }
    },
  };
}
