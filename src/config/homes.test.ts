import assert from "node:assert/strict";
import { test } from "node:test";
import { homeFrom, profileOf, rootOf } from "./homes.ts";

test("the home: HERMES_HOME, else ~/.hermes; empty counts as unset", () => {
  assert.equal(homeFrom({ HERMES_HOME: "/data/x/", HOME: "/home/me" }), "/data/x");
  assert.equal(homeFrom({ HERMES_HOME: "", HOME: "/home/me" }), "/home/me/.hermes");
  assert.match(homeFrom({}), /^\/.*\.hermes$/);
});

/** Home, its root, its profile. */
const HOMES = [
  ["/opt/data", "/opt/data", "default"],
  ["/opt/data/profiles/work", "/opt/data", "work"],
  ["/opt/data/profiles/work/", "/opt/data", "work"],
  ["/opt/data/profiles", "/opt/data/profiles", "default"],
  ["/opt/profiles/a/profiles/b", "/opt/profiles/a", "b"],
] as const;

test("root and profile of a home", () => {
  for (const [home, root, profile] of HOMES) {
    assert.deepEqual([rootOf(home), profileOf(home)], [root, profile], home);
  }
});
