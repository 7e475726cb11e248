// A ProcessLock in memory: one holder per path, as in one process; `hold` plays somebody else.
import type { HeldLock, LockRecord, ProcessLock } from "#base/process-lock.ts";

export class FakeLock implements ProcessLock {
  readonly #held = new Map<string, LockRecord>();
  /** Paths that were taken, in order. */
  readonly taken: string[] = [];

  take(path: string, label: string): ReturnType<ProcessLock["take"]> {
    const holder = this.#held.get(path);
    if (holder !== undefined) return { held: false, holder };
    this.taken.push(path);
    return { held: true, lock: this.hold(path, label) };
  }

  isHeld(path: string): boolean {
    return this.#held.has(path);
  }

  hold(path: string, label: string): HeldLock {
    this.#held.set(path, { pid: 4242, startTime: "1", host: "elsewhere", label });
    return { release: () => void this.#held.delete(path) };
  }
}
