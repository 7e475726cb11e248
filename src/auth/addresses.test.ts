import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalHost, isLoopbackHost, isWildcardHost, limiterKey } from "./addresses.ts";

const LOOPBACK = [
  "127.0.0.1",
  "127.0.0.11",
  "LOCALHOST",
  "localhost",
  "::1",
  "[::1]",
  "0:0:0:0:0:0:0:1",
  "::ffff:127.0.0.1",
  "[::ffff:7f00:1]",
];
const PUBLIC = [
  "0.0.0.0",
  "::",
  "10.0.0.1",
  "192.168.0.1",
  "127.1",
  "0177.0.0.1",
  "2130706433",
  "127.0.0.1.evil.test",
  "localhost.evil.test",
  "::1%lo",
  "[127.0.0.1]",
  "[localhost]",
  "localhost.",
  "",
  " ",
  "::ffff:10.0.0.1",
  "128.0.0.1",
];

test("loopback is an address or localhost, never a prefix of text", () => {
  for (const host of LOOPBACK) assert.equal(isLoopbackHost(host), true, host);
  for (const host of PUBLIC) assert.equal(isLoopbackHost(host), false, host);
});

test("wildcards", () => {
  for (const host of ["0.0.0.0", "::", "[::]", "0:0:0:0:0:0:0:0"])
    assert.ok(isWildcardHost(host), host);
  for (const host of ["127.0.0.1", "::1", "0", "host"]) assert.ok(!isWildcardHost(host), host);
});

test("one spelling per host", () => {
  const cases = {
    "HOST.": "host",
    "[::FFFF:127.0.0.1]": "::ffff:7f00:1",
    "[0:0::1]": "::1",
    "10.0.0.1": "10.0.0.1",
  };
  for (const [given, expected] of Object.entries(cases))
    assert.equal(canonicalHost(given), expected);
});

test("limiters count IPv4 whole, IPv6 by its /64, and nothing as one bucket", () => {
  const cases = {
    "10.1.2.3": "10.1.2.3",
    "::ffff:10.1.2.3": "10.1.2.3",
    "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
    "2001:db8:1:2::9": "2001:db8:1:2::/64",
    "2001:db8::1": "2001:db8:0:0::/64",
    "": "",
  };
  for (const [given, expected] of Object.entries(cases))
    assert.equal(limiterKey(given), expected, given);
});
