import assert from "node:assert/strict";
import { test } from "node:test";
import { ownOrigins, passesCrossSite } from "./cross-site.ts";

const own = ownOrigins({
  host: "Agent.example.org:8443",
  https: false,
  publicOrigin: "https://pub.example.org",
  corsOrigins: ["https://app.example.org"],
});

function passes(
  origin: string | undefined,
  secFetchSite: string | undefined,
  contentType: string | undefined = "application/json",
  hasTokenHeader = false,
): boolean {
  const unsafe = true;
  return passesCrossSite({
    unsafe,
    origin,
    secFetchSite,
    contentType,
    hasTokenHeader,
    ownOrigins: own,
  });
}

const SITES = [undefined, "same-origin", "same-site", "cross-site", "none"];

test("an own Origin passes whatever Sec-Fetch-Site says; another one never does", () => {
  const mine = [
    "http://agent.example.org:8443",
    "https://agent.example.org:8443",
    "https://pub.example.org",
    "https://app.example.org",
  ];
  const others = [
    "null",
    "",
    "https://evil.test",
    "http://agent.example.org",
    "https://x.pub.example.org",
    "http://pub.example.org",
  ];
  for (const site of SITES) {
    for (const origin of mine) assert.equal(passes(origin, site), true, `${origin} ${site}`);
    for (const origin of others) {
      assert.equal(passes(origin, site, undefined, true), false, `${origin} ${site}`);
    }
  }
});

test("without Origin Sec-Fetch-Site decides; without both only a program's request passes", () => {
  assert.equal(passes(undefined, "same-origin"), true);
  for (const site of ["none", "same-site", "cross-site"]) {
    assert.equal(passes(undefined, site), false);
    assert.equal(passes(undefined, site, "application/json", true), false);
  }
  assert.equal(passes(undefined, undefined, "application/json; charset=utf-8"), true);
  for (const form of ["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"]) {
    assert.equal(passes(undefined, undefined, form), false);
    assert.equal(passes(undefined, undefined, form, true), true);
  }
});

test("safe methods are not asked; by evidence https the http origin is not ours", () => {
  const question = {
    origin: "https://evil.test",
    secFetchSite: "cross-site",
    contentType: undefined,
  };
  assert.ok(
    passesCrossSite({ ...question, unsafe: false, hasTokenHeader: false, ownOrigins: own }),
  );
  const https = ownOrigins({ host: "h", https: true, publicOrigin: null, corsOrigins: [] });
  assert.deepEqual([...https], ["https://h"]);
});
