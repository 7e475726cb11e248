// A state.db of the Python version, written by Python, opened in place (agent.md §6.7, §12.2 row 33).
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { SessionStore } from "#agent/ports/session-store.ts";
import { systemClock } from "#base/clock.ts";
import { isHermesError } from "#base/errors.ts";
import { type Log, silentLog } from "#base/log.ts";
import { openStore } from "#store/open.ts";
import { openConnection, type Sql } from "#store/sqlite.ts";
import { tempDir } from "../kit/temp-dir.ts";
import { until } from "../kit/until.ts";

const SCRIPT = join(import.meta.dirname, "../fixtures/python-state-db.py");
const python = spawnSync("python3", ["-c", "import sqlite3"]);
const skip = python.status === 0 ? false : "needs python3 with its sqlite3 module";

function writePython(t: TestContext, kind: string): string {
  const home = tempDir(t, "python");
  const result = spawnSync("python3", [SCRIPT, kind, join(home, "state.db")], { encoding: "utf8" });
  assert.equal(result.stderr, "");
  assert.ok(result.status === 0 || kind === "killed", `exit ${result.status}`);
  return home;
}

async function open(t: TestContext, home: string, log: Log = silentLog): Promise<SessionStore> {
  const store = await openStore({
    path: join(home, "state.db"),
    backupsDir: join(home, "backups"),
    journalMode: "wal",
    clock: systemClock,
    log,
  });
  t.after(() => store.close());
  return store;
}

function look<T>(home: string, query: (sql: Sql) => T): T {
  const connection = openConnection(join(home, "state.db"), { readOnly: true });
  try {
    return query(connection);
  } finally {
    connection.close();
  }
}

interface Contents {
  readonly sessions: readonly Record<string, unknown>[];
  readonly messages: readonly Record<string, unknown>[];
}

/** What must be the same before and after, in the columns that the Python version has. */
function contentsOf(home: string): Contents {
  return look(home, (sql) => ({
    sessions: sql.all(
      "SELECT id, source, model, model_config, parent_session_id, started_at, title, message_count FROM sessions ORDER BY id",
    ),
    messages: sql.all(
      "SELECT id, session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp FROM messages ORDER BY id",
    ),
  }));
}

function isIndexed(store: SessionStore): Promise<void> {
  return until(
    "the index is complete",
    async () => (await store.getMeta("fts_done_to")) === "0",
  ).then(() => undefined);
}

async function found(store: SessionStore, query: string): Promise<readonly string[]> {
  const result = await store.search(query, { limit: 300 });
  assert.equal(result.partial, false);
  return result.hits.map((hit) => hit.sessionId);
}

/** Counts per kind: sessions, sessions with their own lineage that hold the words. */
const KINDS = [
  ["one-column", 3, 3],
  ["view", 3, 3],
  ["later", 1, 1],
] as const;

for (const [kind, sessions, lineages] of KINDS) {
  test(
    `${kind}: same ids, texts, order and titles; old and new rows are found`,
    { skip },
    async (t) => {
      const home = writePython(t, kind);
      const before = contentsOf(home);
      const store = await open(t, home);
      await isIndexed(store);
      assert.deepEqual(contentsOf(home), before);
      assert.equal((await store.stats()).sessions, sessions);
      assert.equal((await found(store, "harbour")).length, lineages);
      assert.equal((await found(store, "anchor AND buoy")).length, lineages);
      assert.equal((await found(store, "terminal")).length, lineages);
      assert.equal((await found(store, "東京タワー")).length, lineages);
      const id = String(before.sessions[0]?.["id"]);
      await store.appendMessages(id, [{ role: "user", content: "a lighthouse", timestamp: 2e9 }]);
      assert.deepEqual(await found(store, "lighthouse"), [id]);
      const history = await store.loadHistory(id);
      assert.deepEqual(history.repairedCalls, kind === "later" ? [`call_${id}`] : []);
      assert.deepEqual(history.messages[1]?.toolCalls, [
        { id: `call_${id}`, name: "terminal", arguments: '{"command": "ls"}' },
      ]);
      assert.deepEqual(await store.check(), []);
    },
  );
}

test("columns and tables of later versions are left as they were", { skip }, async (t) => {
  const home = writePython(t, "later");
  const store = await open(t, home);
  const [row] = (await store.listSessions({ limit: 1, offset: 0 })).sessions;
  assert.partialDeepStrictEqual(row, { cwd: "/work", title: "Later", titleSource: "user" });
  const kept = look(home, (sql) => [
    sql.get("SELECT handoff_state, rewind_count FROM sessions"),
    sql.get("SELECT observed, active FROM messages WHERE role = 'tool'"),
    sql.get("SELECT * FROM compression_locks"),
    sql.get("SELECT value FROM state_meta WHERE key = 'their_key'"),
    sql.get("SELECT version FROM schema_version"),
  ]);
  assert.deepEqual(JSON.parse(JSON.stringify(kept)), [
    { handoff_state: "kept", rewind_count: 0 },
    { observed: 7, active: 0 },
    { session_id: "x", holder: "y" },
    { value: "their value" },
    { version: 6 },
  ]);
});

test("killed: what was committed is there, what was not is not", { skip }, async (t) => {
  const home = writePython(t, "killed");
  assert.ok(statSync(join(home, "state.db-wal")).size > 0);
  const store = await open(t, home);
  await isIndexed(store);
  const { sessions } = await store.listSessions({ limit: 9, offset: 0 });
  assert.deepEqual(
    sessions.map((row) => [row.title, row.messageCount]),
    [["Killed", 4]],
  );
  assert.deepEqual(await found(store, "harbour"), ["20250401_120000_000001"]);
});

test("lineage: roots, activity, titles, orphans and circles", { skip }, async (t) => {
  const home = writePython(t, "lineage");
  const before = contentsOf(home);
  const store = await open(t, home);
  await isIndexed(store);
  const after = contentsOf(home);
  assert.deepEqual(after.messages, before.messages);
  const { sessions, total } = await store.listSessions({ limit: 300, offset: 0 });
  assert.equal(total, 201);
  const byId = new Map(sessions.map((row) => [row.id, row]));
  assert.equal(byId.get("s003")?.rootId, "s000");
  assert.equal(byId.get("s004")?.rootId, "s004");
  assert.equal(byId.get("s195")?.rootId, "s192");
  assert.equal(byId.get("s196")?.rootId, "s196");
  assert.equal(byId.get("s010")?.lastActiveAt, 1746100800 + 600 + 3.5);
  const titles = sessions.map((row) => row.title).filter((title) => title !== null);
  assert.equal(titles.length, 20);
  assert.equal(new Set(titles).size, 20);
  assert.equal(byId.get("s000")?.title, "Same title");
  assert.equal(byId.get("s010")?.title, "Same title #2");
  assert.equal(byId.get("s190")?.title, "Same title #20");
  assert.partialDeepStrictEqual(byId.get("gone"), { source: "cli", messageCount: 1 });
  assert.deepEqual(await found(store, "orphan"), ["gone"]);
  // 50 lineages of four, less the circle's two, which stand alone.
  assert.equal((await store.lineage("s000")).length, 4);
  const path = ["s196", "s197", "s198", "s199"];
  assert.deepEqual((await store.newestDescendant("s196")).path, path);
  assert.deepEqual(await store.check(), []);
});

test("a copy is kept in backups, and a second open changes nothing", { skip }, async (t) => {
  const home = writePython(t, "lineage");
  const before = contentsOf(home);
  const store = await open(t, home);
  await isIndexed(store);
  await store.close();
  const copies = readdirSync(join(home, "backups"));
  assert.equal(copies.length, 1);
  assert.match(copies[0] ?? "", /^state-\d{8}T\d{6}Z\.db$/);
  const copy = join(home, "backups", copies[0] ?? "");
  assert.equal(statSync(copy).mode & 0o777, 0o600);
  const copied = openConnection(copy, { readOnly: true });
  assert.equal(copied.all("SELECT id FROM messages").length, before.messages.length);
  assert.equal(copied.all("SELECT name FROM sqlite_schema WHERE name = 'turns'").length, 0);
  copied.close();

  const bytes = readFileSync(join(home, "state.db"));
  await (await open(t, home)).close();
  assert.deepEqual(readFileSync(join(home, "state.db")), bytes);
  const databases = readdirSync(join(home, "backups")).filter((name) => name.endsWith(".db"));
  assert.equal(databases.length, 1);
});

test(
  "a table of ours with other columns is refused, the file stays as it was",
  { skip },
  async (t) => {
    const home = writePython(t, "foreign");
    const before = contentsOf(home);
    const schema = (): unknown =>
      look(home, (sql) => sql.all("SELECT sql FROM sqlite_schema ORDER BY rowid"));
    const schemaBefore = schema();
    await assert.rejects(open(t, home), (error) => {
      assert.ok(isHermesError(error, "STORE_FOREIGN"));
      assert.equal(error.exit, 78);
      assert.match(error.message, /table turns/);
      assert.match(error.fix ?? "", /hermes sessions import/);
      return true;
    });
    assert.deepEqual(contentsOf(home), before);
    assert.deepEqual(schema(), schemaBefore);
  },
);

test("search says partial until the index is complete, newest rows first", { skip }, async (t) => {
  const home = writePython(t, "lineage");
  const store = await open(t, home);
  const early = await store.search("harbour", { limit: 300 });
  assert.equal(early.partial, true);
  const [newest] = early.hits;
  if (newest) assert.equal(newest.sessionId, "s199");
  // Rows that are not indexed yet can be deleted and changed without hurting the index.
  await store.deleteSession("s000");
  await isIndexed(store);
  const late = await store.search("harbour", { limit: 300 });
  assert.equal(late.partial, false);
  assert.ok(late.hits.length > early.hits.length);
  // FTS5's own comparison of index and contents (sqlite.org/fts5.html §6.6).
  const other = openConnection(join(home, "state.db"), {});
  for (const name of ["messages_fts", "messages_fts_trigram"]) {
    other.exec(`INSERT INTO ${name}(${name}, rank) VALUES ('integrity-check', 1)`);
  }
  other.close();
  assert.deepEqual(await store.check(), []);
});

test("routes and scheduled jobs beside the file are taken over once", { skip }, async (t) => {
  const home = writePython(t, "one-column");
  const id = "20250100_120000_000000";
  mkdirSync(join(home, "sessions"));
  writeFileSync(
    join(home, "sessions", "sessions.json"),
    JSON.stringify({
      "agent:main:telegram:dm:42": {
        session_id: id,
        updated_at: "2025-01-02T00:00:00Z",
        origin: { platform: "telegram", chat_id: 42, chat_name: "Someone", user_id: "7" },
      },
      "agent:main:cli": "20250101_120000_000001",
      "agent:main:telegram:dm:43": { session_id: "not there" },
      broken: 5,
    }),
  );
  mkdirSync(join(home, "cron"));
  const schedules = [
    ["0000000a", { kind: "cron", expr: "0 9 * * *", display: "daily at nine" }],
    ["0000000b", { kind: "interval", minutes: 90 }],
    ["0000000c", { kind: "once", run_at: "2026-02-03T14:00:00+00:00" }],
    ["0000000d", { kind: "moon" }],
  ] as const;
  const jobs = schedules.map(([jobId, schedule]) => ({
    id: jobId,
    name: `job ${jobId}`,
    prompt: "say hello",
    schedule,
    enabled: jobId !== "0000000b",
    repeat: { times: null, completed: 3 },
    next_run_at: "2026-01-01T09:00:00+00:00",
    deliver: "origin",
    origin: { platform: "telegram", chat_id: "42" },
  }));
  writeFileSync(join(home, "cron", "jobs.json"), JSON.stringify({ jobs }));
  const store = await open(t, home);
  const routes = look(home, (sql) => sql.all("SELECT * FROM routes ORDER BY session_key"));
  assert.partialDeepStrictEqual(JSON.parse(JSON.stringify(routes)), [
    { session_key: "agent:main:cli", session_id: "20250101_120000_000001" },
    {
      session_key: "agent:main:telegram:dm:42",
      session_id: id,
      platform: "telegram",
      chat_id: "42",
      chat_name: "Someone",
      user_id: "7",
      updated_at: 1735776000,
    },
  ]);
  assert.equal((await store.getSession(id))?.sessionKey, "agent:main:telegram:dm:42");
  const stored = look(home, (sql) =>
    sql.all<Record<string, unknown>>("SELECT * FROM cron_jobs ORDER BY id"),
  );
  assert.deepEqual(
    stored.map((job) => [job["id"], job["enabled"], JSON.parse(String(job["schedule"]))]),
    [
      ["0000000a", 1, { kind: "cron", expr: "0 9 * * *", display: "daily at nine" }],
      ["0000000b", 0, { kind: "every", expr: "90m", display: "90m" }],
      [
        "0000000c",
        1,
        {
          kind: "once",
          expr: "2026-02-03T14:00:00+00:00",
          display: "2026-02-03T14:00:00+00:00",
        },
      ],
    ],
  );
  assert.deepEqual([stored[0]?.["repeat_done"], stored[0]?.["next_run_at"]], [3, 1767258000]);
  await store.close();
  // Once: what the file says later does not count.
  writeFileSync(join(home, "cron", "jobs.json"), JSON.stringify({ jobs: [] }));
  await (await open(t, home)).close();
  assert.equal(
    look(home, (sql) => sql.all("SELECT id FROM cron_jobs").length),
    3,
  );
});

test("a broken file beside it is named and costs nothing else", { skip }, async (t) => {
  const home = writePython(t, "one-column");
  mkdirSync(join(home, "cron"));
  writeFileSync(join(home, "cron", "jobs.json"), "{");
  const warnings: unknown[] = [];
  const log: Log = {
    ...silentLog,
    warn: (_message, fields) => void warnings.push(fields?.["path"]),
  };
  const store = await open(t, home, log);
  assert.deepEqual(warnings, [join(home, "cron", "jobs.json")]);
  assert.equal((await store.stats()).sessions, 3);
});
