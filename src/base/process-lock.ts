// Port of the lock that a process holds for its life. Implemented in `store` (the only room with node:sqlite).

export interface LockRecord {
  readonly pid: number;
  /** Field 22 of /proc/<pid>/stat in clock ticks (elsewhere: `ps -o lstart=`); tells a recycled pid apart. */
  readonly startTime: string;
  readonly host: string;
  /** What the holder is, for the message of whoever has to wait: `dashboard`, `gateway`, `config write`. */
  readonly label: string;
}

export interface HeldLock {
  /** Frees the lock. Safe to call twice. The kernel frees it too when the process dies, however it dies. */
  release(): void;
}

export type LockAttempt =
  | { readonly held: true; readonly lock: HeldLock }
  | { readonly held: false; readonly holder: LockRecord | null };

/**
 * `take` never waits: it answers at once whether this process now holds `path`. The file is made when missing; a file
 * that is no lock file is replaced. `isHeld` asks without taking.
 */
export interface ProcessLock {
  take(path: string, label: string): LockAttempt;
  isHeld(path: string): boolean;
}
