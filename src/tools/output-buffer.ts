// Output of a command, bounded: the beginning and the end are kept, the middle is left out (10 MB in all).
import { StringDecoder } from "node:string_decoder";
import { SPILL_LIMIT_BYTES } from "./spill.ts";

const HEAD_BYTES = Math.floor(SPILL_LIMIT_BYTES * 0.4);

export class OutputBuffer {
  readonly #head: Buffer[] = [];
  readonly #tail: Buffer[] = [];
  #headBytes = 0;
  #tailBytes = 0;
  #dropped = 0;

  push(chunk: Buffer): void {
    const room = HEAD_BYTES - this.#headBytes;
    const first = chunk.subarray(0, Math.max(0, room));
    if (first.length > 0) this.#head.push(first);
    this.#headBytes += first.length;
    this.#pushTail(chunk.subarray(first.length));
  }

  #pushTail(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    const limit = SPILL_LIMIT_BYTES - HEAD_BYTES;
    while (this.#tailBytes > limit) {
      const oldest = this.#tail[0];
      if (!oldest) return;
      const over = Math.min(oldest.length, this.#tailBytes - limit);
      if (over === oldest.length) this.#tail.shift();
      else this.#tail[0] = oldest.subarray(over);
      this.#tailBytes -= over;
      this.#dropped += over;
    }
  }

  /** Bytes that did not fit. */
  get droppedBytes(): number {
    return this.#dropped;
  }

  /** As UTF-8; what is none is replaced. */
  text(): string {
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    if (this.#dropped === 0) return Buffer.concat([head, tail]).toString("utf8");
    return `${wholeEnd(head)}\n[… ${this.#dropped} bytes left out …]\n${wholeStart(tail)}`;
  }
}

/** Characters that are not whole at the cut are left out. */
function wholeEnd(bytes: Buffer): string {
  return new StringDecoder("utf8").write(bytes);
}

function wholeStart(bytes: Buffer): string {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.toString("utf8", start);
}
