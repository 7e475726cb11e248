import assert from "node:assert/strict";
import { test } from "node:test";
import { parseProviderName, type ProviderName } from "../providers/provider.ts";
import { parseNext } from "../next.ts";
import { chooserPage, loginErrorOf, loginPage, type LoginPageFacts } from "./login-page.ts";
import { failurePage, stalledPage } from "./message-page.ts";
import { LOGIN_ERRORS, PAGE_WORDS, pageLanguage } from "./words.ts";

const name = (text: string): ProviderName => parseProviderName(text) as ProviderName;
const STUB = { kind: "redirect", name: name("stub"), displayName: 'A & B <"x">' } as const;
const FACTS: LoginPageFacts = {
  language: "en",
  theme: "default",
  prefix: "/hermes",
  providers: [STUB],
  next: parseNext("/a?b=1&c='d'"),
  fresh: false,
  error: null,
  loggedOut: false,
  native: null,
  local: false,
};

test("links keep their raw ampersand, everything else is escaped", () => {
  const html = loginPage(FACTS);
  assert.ok(
    html.includes('href="/hermes/auth/login?provider=stub&next=%2Fa%3Fb%3D1%26c%3D&#39;d&#39;"'),
    html,
  );
  assert.ok(html.includes("Sign in with A &amp; B &lt;&quot;x&quot;&gt;"));
  assert.ok(!html.includes("<script") && !html.includes('<"x">'));
});

test("a password form is named once, and only beside another way in", () => {
  const basic = {
    kind: "password",
    name: name("basic"),
    displayName: "Username & Password",
  } as const;
  const count = (html: string): number => html.split("Username &amp; Password").length - 1;
  assert.equal(count(loginPage({ ...FACTS, providers: [basic] })), 0);
  const both = loginPage({ ...FACTS, providers: [STUB, basic] });
  assert.equal(count(both), 1);
  assert.match(both, /<section aria-labelledby="with-basic">\s*<h2 id="with-basic">/u);
});

test("no provider: the ways out, never the insecure switch", () => {
  const html = loginPage({ ...FACTS, providers: [] });
  assert.match(html, /Sign-in unavailable/);
  for (const word of ["password", "OAuth", "127.0.0.1", "SSH tunnel", "VPN", "docs/"]) {
    assert.ok(html.includes(word), word);
  }
  assert.ok(!/insecure/i.test(html));
});

test("each error has its own sentence in both languages; unknown words show none", () => {
  for (const language of ["en", "zh-Hans"] as const) {
    const sentences = LOGIN_ERRORS.map((error) => PAGE_WORDS[language].errors[error]);
    assert.equal(new Set(sentences).size, LOGIN_ERRORS.length);
    for (const [at, error] of LOGIN_ERRORS.entries()) {
      const html = loginPage({ ...FACTS, language, error });
      assert.ok(html.includes(sentences[at] ?? "missing"), error);
    }
  }
  assert.equal(loginErrorOf("<b>"), null);
  assert.equal(loginErrorOf("denied"), "denied");
  assert.deepEqual(Object.keys(PAGE_WORDS.en), Object.keys(PAGE_WORDS["zh-Hans"]));
});

test("Accept-Language: English unless Chinese is wished for more", () => {
  const cases: [string | undefined, string][] = [
    [undefined, "en"],
    ["", "en"],
    ["zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"],
    ["zh", "zh-Hans"],
    ["en,zh;q=0.9", "en"],
    ["de,zh;q=0.5", "zh-Hans"],
    ["de,fr", "en"],
    ["zh;q=0, *", "en"],
    ["zh;q=x, en;q=0.1", "en"],
    [`${"x,".repeat(5000)}zh`, "en"],
  ];
  for (const [header, expected] of cases)
    assert.equal(pageLanguage(header), expected, header ?? "none");
});

test("messages escape what came from elsewhere; the theme chooses light or dark", () => {
  const facts = { language: "zh", theme: "daylight" };
  const html = failurePage({
    ...facts,
    detail: "<img src=x>",
    error: "failed",
    again: '/login?next="x"',
  });
  assert.ok(
    html.includes("&lt;img src=x&gt;") && html.includes('href="/login?next=&quot;x&quot;"'),
  );
  assert.match(html, /<html lang="zh-Hans" data-scheme="light">/);
  assert.match(stalledPage({ ...facts, theme: "midnight", again: "/" }), /data-scheme="dark"/);
  const chooser = chooserPage({ ...facts, links: [{ label: "<a>", url: "/x?a=1&b=2" }] });
  assert.ok(chooser.includes('href="/x?a=1&amp;b=2"') && chooser.includes("&lt;a&gt;"));
});
