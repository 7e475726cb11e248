// What the parts of the store share.
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import type { ProcessIdentity } from "#base/process-identity.ts";
import type { Connection } from "./sqlite.ts";
import type { Transactions } from "./transaction.ts";

export interface StoreContext extends Transactions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly isAlive: (identity: ProcessIdentity) => boolean;
  /** A read-only connection of its own, for work that would hold up the shared one. The caller closes it. */
  openReader(): Connection;
  /** True once `close` was called: work in slices ends. */
  isClosing(): boolean;
}

/** Lets other work of the process have its turn between two slices. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
