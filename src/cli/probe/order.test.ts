import assert from "node:assert/strict";
import { test } from "node:test";
import { isHermesError } from "#base/errors.ts";
import { parseCommandLine } from "../command-line.ts";
import { parseOrder, type ProbeOrder } from "./order.ts";

async function orderOf(words: readonly string[]): Promise<ProbeOrder> {
  return parseOrder(await parseCommandLine(["probe", ...words]));
}

const ADDRESSES: readonly (readonly [given: string, asked: string])[] = [
  ["http://127.0.0.1:9119", "http://127.0.0.1:9119/api/status"],
  ["http://127.0.0.1:9119/", "http://127.0.0.1:9119/api/status"],
  ["https://h.example/hermes//", "https://h.example/hermes/api/status"],
  ["http://[::1]:1/a", "http://[::1]:1/a/api/status"],
];

for (const [given, asked] of ADDRESSES) {
  test(`${given} asks ${asked}`, async () => {
    const order = await orderOf([given]);
    assert.ok(order.kind === "agents");
    assert.deepEqual(
      order.targets.map((target) => [target.given, target.url.href]),
      [[given, asked]],
    );
  });
}

test("defaults; every option", async () => {
  const bare = await orderOf(["http://h"]);
  assert.ok(bare.kind === "agents");
  const { concurrency, timeoutMs, expect, headers } = bare;
  assert.deepEqual(
    { concurrency, timeoutMs, expect, headers },
    { concurrency: 32, timeoutMs: 5000, expect: null, headers: { "user-agent": "hermes-probe" } },
  );
  const words = "http://a --concurrency 4 --timeout 2 --expect 401 --header X-A:1 http://b";
  const full = await orderOf([...words.split(" "), "--header", "Host: h.example:8080"]);
  assert.ok(full.kind === "agents");
  assert.deepEqual([full.concurrency, full.timeoutMs, full.expect], [4, 2000, 401]);
  assert.deepEqual(full.headers, {
    "user-agent": "hermes-probe",
    "x-a": "1",
    host: "h.example:8080",
  });
  assert.deepEqual(
    full.targets.map(({ given }) => given),
    ["http://a", "http://b"],
  );
});

test("--raw asks exactly that address", async () => {
  const order = await orderOf(["--raw", "http://h/x?token=1", "--header", "User-Agent: me"]);
  assert.ok(order.kind === "raw");
  assert.equal(order.url.href, "http://h/x?token=1");
  assert.deepEqual(order.headers, { "user-agent": "me" });
});

const BAD: readonly (readonly [words: readonly string[], sentence: RegExp])[] = [
  [[], /needs URL/],
  [["127.0.0.1:9119"], /127\.0\.0\.1:9119 is not an http:\/\/ or https:\/\/ address/],
  [["localhost:9119"], /localhost:9119 is not/],
  [["http://h", "ftp://u:secret@h/x?secret"], /ftp:\/\/…@h\/x is not/],
  [["http://u:secret@h"], /http:\/\/…@h: user name and password/],
  [["http://h/?a=secret"], /http:\/\/h\/: the address of an agent has no query/],
  [["--raw", "nonsense"], /nonsense is not/],
  [["--raw", "http://a", "http://b"], /--raw asks one address/],
  [["--raw", "http://a", "--expect", "200"], /--expect has no meaning with --raw/],
  [["--raw", "http://a", "--concurrency", "2"], /--concurrency has no meaning/],
  [["http://h", "--timeout", "0"], /--timeout S: "0"/],
  [["http://h", "--timeout", "1.5"], /"1.5" is not a whole number/],
  [
    ["http://h", "--timeout", "999999999"],
    /--timeout: 999999999 is not a whole number from 1 to 3600/,
  ],
  [["http://h", "--concurrency", "0"], /--concurrency N/],
  [["http://h", "--concurrency", "1001"], /from 1 to 1000/],
  [["http://h", "--expect", "99"], /--expect CODE/],
  [["http://h", "--expect", "600"], /from 100 to 599/],
  [["http://h", "--header", "secret"], /--header: wants NAME:VALUE/],
  [["http://h", "--header", ":secret"], /wants NAME:VALUE/],
  [["http://h", "--header", "a b:secret"], /wants NAME:VALUE/],
  [["http://h", "--header", "a:secret\r\nb:1"], /wants NAME:VALUE/],
  [["http://h", "--header", "a:secret", "--header", "A:2"], /a is given twice/],
  [["http://h", "--header", "Content-Length:5"], /content-length cannot be set/],
];

for (const [words, sentence] of BAD) {
  test(`64: ${JSON.stringify(words)}`, async () => {
    await assert.rejects(orderOf(words), (error) => {
      assert.ok(isHermesError(error, "USAGE"));
      assert.equal(error.exit, 64);
      assert.match(error.message, sentence);
      assert.doesNotMatch(`${error.message}${error.fix}`, /secret/);
      return true;
    });
  });
}
