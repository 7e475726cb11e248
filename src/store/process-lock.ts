// A lock that a process holds for its life: an open BEGIN EXCLUSIVE on the file, which the kernel frees when the process
// dies, however it dies (agent.md §7.2). Beside it lies a record of the holder, for the message of whoever has to wait.
import { closeSync, openSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { resolve } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { errnoOf } from "#base/errors.ts";
import { type Log, silentLog } from "#base/log.ts";
import { isAlive, ownIdentity, type ProcessIdentity } from "#base/process-identity.ts";
import type { HeldLock, LockAttempt, LockRecord, ProcessLock } from "#base/process-lock.ts";
import { failureOf } from "./failures.ts";
import { type Connection, openConnection } from "./sqlite.ts";

/** A probe of another process holds the file for a moment: not yet a holder. At most 50 ms in all. */
const ATTEMPTS = 5;
const PAUSE_MS = 10;

export interface ProcessLockOptions {
  readonly log?: Log;
  readonly identity?: () => ProcessIdentity;
}

/** Every held lock of this process by path. It also keeps the connections from being collected, which would free them. */
const held = new Map<string, { readonly connection: Connection | null }>();

type Grip =
  | { readonly kind: "locked"; readonly connection: Connection }
  | { readonly kind: "busy" }
  /** The file system cannot lock, or cannot be used: the record alone decides. */
  | { readonly kind: "broken"; readonly reason: string };

export function createProcessLock(options: ProcessLockOptions = {}): ProcessLock {
  const { log = silentLog, identity = ownIdentity } = options;
  let warned = false;
  const warn = (path: string, reason: string): void => {
    if (warned) return;
    warned = true;
    log.warn("locking does not work here; the record of the holder is used instead", {
      path,
      reason,
    });
  };

  const take = (path: string, label: string): LockAttempt => {
    const own = identity();
    if (held.has(path)) return { held: false, holder: readRecord(path) };
    const grip = seize(path, own);
    if (grip.kind === "busy") return { held: false, holder: readRecord(path) };
    if (grip.kind === "broken") warn(path, grip.reason);
    const connection = grip.kind === "locked" ? grip.connection : null;
    // A lock gained while the record proves a live holder: this file system only pretends to lock.
    const holder = liveHolder(path, own);
    if (holder) {
      connection?.close();
      return { held: false, holder };
    }
    writeRecord(path, { ...own, label });
    held.set(path, { connection });
    return { held: true, lock: makeHeld(path) };
  };

  return {
    take: (path, label) => take(resolve(path), label),
    isHeld: (path) => isHeld(resolve(path), identity()),
  };
}

function makeHeld(path: string): HeldLock {
  return {
    release() {
      const entry = held.get(path);
      if (!entry) return;
      held.delete(path);
      // The record first: after the lock is free it may already be the next holder's.
      rmSync(recordPath(path), { force: true });
      entry.connection?.close();
    },
  };
}

function seize(path: string, own: ProcessIdentity): Grip {
  let grip = trySeize(path);
  for (let attempt = 1; attempt < ATTEMPTS && grip.kind === "busy"; attempt++) {
    if (liveHolder(path, own)) return grip;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    grip = trySeize(path);
  }
  return grip;
}

function trySeize(path: string): Grip {
  let connection: Connection | null = null;
  try {
    createFile(path);
    connection = openConnection(path, { timeout: 0 });
    beginExclusive(connection, path);
    return { kind: "locked", connection };
  } catch (error) {
    connection?.close();
    if (failureOf(error) === "busy") return { kind: "busy" };
    return { kind: "broken", reason: error instanceof Error ? error.message : String(error) };
  }
}

function beginExclusive(connection: Connection, path: string): void {
  try {
    connection.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    if (failureOf(error) !== "corrupt") throw error;
    // Not a lock file. Emptied in place: a new file in its stead could be locked by two at once.
    truncateSync(path, 0);
    connection.exec("BEGIN EXCLUSIVE");
  }
}

function createFile(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}

/** Asks without taking: a read that is answered BUSY means held. */
function isHeld(path: string, own: ProcessIdentity): boolean {
  if (held.has(path)) return true;
  return isLocked(path) || liveHolder(path, own) !== null;
}

function isLocked(path: string): boolean {
  let connection: Connection | null = null;
  try {
    connection = openConnection(path, { readOnly: true, timeout: 0 });
    connection.exec("SELECT count(*) FROM sqlite_schema");
    return false;
  } catch (error) {
    return failureOf(error) === "busy";
  } finally {
    connection?.close();
  }
}

/** The holder that the record proves to live on this host; what it says of another host proves nothing. */
function liveHolder(path: string, own: ProcessIdentity): LockRecord | null {
  const record = readRecord(path);
  if (record === null || record.host !== own.host) return null;
  // Our own record without a lock of ours is a leftover: `held` was asked before.
  if (record.pid === own.pid && record.startTime === own.startTime) return null;
  return isAlive(record) ? record : null;
}

function recordPath(path: string): string {
  return `${path}.holder`;
}

function writeRecord(path: string, record: LockRecord): void {
  try {
    writeFileAtomic(recordPath(path), `${JSON.stringify(record)}\n`, {
      mode: 0o600,
      volatile: true,
    });
  } catch {
    // The lock holds without it; only the waiting process learns less.
  }
}

function readRecord(path: string): LockRecord | null {
  try {
    const value: unknown = JSON.parse(readFileSync(recordPath(path), "utf8"));
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is LockRecord {
  if (typeof value !== "object" || value === null) return false;
  const { pid, startTime, host, label } = value as Record<keyof LockRecord, unknown>;
  return (
    typeof pid === "number" &&
    typeof startTime === "string" &&
    typeof host === "string" &&
    typeof label === "string"
  );
}
