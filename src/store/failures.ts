// SQLite's result codes (sqlite.org/rescode.html) as the store's few errors, each with its way out.
import { errnoOf, HermesError, messageOf } from "#base/errors.ts";
import { EXIT } from "#base/exit-codes.ts";

const PRIMARY = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  constraint: 19,
  notDatabase: 26,
} as const;

/** Extended I/O errors of a place that takes no more changes: write, fsync, truncate, delete, and growing the -shm file. */
const IO_FULL: ReadonlySet<number> = new Set([778, 1034, 1546, 2570, 4874]);

export type Failure =
  | "busy"
  | "full"
  | "read-only"
  | "corrupt"
  | "cannot-open"
  | "constraint"
  | "io"
  | "other";

/** What a thrown value means; `other` is not SQLite's or not expected. */
export function failureOf(error: unknown): Failure {
  const code = resultCode(error);
  if (code === null) return "other";
  switch (code & 0xff) {
    case PRIMARY.busy:
    case PRIMARY.locked:
      return "busy";
    case PRIMARY.full:
      return "full";
    case PRIMARY.readOnly:
      return "read-only";
    case PRIMARY.cannotOpen:
      return "cannot-open";
    case PRIMARY.constraint:
      return "constraint";
    case PRIMARY.corrupt:
    case PRIMARY.notDatabase:
      return "corrupt";
    case PRIMARY.io:
      return IO_FULL.has(code) ? "full" : "io";
    default:
      return "other";
  }
}

function resultCode(error: unknown): number | null {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return null;
  const { errcode } = error;
  return typeof errcode === "number" ? errcode : null;
}

/** The error that leaves the store for a failure at run time (agent.md §6.1, §6.3). */
export function storeError(error: unknown, path: string, waitedMs: number): unknown {
  const failure = failureOf(error);
  switch (failure) {
    case "busy":
      return busyError(path, waitedMs, error);
    case "full":
    case "read-only":
    case "cannot-open":
      return new HermesError(
        "STORE_FULL",
        `${path} cannot be written: the disk is full or read-only`,
        {
          fix: "Free some space or make the home writable, then send the message again.",
          cause: error,
        },
      );
    case "corrupt":
      return corruptError(path, error);
    case "io":
      return new HermesError(
        "STORE_IO",
        `${path}: the disk answered an error (${messageOf(error)})`,
        {
          fix: "Look at the disk and the kernel's log, then run hermes sessions check.",
          cause: error,
        },
      );
    case "constraint":
    case "other":
      return errnoOf(error) === "ERR_OUT_OF_RANGE" ? rangeError(path, error) : error;
    default:
      return failure satisfies never;
  }
}

export function busyError(path: string, waitedMs: number, cause: unknown): HermesError {
  const seconds = Math.round(waitedMs / 1000);
  return new HermesError("STORE_BUSY", `${path} is held by another process; waited ${seconds} s`, {
    fix: "Try again; hermes status shows which processes use this home.",
    cause,
  });
}

export function corruptError(path: string, cause: unknown): HermesError {
  return new HermesError("STORE_CORRUPT", `${path} is damaged (${messageOf(cause)})`, {
    fix:
      "Stop Hermes, keep a copy of the file, then put a sound one in its place: the newest of backups/, " +
      `or what \`sqlite3 ${path} .recover | sqlite3 recovered.db\` saves.`,
    cause,
  });
}

/** At open: nothing can be stored in this home at all. */
export function readOnlyError(path: string, cause: unknown): HermesError {
  return new HermesError("STORE_READONLY", `${path} cannot be opened for writing`, {
    fix: "Give the user that runs Hermes write access to the home (HERMES_HOME) and to state.db in it.",
    cause,
  });
}

function rangeError(path: string, cause: unknown): HermesError {
  return new HermesError("STORE_NUMBER", `${path} holds an integer beyond 2^53, which is refused`, {
    fix: "Run hermes sessions check.",
    cause,
  });
}

/** The home's database cannot be used by this program as it is: exit 78, nothing written. */
export function refusedError(
  code: "STORE_NEWER" | "STORE_FOREIGN",
  message: string,
  fix: string,
  cause?: unknown,
): HermesError {
  return new HermesError(code, message, { exit: EXIT.refused, fix, cause });
}
