// How a file of the home is changed: under the lock, from what is there now, whole or not at all (agent.md §2.4).
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeFileAtomic } from "#base/atomic-file.ts";
import { waitFor, type Clock } from "#base/clock.ts";
import { HermesError } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";
import type { HeldLock, LockRecord, ProcessLock } from "#base/process-lock.ts";
import { readText } from "./files.ts";
import { refusal } from "./problems.ts";

export interface WriteTarget {
  readonly home: string;
  readonly lock: ProcessLock;
  readonly clock: Clock;
}

const LOCK_WAIT_MS = 5000;
const LOCK_STEP_MS = 25;
const TRIES = 3;

/** Runs `work` while no other process of ours changes files of this home; waits at most 5 s for it. */
export async function underConfigLock<T>(target: WriteTarget, work: () => T): Promise<T> {
  const path = join(target.home, "cache", "config.lock");
  mkdirSync(target.home, { recursive: true, mode: 0o750 });
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const held = await waitForLock(target, path);
  try {
    return work();
  } finally {
    held.release();
  }
}

async function waitForLock({ lock, clock }: WriteTarget, path: string): Promise<HeldLock> {
  const end = clock.monotonicMs() + LOCK_WAIT_MS;
  // The clock's timers do not keep the process alive; a command must not end while it waits.
  const keepAlive = setInterval(() => undefined, LOCK_WAIT_MS);
  try {
    for (;;) {
      const attempt = lock.take(path, "config write");
      if (attempt.held) return attempt.lock;
      if (clock.monotonicMs() >= end) throw locked(path, attempt.holder);
      await waitFor(clock, LOCK_STEP_MS);
    }
  } finally {
    clearInterval(keepAlive);
  }
}

function locked(path: string, holder: LockRecord | null): HermesError {
  const who =
    holder === null ? "another process" : `${holder.label}, pid ${holder.pid} on ${holder.host}`;
  return new HermesError("CONFIG_LOCKED", `The settings are being changed by ${who}`, {
    setting: path,
    fix: "Try again when it is done.",
  });
}

export interface TextChange {
  readonly path: string;
  /** Of a file that does not exist yet. */
  readonly mode: number;
  readonly backupDir: string;
  /** Gets null for a missing file; returns the new text, or null to leave the file alone. May throw. */
  change(before: string | null): string | null;
}

/**
 * Reads, changes, compares with the disk again and writes; an editor that saved in between makes it start over, three
 * times. Returns whether the file was written. Unreadable is an error, never "missing".
 */
export function changeText(change: TextChange): boolean {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const before = currentText(change.path);
    const after = change.change(before);
    if (after === null || after === before) return false;
    if (currentText(change.path) !== before) continue;
    writeFileAtomic(change.path, after, { mode: change.mode, backupDir: change.backupDir });
    return true;
  }
  throw new HermesError("CONFIG_CHANGED", `${change.path} keeps changing while it is written`, {
    setting: change.path,
    fix: "Close the program that writes it and try again.",
  });
}

function currentText(path: string): string | null {
  const file = readText(path);
  switch (file.state) {
    case "text":
      return file.text;
    case "missing":
      return null;
    case "unreadable":
      throw refusal([file.problem]);
    case "binary":
      throw new HermesError("CONFIG_BROKEN", `${path} is not UTF-8 text`, {
        exit: EXIT.refused,
        setting: path,
        fix: "Correct the file; it is not changed until then.",
        data: { line: null, column: null },
      });
  }
}
