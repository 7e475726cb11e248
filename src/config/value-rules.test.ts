import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isBasePath,
  isHost,
  isHostName,
  isOrigin,
  isPublicUrl,
  isTimeZone,
  isTrustedProxy,
} from "./value-rules.ts";

interface Rule {
  readonly accepts: (text: string) => boolean;
  readonly good: readonly string[];
  readonly bad: readonly string[];
}

/** Rules of dashboard.md §1.1, §2.3, §2.4. */
const RULES: Readonly<Record<string, Rule>> = {
  public_url: {
    accepts: isPublicUrl,
    good: ["https://a.test", "http://a.test:8080/hermes", "https://a.test/", "https://[::1]/x"],
    bad: [
      "ftp://a.test",
      "https://",
      "https:///a",
      "a.test",
      "https://u@a.test",
      "https://u:p@a.test",
      "https://a.test/?x=1",
      "https://a.test/#x",
      'https://a.test/"x',
      "https://a.test/\u0007",
      "https://a.test/ x",
      "https://a.test\\x",
      "javascript:alert(1)",
      "https://a.test/%2e%2e",
    ],
  },
  base_path: {
    accepts: isBasePath,
    good: ["/hermes", "/a/b", "/a/b/", "hermes", "/a.b_c~d-e", "/"],
    bad: ["//x", "/a//b", "/../x", "/a/./b", "/a b", "/a?b", "/%41", `/${"x".repeat(256)}`],
  },
  allowed_hosts: {
    accepts: isHostName,
    good: ["a.test", "A.TEST", "localhost", "10.0.0.1", "::1", "a.test."],
    bad: ["*", "*.a.test", "a.test:80", "https://a.test", "a/b", "a b", "", "a..b", "-a.test"],
  },
  host: {
    accepts: isHost,
    good: ["127.0.0.1", "0.0.0.0", "::", "[::1]", "localhost", "agent.example.org"],
    bad: ["tcp://10.0.0.1:80", "[localhost]", "a b", "1.2.3.4:80", "", "/x"],
  },
  trusted_proxies: {
    accepts: isTrustedProxy,
    good: ["10.0.0.1", "10.0.0.0/8", "fc00::/7", "::1", "loopback", "private"],
    bad: [
      "*",
      "0.0.0.0/0",
      "::/0",
      "10.0.0.0/33",
      "::/129",
      "10.0.0/8",
      "nginx",
      "10.0.0.1/",
      "1.2.3.4/8/8",
    ],
  },
  cors_origins: {
    accepts: isOrigin,
    good: ["https://a.test", "http://a.test:8080", "http://[::1]:1"],
    bad: [
      "*",
      "null",
      "a.test",
      "https://a.test/",
      "https://a.test/x",
      "https://A.test",
      "https://a.test:443",
      "ftp://a",
    ],
  },
  timezone: {
    accepts: isTimeZone,
    good: ["Europe/Berlin", "UTC", "Asia/Tokyo"],
    bad: ["Mars/Olympus", "Berlin", " "],
  },
};

test("single values", () => {
  for (const [name, { accepts, good, bad }] of Object.entries(RULES)) {
    for (const text of good)
      assert.equal(accepts(text), true, `${name} takes ${JSON.stringify(text)}`);
    for (const text of bad)
      assert.equal(accepts(text), false, `${name} refuses ${JSON.stringify(text)}`);
  }
});
