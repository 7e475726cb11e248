import assert from "node:assert/strict";
import { test } from "node:test";
import { hideSecrets } from "./hide-secrets.ts";

const ENV = { OPENROUTER_API_KEY: "sk-or-1234", X_TOKEN: "abc", HOME: "/opt/data", EMPTY_KEY: "" };

const ROWS: readonly (readonly [given: readonly string[], shown: readonly string[]])[] = [
  [
    ["sh", "-c", "curl -H sk-or-1234 x"],
    ["sh", "-c", "curl -H *** x"],
  ],
  [
    ["config", "set", "TELEGRAM_BOT_TOKEN", "123:ABC"],
    ["config", "set", "TELEGRAM_BOT_TOKEN", "***"],
  ],
  [
    ["x", "--api-key", "v", "--json"],
    ["x", "--api-key", "***", "--json"],
  ],
  [
    ["x", "--token", "--json"],
    ["x", "--token", "--json"],
  ],
  [
    ["x", "--password=a=b\nc"],
    ["x", "--password=***"],
  ],
  [
    ["env", "API_KEY=v", "sleep", "1"],
    ["env", "API_KEY=***", "sleep", "1"],
  ],
  [
    ["curl", "-H", "Authorization: Bearer x"],
    ["curl", "-H", "Authorization:***"],
  ],
  [
    ["chat", "-q", "what is a monkey"],
    ["chat", "-q", "what is a monkey"],
  ],
  [
    ["ls", "/opt/data", "abc"],
    ["ls", "/opt/data", "abc"],
  ],
];

for (const [given, shown] of ROWS) {
  test(`${JSON.stringify(given)} is recorded without secrets`, () => {
    assert.deepEqual(hideSecrets(given, ENV), shown);
  });
}
