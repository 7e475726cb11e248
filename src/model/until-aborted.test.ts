import assert from "node:assert/strict";
import { test } from "node:test";
import { untilAborted } from "./until-aborted.ts";

/** Gives one item, then nothing for ever; remembers that it was told to end. */
function hanging(): {
  readonly stream: AsyncIterable<number>;
  readonly wasReturned: () => boolean;
} {
  let given = false;
  let returned = false;
  const iterator: AsyncIterator<number> = {
    next: () => {
      if (given) return new Promise(() => undefined);
      given = true;
      return Promise.resolve({ done: false, value: 1 });
    },
    return: () => {
      returned = true;
      return new Promise(() => undefined);
    },
  };
  return { stream: { [Symbol.asyncIterator]: () => iterator }, wasReturned: () => returned };
}

test("an abort ends a stream that hangs, and hangs in its return too", async () => {
  const abort = new AbortController();
  const { stream, wasReturned } = hanging();
  const seen: number[] = [];
  for await (const item of untilAborted(stream, abort.signal)) {
    seen.push(item);
    setImmediate(() => abort.abort());
  }
  assert.deepEqual([seen, wasReturned()], [[1], true]);
});

test("leaving early ends the source; an abort from before gives nothing", async () => {
  const left = hanging();
  for await (const item of untilAborted(left.stream, new AbortController().signal)) {
    assert.equal(item, 1);
    break;
  }
  assert.equal(left.wasReturned(), true);
  const never = hanging();
  for await (const item of untilAborted(never.stream, AbortSignal.abort()))
    assert.fail(String(item));
  assert.equal(never.wasReturned(), true);
});
