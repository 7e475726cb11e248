// Write discipline (agent.md §6.3): one tick per transaction, short waits of our own while another process writes.
import { type Clock, waitFor } from "#base/clock.ts";
import { HermesError } from "#base/errors.ts";
import { busyError, corruptError, failureOf, storeError } from "./failures.ts";
import type { Connection, Sql } from "./sqlite.ts";

export const BUSY_LIMIT_MS = 20_000;
export const TRANSCRIPT_LIMIT_MS = 60_000;
/** SQLite's own wait, which blocks the thread: short. */
export const BUSY_TIMEOUT_MS = 50;

export interface Transactions {
  /** `BEGIN IMMEDIATE` … `COMMIT`, or nothing. `run` must not await; it may run again after a busy answer. */
  readonly write: <T>(run: (sql: Sql) => T, limitMs?: number) => Promise<T>;
  /** One snapshot of the read-only connection. */
  readonly read: <T>(run: (sql: Sql) => T) => Promise<T>;
  /** As `read`, at once or not at all. Throws STORE_BUSY without waiting. */
  readonly readNow: <T>(run: (sql: Sql) => T) => T;
}

export interface TransactionOptions {
  readonly path: string;
  readonly writer: Connection;
  readonly reader: Connection;
  readonly clock: Clock;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
}

export function makeTransactions(options: TransactionOptions): Transactions {
  const { path, writer, reader } = options;
  let damage: HermesError | null = null;

  const attempt = <T>(connection: Connection, begin: string, run: (sql: Sql) => T): T => {
    if (damage !== null) throw damage;
    if (!connection.database.isOpen) throw closedError(path);
    try {
      return inTransaction(connection, begin, run);
    } catch (error) {
      // After damage nothing is read or written any more: another write could make it worse.
      if (failureOf(error) === "corrupt") damage = corruptError(path, error);
      throw error;
    }
  };
  const readOnce = <T>(run: (sql: Sql) => T): T => {
    try {
      return attempt(reader, "BEGIN", run);
    } catch (error) {
      if (failureOf(error) !== "read-only") throw error;
      // A process that died left a rollback journal, which only a connection that may write can undo.
      inTransaction(writer, "BEGIN IMMEDIATE", () => undefined);
      return attempt(reader, "BEGIN", run);
    }
  };
  const translated = <T>(run: () => T): T => {
    try {
      return run();
    } catch (error) {
      throw storeError(error, path, 0);
    }
  };
  return {
    write: (run, limitMs = BUSY_LIMIT_MS) =>
      whileBusy(() => attempt(writer, "BEGIN IMMEDIATE", run), { ...options, limitMs }),
    read: (run) => whileBusy(() => readOnce(run), { ...options, limitMs: BUSY_LIMIT_MS }),
    readNow: (run) =>
      translated(() => {
        reader.exec("PRAGMA busy_timeout = 0");
        try {
          return attempt(reader, "BEGIN", run);
        } finally {
          reader.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
        }
      }),
  };
}

function inTransaction<T>(connection: Connection, begin: string, run: (sql: Sql) => T): T {
  connection.exec(begin);
  try {
    const result = run(connection);
    connection.exec("COMMIT");
    return result;
  } catch (error) {
    // SQLite may have rolled back by itself (disk full, I/O error).
    if (connection.database.isTransaction) rollback(connection);
    throw error;
  }
}

function rollback(connection: Connection): void {
  try {
    connection.exec("ROLLBACK");
  } catch {
    // The first error is the one that matters.
  }
}

function closedError(path: string): HermesError {
  return new HermesError("STORE_CLOSED", `${path} was closed already`);
}

export interface BusyOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly limitMs: number;
}

/**
 * Tries `attempt` until it is not answered BUSY any more, at most `limitMs`, with 20–150 ms at random between.
 * `prepare` and pragmas go through here too: with journal mode DELETE they can answer BUSY themselves.
 */
export async function whileBusy<T>(attempt: () => T, options: BusyOptions): Promise<T> {
  const start = options.clock.monotonicMs();
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (failureOf(error) !== "busy") throw storeError(error, options.path, 0);
      const waitedMs = options.clock.monotonicMs() - start;
      if (waitedMs >= options.limitMs) throw busyError(options.path, waitedMs, error);
      await waitAlive(options.clock, 20 + options.random() * 130);
    }
  }
}

/** The clock's timers do not keep a process alive, but a command that waits for the store must not just end. */
async function waitAlive(clock: Clock, delayMs: number): Promise<void> {
  const alive = setInterval(() => undefined, 60_000);
  try {
    await waitFor(clock, delayMs);
  } finally {
    clearInterval(alive);
  }
}
