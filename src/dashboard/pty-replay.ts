// The last output of a terminal, for a viewer that comes later (dashboard.md §9.4).

const MOST_BYTES = 256 * 1024;
/** Where output was cut off, the first line may lack its beginning: half a colour, half a letter. */
const LONGEST_LINE = 4096;
const NEWLINE = 10;

export interface Replay {
  push(bytes: Buffer): void;
  /** At most 256 KiB; where it was cut, it begins with a whole line. */
  bytes(): Buffer;
}

export function createReplay(mostBytes = MOST_BYTES): Replay {
  let chunks: Buffer[] = [];
  let size = 0;
  let isCut = false;
  const shorten = (): void => {
    const all = Buffer.concat(chunks);
    isCut ||= all.length > mostBytes;
    chunks = [all.subarray(Math.max(0, all.length - mostBytes))];
    size = Math.min(all.length, mostBytes);
  };
  return {
    push(bytes) {
      chunks.push(bytes);
      size += bytes.length;
      // Not at each chunk: joining costs as much as all of it.
      if (size > 2 * mostBytes) shorten();
    },
    bytes() {
      shorten();
      const [kept = Buffer.alloc(0)] = chunks;
      const line = isCut ? kept.subarray(0, LONGEST_LINE).indexOf(NEWLINE) : -1;
      return kept.subarray(line + 1);
    },
  };
}
