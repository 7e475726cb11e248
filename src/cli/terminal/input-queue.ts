// Input on its way to a terminal. The package's own write waits for a program that does not read, and the whole process with
// it: libuv writes to the master side of a terminal in blocking mode. The descriptor itself does not block.
import { writeSync } from "node:fs";
import { errnoOf } from "#base/errors.ts";

const AGAIN_MS = 20;

export interface InputQueue {
  write(bytes: Uint8Array): void;
  /** Nothing is written any more: the descriptor may name something else soon. */
  close(): void;
}

/** `onTaken` hears how many bytes went on, also those that nobody will read. */
export function createInputQueue(fd: number, onTaken: (bytes: number) => void): InputQueue {
  let waiting: Uint8Array[] = [];
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  function flush(): void {
    timer = null;
    while (waiting.length > 0) {
      const [first = new Uint8Array()] = waiting;
      const count = writeSome(fd, first);
      if (count === null) {
        timer = setTimeout(flush, AGAIN_MS);
        return;
      }
      onTaken(count);
      if (count < first.length) waiting[0] = first.subarray(count);
      else waiting.shift();
    }
  }
  return {
    write(bytes) {
      if (isClosed || bytes.length === 0) return;
      waiting.push(bytes);
      if (timer === null) flush();
    },
    close() {
      isClosed = true;
      waiting = [];
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** null: the program has to read first. A terminal that hung up takes everything. */
function writeSome(fd: number, bytes: Uint8Array): number | null {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    return errnoOf(error) === "EAGAIN" ? null : bytes.length;
  }
}
