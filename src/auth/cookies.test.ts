import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ATTEMPT_COOKIE,
  clearAllCookies,
  clearCookie,
  cookieName,
  readCookies,
  SESSION_COOKIE,
  setCookie,
} from "./cookies.ts";

const HTTP = { https: false, prefix: "" };
const HTTP_PREFIX = { https: false, prefix: "/hermes" };
const HTTPS = { https: true, prefix: "" };
const HTTPS_PREFIX = { https: true, prefix: "/hermes" };

test("names and attributes, variant by variant", () => {
  const cases = [
    [HTTP, "hermes_session_at=v; Max-Age=60; Path=/; HttpOnly; SameSite=Lax"],
    [HTTP_PREFIX, "hermes_session_at=v; Max-Age=60; Path=/hermes; HttpOnly; SameSite=Lax"],
    [HTTPS, "__Host-hermes_session_at=v; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Lax"],
    [
      HTTPS_PREFIX,
      "__Secure-hermes_session_at=v; Max-Age=60; Path=/hermes; HttpOnly; Secure; SameSite=Lax",
    ],
  ] as const;
  for (const [place, expected] of cases) {
    assert.equal(setCookie(SESSION_COOKIE, "v", 60, place), expected);
  }
  assert.match(setCookie(ATTEMPT_COOKIE, "v", 600, HTTP), /; HttpOnly; SameSite=Lax$/);
  assert.match(setCookie(ATTEMPT_COOKIE, "v", 600, HTTPS), /; Secure; SameSite=None$/);
});

test("a deletion is its setter but for value and age, in all three variants", () => {
  for (const base of [SESSION_COOKIE, ATTEMPT_COOKIE] as const) {
    for (const place of [HTTP, HTTP_PREFIX, HTTPS, HTTPS_PREFIX]) {
      const setter = setCookie(base, "v", 600, place);
      const wanted = setter.replace("=v;", "=;").replace("Max-Age=600", "Max-Age=0");
      const cleared = clearCookie(base, place);
      assert.equal(cleared.length, 3);
      assert.ok(cleared.includes(wanted), wanted);
      assert.ok(cleared.some((line) => line.startsWith(`${base}=;`) && !line.includes("Secure")));
    }
  }
  assert.equal(clearCookie(SESSION_COOKIE, HTTPS_PREFIX)[0]?.includes("Path=/;"), true);
});

test("clearing everything covers five names and stays under 4 KB", () => {
  const lines = clearAllCookies({ https: true, prefix: `/${"a".repeat(200)}` });
  assert.equal(lines.length, 15);
  for (const base of ["at", "rt", "provider", "pkce"]) {
    assert.equal(lines.filter((line) => line.includes(`hermes_session_${base}=;`)).length, 3);
  }
  assert.equal(lines.filter((line) => line.includes("hermes_sso_attempt=;")).length, 3);
  const plain = clearAllCookies(HTTPS).join("\r\n");
  assert.ok(plain.length < 2048, String(plain.length));
});

test("reading takes all values of all variants, the safest first, at most 8", () => {
  const header =
    'x=1; hermes_session_at=bare; __Secure-hermes_session_at="sec"; hermes_session_at=two; __Host-hermes_session_at=host; hermes_session_atx=no';
  assert.deepEqual(
    readCookies(header, SESSION_COOKIE).map(({ name, value }) => `${name}:${value}`),
    [
      "__Host-hermes_session_at:host",
      "__Secure-hermes_session_at:sec",
      "hermes_session_at:bare",
      "hermes_session_at:two",
    ],
  );
  const many = Array.from({ length: 20 }, (_, n) => `hermes_session_at=${n}`).join("; ");
  assert.equal(readCookies(many, SESSION_COOKIE).length, 8);
  assert.deepEqual(readCookies(undefined, SESSION_COOKIE), []);
  assert.deepEqual(readCookies("hermes_session_at", SESSION_COOKIE), []);
  assert.equal(cookieName(SESSION_COOKIE, HTTPS_PREFIX), "__Secure-hermes_session_at");
});
