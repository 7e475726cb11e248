import assert from "node:assert/strict";
import { test } from "node:test";
import { refusalText } from "./refusal.ts";
import { shouldRequireAuth, whyGate } from "./require-auth.ts";

const url = (text: string | null): URL | null => (text === null ? null : new URL(text));

test("dashboard.md §1.2, row by row", () => {
  const rows: [string, boolean, string | null, boolean][] = [
    ["0.0.0.0", true, null, false],
    ["0.0.0.0", true, "https://a.example.org", false],
    ["127.0.0.1", false, null, false],
    ["localhost", false, "http://localhost:9119", false],
    ["::1", false, "http://[::1]:9119", false],
    ["127.0.0.1", false, "https://a.example.org", true],
    ["127.0.0.1", false, "http://127.0.0.1.evil.test", true],
    ["0.0.0.0", false, null, true],
    ["10.0.0.1", false, null, true],
    ["192.168.1.1", false, "http://localhost", true],
    ["127.1", false, null, true],
  ];
  for (const [host, insecure, publicUrl, expected] of rows) {
    const what = `${host} ${insecure} ${publicUrl}`;
    assert.equal(shouldRequireAuth({ host, insecure, publicUrl: url(publicUrl) }), expected, what);
  }
});

test("the reason says whether host or public URL engaged the gate", () => {
  assert.equal(whyGate({ host: "::", insecure: false, publicUrl: null }), "host");
  const publicUrl = new URL("https://a.example.org");
  assert.equal(whyGate({ host: "::1", insecure: false, publicUrl }), "public-url");
});

test("the refusal names what it refuses, why, and the ways out, in order and within 20 lines", () => {
  const publicUrl = new URL("https://a.example.org/");
  const text = refusalText({
    host: "127.0.0.1",
    port: 9119,
    why: "public-url",
    publicUrl,
    providers: [{ name: "basic", reason: "no user name" }],
  });
  const words = [
    "Refusing to bind dashboard to 127.0.0.1:9119",
    "no auth providers",
    "basic: no user name",
    "dashboard.public_url",
    "https://a.example.org/",
    "LOCAL-ONLY",
    "remove dashboard.public_url",
    "HERMES_DASHBOARD_HOST=127.0.0.1",
    "HERMES_DASHBOARD_INSECURE=1",
  ];
  let at = -1;
  for (const word of words) {
    const next = text.indexOf(word, at + 1);
    assert.ok(next > at, `${word} after position ${at}`);
    at = next;
  }
  assert.ok(text.split("\n").length <= 20);
});
