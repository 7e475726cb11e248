import assert from "node:assert/strict";
import { test } from "node:test";
import { createForwardedReader } from "./forwarded.ts";
import { href, parsePrefix, withoutPrefix } from "./prefix.ts";

const ALL = {
  "x-forwarded-for": "203.0.113.9",
  "x-forwarded-proto": "https",
  "x-forwarded-host": "evil.test",
  "x-forwarded-prefix": "/evil",
};

test("local mode believes nobody unless a list is set, and reports the peer", () => {
  const read = createForwardedReader({ trustedProxies: null }, false);
  const facts = read("127.0.0.1", ALL);
  assert.deepEqual(facts, {
    client: "127.0.0.1",
    https: false,
    host: null,
    prefix: null,
    remark: { kind: "untrusted", value: "127.0.0.1" },
  });
});

test("gated mode believes loopback, and the scheme of any near peer", () => {
  const read = createForwardedReader({ trustedProxies: null }, true);
  assert.equal(read("127.0.0.1", ALL).host, "evil.test");
  const near = read("172.18.0.1", ALL);
  assert.deepEqual([near.https, near.host, near.client], [true, null, "172.18.0.1"]);
  assert.equal(read("203.0.113.1", ALL).https, false);
});

test("a list that is set replaces the default", () => {
  const read = createForwardedReader({ trustedProxies: ["10.0.0.0/8"] }, true);
  assert.equal(read("127.0.0.1", ALL).host, null);
  assert.equal(read("::ffff:10.1.1.1", ALL).host, "evil.test");
});

test("X-Forwarded-For is walked from the right, past our proxies", () => {
  const read = createForwardedReader({ trustedProxies: ["10.0.0.0/8", "loopback"] }, false);
  const client = (header: string): string => read("10.0.0.1", { "x-forwarded-for": header }).client;
  assert.equal(client("203.0.113.9"), "203.0.113.9");
  assert.equal(client("1.1.1.1, 203.0.113.9, 10.0.0.7"), "203.0.113.9");
  assert.equal(client("203.0.113.9:4711"), "203.0.113.9");
  assert.equal(client("[2001:db8::1]:4711"), "2001:db8::1");
  assert.equal(client("1.1.1.1, unknown"), "10.0.0.1");
  assert.equal(client("10.0.0.8, 127.0.0.1"), "10.0.0.1");
});

test("of repeated headers the last element counts", () => {
  const read = createForwardedReader({ trustedProxies: ["loopback"] }, false);
  const facts = read("127.0.0.1", {
    "x-forwarded-proto": "https, http",
    "x-forwarded-host": "evil.test, good.test",
  });
  assert.deepEqual([facts.https, facts.host], [false, "good.test"]);
});

test("prefix grammar", () => {
  const good = { "": "", "/": "", "/hermes": "/hermes", "hermes/": "/hermes", "/a/b.c": "/a/b.c" };
  for (const [given, expected] of Object.entries(good)) assert.equal(parsePrefix(given), expected);
  const bad = ["//e", '/a"><script>', "/../x", "/a/./b", "/a%0d%0aX", "https://e", "/a b", "/ä"];
  for (const given of bad) assert.equal(parsePrefix(given), null, given);
  assert.equal(parsePrefix(`/${"a".repeat(255)}`)?.length, 256);
  assert.equal(parsePrefix(`/${"a".repeat(256)}`), null);
});

test("a prefix is taken off once and only as whole segments", () => {
  assert.equal(withoutPrefix("/hermes/api", "/hermes"), "/api");
  assert.equal(withoutPrefix("/hermes", "/hermes"), "/");
  assert.equal(withoutPrefix("/hermesx", "/hermes"), "/hermesx");
  assert.equal(withoutPrefix("/hermes/hermes", "/hermes"), "/hermes");
  assert.equal(href("/hermes", "/login"), "/hermes/login");
});
