import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import { mediaType, readBody } from "./body.ts";
import { HttpFailure } from "./errors.ts";

const RULE = { maxBytes: 2048, deadlineMs: 60_000 };

function incoming(headers: Readonly<Record<string, string>> = {}): PassThrough & IncomingMessage {
  return Object.assign(new PassThrough(), { headers }) as unknown as PassThrough & IncomingMessage;
}

const status = async (body: Promise<Buffer>): Promise<[number, string | undefined]> => {
  const error = await body.then(
    () => assert.fail("it was read"),
    (cause: unknown) => cause,
  );
  assert.ok(error instanceof HttpFailure);
  return [error.status, error.headers["Connection"]];
};

test("a body is read whole", async () => {
  const stream = incoming();
  const body = readBody(stream, RULE, new FakeClock());
  stream.write("one ");
  stream.end("two");
  assert.equal((await body).toString(), "one two");
});

test("too large: at once by its length, else as soon as the limit is passed", async () => {
  const clock = new FakeClock();
  const announced = readBody(incoming({ "content-length": "2049" }), RULE, clock);
  assert.deepEqual(await status(announced), [413, undefined]);
  const stream = incoming();
  const body = readBody(stream, RULE, clock);
  stream.write(Buffer.alloc(2049));
  assert.deepEqual(await status(body), [413, undefined]);
});

test("too slow: 408 at the deadline; cut off: 400", async () => {
  const clock = new FakeClock();
  const slow = readBody(incoming(), RULE, clock);
  const answer = status(slow);
  await clock.advance(60_000);
  assert.deepEqual(await answer, [408, "close"]);
  const stream = incoming();
  const body = status(readBody(stream, RULE, clock));
  stream.write("half");
  stream.destroy();
  assert.deepEqual(await body, [400, undefined]);
  assert.equal(clock.pending, 0);
});

test("media types are compared without parameters and case", () => {
  const cases = {
    "Application/JSON; charset=utf-8": "application/json",
    "": "",
    " text/plain ": "text/plain",
  };
  for (const [given, expected] of Object.entries(cases)) assert.equal(mediaType(given), expected);
});
