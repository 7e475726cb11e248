import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { LeaseOwner, NewMessage, SessionStore } from "#agent/ports/session-store.ts";
import { systemClock } from "#base/clock.ts";
import { silentLog } from "#base/log.ts";
import { ownIdentity } from "#base/process-identity.ts";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { nextTurn } from "./context.ts";
import { openStore } from "./open.ts";
import { openConnection } from "./sqlite.ts";

const OTHER: LeaseOwner = { ...ownIdentity(), pid: 1, startTime: "", surface: "web" };

async function open(t: TestContext, home: string, clock = systemClock): Promise<SessionStore> {
  const path = join(home, "state.db");
  const options = { path, backupsDir: home, clock, log: silentLog, isAlive: () => true };
  const store = await openStore({ ...options, journalMode: "wal" });
  t.after(() => store.close());
  return store;
}

function user(content: string, timestamp = 1): NewMessage {
  return { role: "user", content, timestamp };
}

async function* linesOf(...lines: readonly object[]): AsyncIterable<string> {
  for (const line of lines) yield JSON.stringify(line);
}

test("a write is whole or not at all", async (t) => {
  const store = await open(t, tempDir(t));
  await store.createSession({ id: "s1", source: "cli", startedAt: 1 });
  const bad = { ...user("second"), timestamp: null as unknown as number };
  await assert.rejects(store.appendMessages("s1", [user("first"), bad]));
  assert.equal((await store.readMessages("s1", { limit: 9, order: "asc" })).total, 0);
  assert.equal((await store.getSession("s1"))?.messageCount, 0);
  await assert.rejects(
    store.compress({
      parentId: "s1",
      child: { id: "s2", source: "cli", startedAt: 2 },
      messages: [bad],
    }),
  );
  assert.equal(await store.getSession("s2"), null);
  assert.equal((await store.getSession("s1"))?.endedAt, null);
  await store.appendMessages("s1", [user("third")]);
});

test("a compression finds a free title and takes the route along", async (t) => {
  const home = tempDir(t);
  const store = await open(t, home);
  await store.createSession({ id: "s1", source: "cli", startedAt: 1, title: "Plan" });
  await store.createSession({ id: "s2", source: "cli", startedAt: 1, title: "Plan #2" });
  const other = openConnection(join(home, "state.db"), {});
  other.exec("INSERT INTO routes(session_key, session_id, updated_at) VALUES ('k', 's1', 1)");
  const child = { id: "s3", source: "cli", title: "Plan #2", startedAt: 2 };
  assert.equal((await store.compress({ parentId: "s1", child, messages: [] })).title, "Plan #3");
  assert.equal(
    other.get<{ session_id: string }>("SELECT session_id FROM routes")?.session_id,
    "s3",
  );
  other.close();
});

test("titles are cleaned: length, line breaks, invisible and turning characters", async (t) => {
  const store = await open(t, tempDir(t));
  const cases = [
    ["  two\n lines\t ", "two lines"],
    ["a\u200Bb\u202Ec\u0007d", "abcd"],
    ["x".repeat(150), "x".repeat(100)],
    [`${"x".repeat(99)}😀`, "x".repeat(99)],
    ["\u200B \u2066", null],
  ] as const;
  for (const [n, [title, expected]] of cases.entries()) {
    const row = await store.createSession({ id: `s${n}`, source: "cli", startedAt: 1, title });
    assert.equal(row.title, expected);
  }
});

test("history of a turn that another process runs is not repaired", async (t) => {
  const store = await open(t, tempDir(t), new FakeClock(1000));
  await store.createSession({ id: "s1", source: "cli", startedAt: 1 });
  const toolCalls = [{ id: "c1", name: "terminal", arguments: "{}" }];
  await store.appendMessages("s1", [{ role: "assistant", content: null, toolCalls, timestamp: 1 }]);
  await store.takeLease("s1", { turnId: "t1", owner: OTHER, now: 1, ttlSeconds: 30 });
  assert.deepEqual((await store.loadHistory("s1")).repairedCalls, []);
  await store.dropLease("s1", "t1");
  assert.deepEqual((await store.loadHistory("s1")).repairedCalls, ["c1"]);
});

test("a turn of another host is lost only when its lease ran out", async (t) => {
  const store = await open(t, tempDir(t));
  const owner = { ...OTHER, host: "elsewhere.invalid" };
  await store.createSession({ id: "s1", source: "cli", startedAt: 1 });
  await store.takeLease("s1", { turnId: "t1", owner, now: 100, ttlSeconds: 30 });
  const turn = { turnId: "t1", sessionId: "s1", surface: "web", provider: "p", model: "m" };
  await store.openTurn({ ...turn, startedAt: 100, owner });
  assert.deepEqual(await store.recoverLostTurns(120), []);
  assert.equal((await store.recoverLostTurns(131)).length, 1);
});

test("an ended session is open again when a turn starts in it", async (t) => {
  const store = await open(t, tempDir(t));
  await store.createSession({ id: "s1", source: "cli", startedAt: 1 });
  await store.endSession("s1", "done", 2);
  const turn = { turnId: "t1", sessionId: "s1", surface: "web", provider: "p", model: "m" };
  await store.openTurn({ ...turn, startedAt: 3, owner: OTHER });
  assert.partialDeepStrictEqual(await store.getSession("s1"), { endedAt: null, endReason: null });
});

test("optimise is refused while another process runs a turn, and shrinks the file", async (t) => {
  const home = tempDir(t);
  const store = await open(t, home, new FakeClock(1000));
  await store.createSession({ id: "s1", source: "cli", startedAt: 1 });
  await store.createSession({ id: "s2", source: "cli", startedAt: 1 });
  await store.appendMessages(
    "s1",
    Array.from({ length: 500 }, (_, n) => user(`row ${n} `.repeat(100))),
  );
  await store.appendMessages("s2", [user("lighthouse")]);
  await store.takeLease("s2", { turnId: "t1", owner: OTHER, now: 1, ttlSeconds: 30 });
  await assert.rejects(store.optimise(), { code: "SESSION_BUSY" });
  await store.dropLease("s2", "t1");
  await store.deleteSession("s1");
  const before = (await store.stats()).sizeBytes;
  await store.optimise();
  await store.close();
  assert.ok(statSync(join(home, "state.db")).size < before / 2);
  const again = await open(t, home);
  assert.equal((await again.search("lighthouse", { limit: 5 })).hits.length, 1);
  assert.deepEqual(await again.check(), []);
});

test("a backup is whole and private, also while others write", async (t) => {
  const home = tempDir(t);
  const store = await open(t, home);
  const other = await open(t, home);
  await store.createSession({ id: "s1", source: "cli", startedAt: 1 });
  await store.appendMessages(
    "s1",
    Array.from({ length: 2000 }, (_, n) => user(`row ${n} `.repeat(50))),
  );
  const state = { writing: true };
  const writes = (async () => {
    let count = 0;
    for (; state.writing && count < 10_000; count++) {
      await other.appendMessages("s1", [user("more")]);
      await nextTurn();
    }
    return count;
  })();
  const target = join(home, "copy.db");
  await store.backup(target);
  state.writing = false;
  assert.ok((await writes) > 0);
  assert.equal(statSync(target).mode & 0o777, 0o600);
  const copyHome = tempDir(t);
  await store.backup(join(copyHome, "state.db"));
  const copy = await open(t, copyHome);
  assert.deepEqual(await copy.check(), []);
  assert.equal((await copy.stats()).messages, (await store.stats()).messages);
  assert.deepEqual(
    readdirSync(home).filter((name) => name.includes(".tmp")),
    [],
  );
  await assert.rejects(store.backup(join(home, "no", "such", "copy.db")), {
    code: "BACKUP_FAILED",
  });
});

test("import keeps unknown fields, links parents behind their children, counts anew", async (t) => {
  const store = await open(t, tempDir(t));
  await store.createSession({ id: "taken", source: "cli", startedAt: 1, title: "Plan" });
  const report = await store.importLines(
    linesOf(
      {
        type: "session",
        id: "child",
        source: "telegram",
        started_at: 20,
        parent_session_id: "root",
        title: "Plan",
      },
      {
        type: "message",
        role: "user",
        content: "hello",
        timestamp: 21,
        someday: 1,
        message_count: 99,
      },
      {
        type: "session",
        id: "root",
        source: "cli",
        started_at: 10,
        mood: "good",
        model_config: { provider: "p" },
      },
      { type: "session", id: "lonely", source: "cli", started_at: 5, parent_session_id: "nowhere" },
    ),
  );
  assert.deepEqual(report, { imported: 3, skipped: 0, renamed: [] });
  assert.partialDeepStrictEqual(await store.getSession("child"), {
    parentSessionId: "root",
    rootId: "root",
    title: "Plan #2",
    messageCount: 1,
    lastActiveAt: 21,
    source: "telegram",
  });
  assert.partialDeepStrictEqual(await store.getSession("root"), {
    modelConfig: { provider: "p", mood: "good" },
    rootId: "root",
  });
  assert.partialDeepStrictEqual(await store.getSession("lonely"), {
    parentSessionId: null,
    rootId: "lonely",
  });
  assert.equal((await store.search("hello", { limit: 5 })).hits[0]?.sessionId, "child");
});

test("a clash gets the same new id each time", async (t) => {
  const store = await open(t, tempDir(t));
  const id = "20260101_120000_abcdef";
  await store.createSession({ id, source: "cli", startedAt: 1 });
  const lines = [
    { type: "session", id, source: "cli", started_at: 1 },
    { type: "message", role: "user", content: "x", timestamp: 1 },
  ];
  const first = await store.importLines(linesOf(...lines));
  assert.match(first.renamed[0]?.to ?? "", /^20260101_120000_[0-9a-f]{8}$/);
  assert.deepEqual(await store.importLines(linesOf(...lines)), {
    imported: 0,
    skipped: 1,
    renamed: [],
  });
});

const BAD_LINES = [
  { type: "session", source: "cli", started_at: 1 },
  { type: "session", id: "x", source: "cli" },
  { type: "session", id: "x", source: "cli", started_at: "yesterday" },
  { type: "session", id: 5, source: "cli", started_at: 1 },
  { type: "message", role: "user", content: "x" },
  { type: "message", role: "user", content: { a: 1 }, timestamp: 1 },
];

test("values of a wrong kind are refused by line", async (t) => {
  const store = await open(t, tempDir(t));
  const good = { type: "session", id: "s1", source: "cli", started_at: 1 };
  for (const bad of BAD_LINES) {
    await assert.rejects(store.importLines(linesOf(good, bad)), (error) => {
      assert.match(String(error), /line 2/, JSON.stringify(bad));
      return true;
    });
  }
});
