import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { ModelErrorKind } from "#protocol/model-errors.ts";
import { contextHit } from "./context-text.ts";
import { networkCodeOf } from "./error-facts.ts";
import { ownError, retryAfter, toModelError, type ErrorSubject } from "./errors.ts";

const NOW = Date.UTC(2026, 0, 15, 12, 0, 0);

const SUBJECT: ErrorSubject = {
  provider: "openai",
  label: "OpenAI",
  host: "api.openai.com",
  model: "gpt-5.5-mini",
  keyName: "OPENAI_API_KEY",
  knownModels: ["gpt-5.5", "gpt-5.4-mini", "o3"],
  redact: (text) => text.replaceAll("hidden", "[REDACTED]"),
  nowMs: () => NOW,
};

function http(statusCode: number, error: object, message = "Bad"): object {
  return Object.assign(new Error(message), { statusCode, responseBody: JSON.stringify({ error }) });
}

describe("kinds", () => {
  const cases: readonly (readonly [string, unknown, ModelErrorKind])[] = [
    ["quota by code with 429", http(429, { code: "insufficient_quota", message: "x" }), "billing"],
    [
      "credit by words with 400",
      http(400, { message: "Your credit balance is too low to use the API." }),
      "billing",
    ],
    [
      "a model that is not valid",
      http(400, { message: "foo/bar is not a valid model ID" }),
      "model-missing",
    ],
    [
      "a model that has to be pulled",
      http(404, { message: 'model "x" not found, try pulling it first' }),
      "model-missing",
    ],
    ["context by code", http(400, { code: "context_length_exceeded", message: "x" }), "context"],
    ["context by size", http(413, { message: "Prompt is too long" }), "context"],
    ["413 about something else", http(413, { message: "Request body too large" }), "bad-request"],
    [
      "context words in a 500 are the server's",
      http(500, { message: "prompt is too long" }),
      "server",
    ],
    [
      "overloaded in another status",
      http(500, { type: "overloaded_error", message: "x" }),
      "overloaded",
    ],
    ["a router's code in mid-stream", { code: 502, message: "Upstream failed" }, "server"],
    ["a router's 429 in mid-stream", { code: 429, message: "slow down" }, "rate-limit"],
    ["rate limit by type", { type: "rate_limit_error", message: "x" }, "rate-limit"],
    ["server by type", { type: "server_error", message: "x" }, "server"],
    [
      "DNS",
      new TypeError("fetch failed", {
        cause: Object.assign(new Error("x"), { code: "ENOTFOUND" }),
      }),
      "network",
    ],
    ["an error without anything", { message: "boo" }, "garbled"],
    ["a fault of ours", new TypeError("x is not a function"), "bad-request"],
    ["a string", "boo", "garbled"],
    ["nothing", undefined, "garbled"],
  ];
  for (const [name, error, kind] of cases) {
    test(name, () => assert.equal(toModelError(error, SUBJECT).kind, kind));
  }
});

describe("sentences", () => {
  const cases: readonly (readonly [string, unknown, RegExp, Partial<ErrorSubject>?])[] = [
    [
      "key",
      http(401, { message: "no" }),
      /^Key OPENAI_API_KEY was rejected by api\.openai\.com.*hermes config set OPENAI_API_KEY/,
    ],
    ["not allowed", http(403, { message: "no" }), /not allowed/],
    [
      "no key",
      http(401, { message: "no" }),
      /none was sent.*providers\.openai\.key_env/,
      { keyName: null },
    ],
    [
      "near ids",
      http(404, { code: "model_not_found", message: "no" }),
      /gpt-5\.5-mini is unknown to OpenAI: did you mean gpt-5\.4-mini/,
    ],
    [
      "no near id",
      http(404, { message: "The model is gone" }),
      /hermes model list --provider openai/,
      { knownModels: [] },
    ],
    ["a wrong path", http(404, {}, "Not Found"), /no such path.*end in \/v1/],
    [
      "redacted before the cut",
      http(400, { message: `${"x".repeat(296)}hidden` }),
      /^OpenAI refused the request \(400\): x{296}\[RED$/,
    ],
    [
      "network",
      Object.assign(new Error("x"), { code: "CERT_HAS_EXPIRED" }),
      /^Cannot reach api\.openai\.com: CERT_HAS_EXPIRED\.$/,
    ],
    [
      "ours",
      new TypeError("x is no function"),
      /^The request to OpenAI could not be made: x is no/,
    ],
  ];
  for (const [name, error, pattern, changes] of cases) {
    test(name, () =>
      assert.match(toModelError(error, { ...SUBJECT, ...changes }).message, pattern),
    );
  }

  test("the log detail is redacted and bounded", () => {
    const detail =
      toModelError(http(400, { message: `hidden ${"y".repeat(9000)}` }), SUBJECT).logDetail ?? "";
    assert.ok(detail.includes("[REDACTED]") && !detail.includes("hidden") && detail.length <= 4100);
  });

  test("our own kinds", () => {
    assert.equal(ownError("filtered", SUBJECT).message, "The answer was blocked by OpenAI.");
    assert.equal(ownError("aborted", SUBJECT).kind, "aborted");
  });
});

describe("Retry-After", () => {
  const cases = [
    ["2", 2000],
    ["0.5", 500],
    ["300", 300_000],
    ["Thu, 15 Jan 2026 12:00:30 GMT", 30_000],
    ["Thu, 15 Jan 2026 11:00:00 GMT", 0],
    ["-1", null],
    ["soon", null],
    ["", null],
    [undefined, null],
  ] as const;
  for (const [value, expected] of cases) {
    test(String(value), () => assert.equal(retryAfter(value, NOW), expected));
  }
});

describe("network codes", () => {
  const coded = (code: string): Error => Object.assign(new Error("x"), { code });
  const cases: readonly (readonly [string, unknown, string | null])[] = [
    [
      "undici's socket",
      new TypeError("terminated", { cause: coded("UND_ERR_SOCKET") }),
      "ECONNRESET",
    ],
    ["undici's connect limit", coded("UND_ERR_CONNECT_TIMEOUT"), "ETIMEDOUT"],
    [
      "both addresses refused",
      new AggregateError([coded("ECONNREFUSED"), coded("ECONNREFUSED")], "x"),
      "ECONNREFUSED",
    ],
    ["terminated without a cause", new TypeError("terminated"), "ECONNRESET"],
    ["a provider's word", { code: "ERROR" }, null],
    ["a provider's code", { code: "model_not_found" }, null],
    ["a loop of causes", loop(), null],
  ];
  for (const [name, error, expected] of cases) {
    test(name, () => assert.equal(networkCodeOf(error), expected));
  }

  function loop(): Error {
    const error = new Error("x");
    error.cause = error;
    return error;
  }
});

describe("context texts", () => {
  const cases: readonly (readonly [string, number | null])[] = [
    [
      "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens",
      8192,
    ],
    ["prompt is too long: 210,000 tokens > 200,000 maximum", 200_000],
    ["the request exceeds the available context size (4096 tokens), try increasing it", 4096],
    ["request (9001 tokens) exceeds the available context size", null],
    ["input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", 200_000],
    [
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
      1_048_576,
    ],
    ['{"error":{"n_ctx":2048}}', 2048],
    ["Please reduce the length of the messages.", null],
  ];
  for (const [words, limit] of cases) {
    test(words, () => assert.deepEqual(contextHit(words), { limit }));
  }
  for (const words of [
    "Invalid value for temperature",
    "file too long",
    "max_tokens is too large",
    "",
  ]) {
    test(`about something else: ${words}`, () => assert.equal(contextHit(words), null));
  }
});
