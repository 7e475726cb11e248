// The one table of process exit codes. Source: sysexits.h numbers as product.md D5 and agent.md §1.4 use them.

/**
 * Exit codes of every Hermes process. A service's `finish` script treats 64 and 78 as permanent (stay down),
 * 75 as "restart me"; everything else that is not 0 counts as a crash.
 */
export const EXIT = {
  /** Done; also after EPIPE on stdout. */
  ok: 0,
  /** The operation failed: model error, not found, session busy, store busy. */
  failed: 1,
  /** The main change is made, a step after it failed. */
  partial: 3,
  /** Unknown command, flag or value; input needed but no terminal. */
  usage: 64,
  /** No such profile or slot. */
  notFound: 66,
  /** No supervisor or no answer. */
  unavailable: 69,
  /** Restart me (a process in its slot); not ready yet. */
  restart: 75,
  /** Not permitted. */
  notPermitted: 77,
  /** Configuration refused: it will not run until somebody changes the configuration. */
  refused: 78,
  /** The wall clock of the run ended the turn. */
  budget: 124,
  /** SIGINT, after the turn was saved as interrupted. */
  interrupted: 130,
  /** SIGTERM, after the turn was saved as interrupted. */
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
