import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { SessionStore } from "#agent/ports/session-store.ts";
import { type Clock, systemClock } from "#base/clock.ts";
import { type HermesError, isHermesError } from "#base/errors.ts";
import { silentLog } from "#base/log.ts";
import { FakeClock } from "../../test/kit/fake-clock.ts";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { until } from "../../test/kit/until.ts";
import { openStore } from "./open.ts";
import { SCHEMA } from "./schema.ts";
import { type Connection, openConnection } from "./sqlite.ts";

function open(
  home: string,
  clock: Clock = systemClock,
  journalMode: "auto" | "wal" | "delete" = "auto",
): Promise<SessionStore> {
  const path = join(home, "state.db");
  return openStore({ path, backupsDir: join(home, "backups"), journalMode, clock, log: silentLog });
}

async function refusal(opening: Promise<SessionStore>): Promise<HermesError> {
  const error: unknown = await opening.then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(isHermesError(error), String(error));
  return error;
}

async function fill(home: string): Promise<void> {
  const store = await open(home);
  await store.createSession({ id: "s1", source: "cli", startedAt: 1 });
  const messages = Array.from({ length: 200 }, (_, n) => {
    return { role: "user", content: `message ${n} `.repeat(40), timestamp: n } as const;
  });
  await store.appendMessages("s1", messages);
  await store.close();
}

/** Another program at work on the file. */
function intrude(t: TestContext, home: string): Connection {
  const connection = openConnection(join(home, "state.db"), { timeout: 0 });
  t.after(() => connection.close());
  return connection;
}

test("files are private, and one file is left after closing", async (t) => {
  const home = tempDir(t);
  const store = await open(home);
  await store.createSession({ id: "s1", source: "cli", startedAt: 1 });
  for (const name of ["state.db", "state.db-wal", "state.db-shm"]) {
    assert.equal(statSync(join(home, name)).mode & 0o777, 0o600, name);
  }
  await store.close();
  assert.deepEqual(readdirSync(home), ["state.db"]);
});

for (const [kind, make] of [
  ["a named pipe", (path: string) => execFileSync("mkfifo", [path])],
  ["a folder", (path: string) => mkdirSync(path)],
  ["a device", (path: string) => symlinkSync("/dev/null", path)],
] as const) {
  test(`${kind} in the place of the file is named, and left as it is`, async (t) => {
    const home = tempDir(t);
    make(join(home, "state.db"));
    const error = await refusal(open(home));
    assert.deepEqual([error.code, error.exit], ["STORE_FOREIGN", 78]);
    assert.equal(
      error.message,
      `${join(home, "state.db")} is ${kind}, not a file; nothing was written`,
    );
    assert.deepEqual(readdirSync(home), ["state.db"]);
  });
}

test("an existing file keeps its mode, a missing folder is made", async (t) => {
  const home = join(tempDir(t), "deep", "home");
  await (await open(home)).close();
  chmodSync(join(home, "state.db"), 0o640);
  await (await open(home)).close();
  assert.equal(statSync(join(home, "state.db")).mode & 0o777, 0o640);
});

test("opening again changes nothing", async (t) => {
  const home = tempDir(t);
  await fill(home);
  const before = readFileSync(join(home, "state.db"));
  await (await open(home)).close();
  assert.deepEqual(readFileSync(join(home, "state.db")), before);
});

test("several open a new home at once", async (t) => {
  for (const mode of ["wal", "delete"] as const) {
    const home = tempDir(t);
    const stores = await Promise.all([1, 2, 3, 4].map(() => open(home, systemClock, mode)));
    for (const [n, store] of stores.entries()) {
      await store.createSession({ id: `s${n}`, source: "cli", startedAt: 1 });
    }
    assert.equal((await stores[0]?.ping())?.total, 4);
    for (const store of stores) await store.close();
  }
});

test("a newer schema is refused and nothing is written", async (t) => {
  const home = tempDir(t);
  await fill(home);
  const connection = openConnection(join(home, "state.db"), {});
  connection.run("UPDATE state_meta SET value = ? WHERE key = 'ts_schema'", String(SCHEMA + 1));
  connection.close();
  const before = readFileSync(join(home, "state.db"));
  const error = await refusal(open(home, systemClock, "delete"));
  assert.deepEqual([error.code, error.exit], ["STORE_NEWER", 78]);
  assert.match(error.message, new RegExp(`schema ${SCHEMA + 1}`));
  assert.deepEqual(readFileSync(join(home, "state.db")), before);
  assert.deepEqual(readdirSync(home), ["state.db"]);
});

test("a lost column and a lost table come back", async (t) => {
  const home = tempDir(t);
  await fill(home);
  const connection = openConnection(join(home, "state.db"), {});
  connection.exec("ALTER TABLE sessions DROP COLUMN pinned");
  connection.exec("DROP TABLE turn_drafts");
  connection.close();
  const store = await open(home);
  t.after(() => store.close());
  assert.equal((await store.updateSession("s1", { pinned: true })).pinned, true);
  await store.appendDraft({ turnId: "t", sessionId: "s1", text: "x" });
});

test("a file that is no database is damage, and stays as it is", async (t) => {
  const home = tempDir(t);
  const text = "this is a letter, not a database. ".repeat(100);
  writeFileSync(join(home, "state.db"), text);
  const error = await refusal(open(home));
  assert.equal(error.code, "STORE_CORRUPT");
  assert.match(error.fix ?? "", /backups/);
  assert.equal(readFileSync(join(home, "state.db"), "utf8"), text);
});

test("damage found while running ends all reading and writing; check says how to restore", async (t) => {
  const home = tempDir(t);
  await fill(home);
  const path = join(home, "state.db");
  const bytes = readFileSync(path);
  for (const page of pagesOf(path, "messages")) bytes.fill(0x5a, (page - 1) * 4096, page * 4096);
  writeFileSync(path, bytes);
  const store = await open(home);
  t.after(() => store.close());
  assert.equal((await store.getSession("s1"))?.messageCount, 200);
  const page = { limit: 500, order: "asc" } as const;
  await assert.rejects(store.readMessages("s1", page), isCode("STORE_CORRUPT"));
  await assert.rejects(store.getSession("s1"), isCode("STORE_CORRUPT"));
  const input = { id: "s2", source: "cli", startedAt: 1 };
  await assert.rejects(store.createSession(input), isCode("STORE_CORRUPT"));
  assert.partialDeepStrictEqual(await store.ping(), { ok: false, code: "STORE_CORRUPT" });
  const problems = await store.check();
  assert.ok(problems.length > 0);
  assert.deepEqual(readFileSync(path), bytes);
});

function pagesOf(path: string, table: string): readonly number[] {
  const connection = openConnection(path, { readOnly: true });
  try {
    const rows = connection.all<{ page: number }>(
      "SELECT pageno AS page FROM dbstat WHERE name = ?",
      table,
    );
    return rows.map((row) => row.page);
  } finally {
    connection.close();
  }
}

function isCode(code: string): (error: unknown) => boolean {
  return (error) => isHermesError(error, code);
}

test("a home that stays locked is STORE_BUSY after 20 s", async (t) => {
  const home = tempDir(t);
  await fill(home);
  intrude(t, home).exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
  const error = await refusal(open(home, hurriedClock()));
  assert.deepEqual([error.code, error.exit], ["STORE_BUSY", 1]);
  assert.match(error.message, /waited 2\d s/);
});

/** Each wait takes five seconds by this clock and none by the wall's. */
function hurriedClock(): Clock {
  let ms = 0;
  return {
    now: () => ms,
    monotonicMs: () => ms,
    after(_delayMs, run) {
      ms += 5000;
      const handle = setImmediate(run);
      return { cancel: () => clearImmediate(handle) };
    },
  };
}

for (const mode of ["wal", "delete"] as const) {
  test(`a write waits for another writer, then goes through (${mode})`, async (t) => {
    const home = tempDir(t);
    const clock = new FakeClock();
    const store = await open(home, clock, mode);
    t.after(() => store.close());
    const other = intrude(t, home);
    other.exec("BEGIN EXCLUSIVE");
    const making = store.createSession({ id: "s1", source: "cli", startedAt: 1 });
    await until("it waits", () => clock.pending > 0);
    other.exec("ROLLBACK");
    await clock.advance(200);
    assert.equal((await making).id, "s1");
  });

  test(`limits: 20 s for a session, 60 s for transcript rows (${mode})`, async (t) => {
    const home = tempDir(t);
    const store = await open(home, hurriedClock(), mode);
    t.after(() => store.close());
    await store.createSession({ id: "s1", source: "cli", startedAt: 1 });
    intrude(t, home).exec("BEGIN IMMEDIATE");
    const waits = [
      [/waited 2\d s/, () => store.updateSession("s1", { pinned: true })],
      [/waited 2\d s/, () => store.setMeta("k", "v")],
      [
        /waited 6\d s/,
        () => store.appendMessages("s1", [{ role: "user", content: "x", timestamp: 1 }]),
      ],
      [/waited 6\d s/, () => store.deactivateFrom("s1", 1)],
    ] as const;
    for (const [message, run] of waits)
      await assert.rejects(run(), { code: "STORE_BUSY", message });
    assert.equal((await store.getSession("s1"))?.messageCount, 0);
  });
}

test("ping answers at once while another process writes", async (t) => {
  for (const mode of ["wal", "delete"] as const) {
    const home = tempDir(t);
    const store = await open(home, new FakeClock(), mode);
    t.after(() => store.close());
    await store.createSession({ id: "s1", source: "cli", startedAt: 1 });
    assert.deepEqual(await store.ping(), { ok: true, code: null, total: 1 });
    const other = intrude(t, home);
    other.exec(mode === "wal" ? "BEGIN IMMEDIATE" : "BEGIN EXCLUSIVE");
    const expected =
      mode === "wal"
        ? { ok: true, code: null, total: 1 }
        : { ok: false, code: "STORE_BUSY", total: 1 };
    assert.deepEqual(await store.ping(), expected);
  }
});

test("half a transaction of a dead process is undone before the next read", async (t) => {
  const [home, work] = [tempDir(t), tempDir(t)];
  await fill(home);
  const store = await open(home, systemClock, "delete");
  t.after(() => store.close());
  copyFileSync(join(home, "state.db"), join(work, "state.db"));
  const dying = intrude(t, work);
  // A cache of one page: changed pages go to the file before the commit, the old ones to the journal.
  dying.exec("PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE messages SET content = 'half'");
  const files = ["state.db-journal", "state.db"].map(
    (name) => [name, readFileSync(join(work, name))] as const,
  );
  dying.exec("ROLLBACK");
  assert.equal((await store.getSession("s1"))?.messageCount, 200);
  for (const [name, bytes] of files) writeFileSync(join(home, name), bytes);
  const { messages } = await store.readMessages("s1", { limit: 500, order: "asc" });
  assert.equal(messages.length, 200);
  assert.deepEqual(
    messages.filter((row) => row.content === "half"),
    [],
  );
  assert.deepEqual(await store.check(), []);
});

test("the change token sees other processes", async (t) => {
  const home = tempDir(t);
  const mine = await open(home);
  const other = await open(home);
  t.after(() => Promise.all([mine.close(), other.close()]));
  await mine.createSession({ id: "s1", source: "cli", startedAt: 1 });
  const before = await mine.changeToken();
  assert.equal(await mine.changeToken(), before);
  await other.appendMessages("s1", [{ role: "user", content: "x", timestamp: 1 }]);
  assert.notEqual(await mine.changeToken(), before);
});

test("an integer beyond 2^53 is refused, not rounded", async (t) => {
  const home = tempDir(t);
  await fill(home);
  const other = intrude(t, home);
  other.exec("UPDATE sessions SET input_tokens = 9007199254740993");
  const store = await open(home);
  t.after(() => store.close());
  await assert.rejects(store.getSession("s1"), isCode("STORE_NUMBER"));
});

test("after close nothing works any more, and closing twice is fine", async (t) => {
  const store = await open(tempDir(t));
  await store.close();
  await store.close();
  await assert.rejects(store.getSession("s1"), isCode("STORE_CLOSED"));
  assert.partialDeepStrictEqual(await store.ping(), { ok: false });
});
