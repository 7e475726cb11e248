import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { NewMessage, SessionStore } from "#agent/ports/session-store.ts";
import { systemClock } from "#base/clock.ts";
import { silentLog } from "#base/log.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { openStore } from "./open.ts";
import { openConnection } from "./sqlite.ts";

interface Opened {
  readonly store: SessionStore;
  readonly path: string;
}

async function open(t: TestContext): Promise<Opened> {
  const home = tempDir(t);
  const path = join(home, "state.db");
  const options = { path, backupsDir: home, clock: systemClock, log: silentLog };
  const store = await openStore({ ...options, journalMode: "wal" });
  t.after(() => store.close());
  return { store, path };
}

/** One session per text, named a, b, c, …; a later one is newer. */
async function fill(
  store: SessionStore,
  texts: readonly string[],
  more: Partial<NewMessage> = {},
): Promise<void> {
  for (const [n, content] of texts.entries()) {
    const id = String.fromCharCode(97 + n);
    await store.createSession({ id, source: "cli", startedAt: n });
    await store.appendMessages(id, [{ role: "user", timestamp: n, ...more, content }]);
  }
}

async function hits(store: SessionStore, query: string): Promise<string> {
  const { hits } = await store.search(query, { limit: 50 });
  return hits.map((hit) => hit.sessionId).join("");
}

const TEXTS = [
  "the foo-bar of src/app.ts", // a
  "foo and bar apart, 1000 things", // b
  "un deux trois, 100% sure", // c
  "東京タワーの天気 and C++ code", // d
  "naïve Café, snake_case and a.b.c", // e
  "ภาษาไทย ยาก; version 1.2.3", // f
  "deploying deployment deploys", // g
  "one two three", // h
];

const CASES: readonly (readonly [string, string])[] = [
  ["foo-bar", "a"],
  ["foo bar", "ba"],
  ['"foo bar"', "a"],
  ["src/app.ts", "a"],
  ["snake_case", "e"],
  ["a.b.c", "e"],
  ["1.2.3", "f"],
  ['"un', "c"],
  ['un"', "c"],
  ["100%", "c"],
  ["100", "c"],
  ["1000", "b"],
  ["C++", "d"],
  ["東京", "d"],
  ["東京タワー", "d"],
  ["東京 天気", "d"],
  ["東京 OR ไทย", "fd"],
  ["東京 NOT 天気", ""],
  ["大阪", ""],
  ["京", "d"],
  ["ไทย", "f"],
  ["東京*", "d"],
  ["cafe", "e"],
  ["NAIVE", "e"],
  ["dep*", "g"],
  ["deploy*", "g"],
  ["deploym*", "g"],
  ["deploy", ""],
  ["d*", "gc"],
  ["foo NOT bar-", ""],
  ["foo NOT apart", "a"],
  ["un OR two", "hc"],
  ["one two NOT three", ""],
  ["NOT one", "h"],
  ["(one", "h"],
  ["one:two", "h"],
  ["one, two!", "h"],
  ["sure?", "c"],
  ["(c++)", "d"],
  ["' OR 1=1 --", ""],
  ["content:foo", ""],
  ["%%", ""],
  ["_", "e"],
  ["->", ""],
  ["AND", "hgfedcba"],
  ["", "hgfedcba"],
];

test("each query finds what it says, and none is an error", async (t) => {
  const { store } = await open(t);
  await fill(store, TEXTS);
  for (const [query, expected] of CASES) assert.equal(await hits(store, query), expected, query);
});

const HOSTILE = [
  '"'.repeat(99),
  "(".repeat(500),
  "a OR ".repeat(300),
  "*^:{}[]-+~",
  "\0",
  "\ud800",
  "NEAR/2",
];

test("hostile queries are no errors", async (t) => {
  const { store } = await open(t);
  await fill(store, TEXTS);
  for (const query of HOSTILE) await store.search(query, { limit: 5 });
});

test("snippets mark what was found", async (t) => {
  const { store } = await open(t);
  await fill(store, [`${"before ".repeat(200)}the lighthouse keeper${" after".repeat(200)}`]);
  await fill2(store, `${"前".repeat(300)}灯台の光${"後".repeat(300)}`);
  const snippet = async (query: string): Promise<string> =>
    (await store.search(query, { limit: 1 })).hits[0]?.snippet ?? "";
  assert.match(await snippet("lighthouse"), /^….*>>>lighthouse<<< keeper.*…$/s);
  assert.match(await snippet("light*"), />>>lighthouse<<</);
  for (const query of ["灯台", "灯台の光"]) {
    const text = await snippet(query);
    assert.match(text, new RegExp(`^…前+>>>${query}<<<.*後+…$`));
    assert.ok(text.length < 250);
  }
});

async function fill2(store: SessionStore, content: string): Promise<void> {
  await store.createSession({ id: "z", source: "cli", startedAt: 99 });
  await store.appendMessages("z", [{ role: "user", content, timestamp: 99 }]);
}

test("a tool result is found by the first word of each of its lines, and shown as a line", async (t) => {
  const { store, path } = await open(t);
  const content = JSON.stringify({
    output: "first\nsecond\r\nthird\tfourth C:\\new",
    exit_code: 0,
  });
  await fill(store, [content], { role: "tool", toolName: "terminal", toolCallId: "c" });
  for (const word of ["second", "third", "fourth", "new"])
    assert.equal(await hits(store, word), "a");
  assert.equal(await hits(store, "nsecond"), "");
  const [hit] = (await store.search("second", { limit: 1 })).hits;
  assert.equal(hit?.snippet, "output: first >>>second<<< third fourth C: new exit_code: 0");
  const other = openConnection(path, {});
  t.after(() => other.close());
  other.run("INSERT INTO messages_fts(messages_fts, rank) VALUES ('integrity-check', 1)");
});

test("a hit is one row: its role, id and snippet belong together", async (t) => {
  const { store } = await open(t);
  await store.createSession({ id: "s", source: "cli", startedAt: 1 });
  const content = (text: string) => ({ content: text, timestamp: 1 });
  const [, , last] = await store.appendMessages("s", [
    { role: "user", ...content("where is the harbour") },
    { role: "tool", toolCallId: "c", toolName: "terminal", ...content('{"output":"harbour"}') },
    { role: "assistant", ...content("[found] the harbour") },
  ]);
  for (const query of ["harbour", '"the harbour"', "harb*"]) {
    const [hit, ...rest] = (await store.search(query, { limit: 5 })).hits;
    assert.deepEqual([rest.length, hit?.role, hit?.messageId], [0, "assistant", last], query);
    assert.match(hit?.snippet ?? "", /^\[found\]/);
  }
});

test("tool results are found by name and by their first 8192 characters", async (t) => {
  const { store } = await open(t);
  const content = `early ${"x ".repeat(5000)} late`;
  await fill(store, [content], { role: "tool", toolName: "web_extract", toolCallId: "c" });
  assert.equal(await hits(store, "early"), "a");
  assert.equal(await hits(store, "web_extract"), "a");
  assert.equal(await hits(store, "late"), "");
});

test("the index follows changes and deletions", async (t) => {
  const { store, path } = await open(t);
  await fill(store, ["first harbour", "second harbour"]);
  const other = openConnection(path, {});
  other.run("UPDATE messages SET content = '港の灯台です' WHERE session_id = 'a'");
  other.run("UPDATE messages SET role = 'tool' WHERE session_id = 'b'");
  other.close();
  assert.equal(await hits(store, "harbour"), "b");
  assert.equal(await hits(store, "港の灯台"), "a");
  await store.deleteSession("b");
  assert.equal(await hits(store, "harbour"), "");
  assert.deepEqual(await store.check(), []);
});

test("a lineage beyond the first pages is still found, and more than 2000 rows are partial", async (t) => {
  const { store } = await open(t);
  await fill(store, ["whale", "other"]);
  const whales = (count: number): NewMessage[] =>
    Array.from({ length: count }, (_, n) => ({ role: "user", content: "whale", timestamp: n }));
  await store.appendMessages("b", whales(900));
  assert.deepEqual(await searchTwo(store), { ids: "ba", partial: false });
  await store.appendMessages("b", whales(1500));
  assert.deepEqual(await searchTwo(store), { ids: "b", partial: true });
});

async function searchTwo(store: SessionStore): Promise<{ ids: string; partial: boolean }> {
  const { hits, partial } = await store.search("whale", { limit: 2 });
  return { ids: hits.map((hit) => hit.sessionId).join(""), partial };
}

test("a limit that is reached is not partial", async (t) => {
  const { store } = await open(t);
  await fill(store, ["whale", "whale", "whale"]);
  const { hits, partial } = await store.search("whale", { limit: 2 });
  assert.deepEqual([hits.map((hit) => hit.sessionId), partial], [["c", "b"], false]);
});
