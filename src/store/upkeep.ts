// Keeping the store small and sound: prune, optimise, check, back up (agent.md §6.3, §6.6).
import { chmodSync, closeSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import type { SessionStore, StoreStats } from "#agent/ports/session-store.ts";
import { HermesError, isHermesError, messageOf } from "#base/errors.ts";
import { randomHex } from "#base/ids.ts";
import type { SessionRow } from "#protocol/messages.ts";
import type { StoreContext } from "./context.ts";
import { nextTurn } from "./context.ts";
import { failureOf, storeError } from "./failures.ts";
import { foreignLeases, liveLease } from "./live-leases.ts";
import { getMeta, setMeta } from "./meta.ts";
import { findSession, removeSession, selectSessions } from "./sessions.ts";
import { type Connection, loadSqlite, type Sql, type Value } from "./sqlite.ts";
import { buildIndex, indexedFrom } from "./text-index.ts";
import { BUSY_LIMIT_MS, whileBusy } from "./transaction.ts";

/** Everything in one step of SQLite's backup: a copy in small steps would begin again at each write of another process. */
const ALL_PAGES = 0x3fff_ffff;

const HAS_OPEN_DELIVERY =
  "EXISTS (SELECT 1 FROM deliveries d WHERE d.session_id = sessions.id AND d.state IN ('pending', 'sending'))";

type PruneOptions = Parameters<SessionStore["prune"]>[0];

function prunable(sql: Sql, context: StoreContext, options: PruneOptions): readonly SessionRow[] {
  const values: Value[] = [options.olderThan];
  if (options.source !== undefined) values.push(options.source);
  const rows = selectSessions(
    sql,
    `WHERE coalesce(ended_at, last_active_at, started_at) < ? ${options.source === undefined ? "" : "AND source = ?"}
      AND coalesce(pinned, 0) = 0 AND NOT ${HAS_OPEN_DELIVERY} ORDER BY started_at, id`,
    ...values,
  );
  return rows.filter((row) => !isLeased(sql, context, row.id));
}

function isLeased(sql: Sql, context: StoreContext, id: string): boolean {
  return liveLease(sql, context, id, context.clock.now() / 1000) !== null;
}

async function prune(context: StoreContext, options: PruneOptions): Promise<readonly SessionRow[]> {
  const rows = await context.read((sql) => prunable(sql, context, options));
  if (options.dryRun) return rows;
  const gone: SessionRow[] = [];
  for (const row of rows) {
    if (await removeUnchanged(context, row)) gone.push(row);
    await nextTurn();
  }
  const now = String(context.clock.now() / 1000);
  await context.write((sql) => setMeta(sql, "last_prune_at", now));
  return gone;
}

/** One transaction per session; what somebody used since it was listed stays. */
function removeUnchanged(context: StoreContext, listed: SessionRow): Promise<boolean> {
  return context.write((sql) => {
    const now = findSession(sql, listed.id);
    if (!now || now.lastActiveAt !== listed.lastActiveAt || now.pinned) return false;
    if (isLeased(sql, context, listed.id)) return false;
    removeSession(sql, listed.id);
    return true;
  });
}

async function deleteEmpty(context: StoreContext, dryRun: boolean): Promise<number> {
  const rows = await context.read((sql) =>
    selectSessions(
      sql,
      `WHERE coalesce(pinned, 0) = 0 AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.session_id = sessions.id)
        AND NOT ${HAS_OPEN_DELIVERY}`,
    ).filter((row) => !isLeased(sql, context, row.id)),
  );
  if (dryRun) return rows.length;
  let count = 0;
  for (const row of rows) if (await removeUnchanged(context, row)) count++;
  return count;
}

/** Refused while another process runs a turn: VACUUM and merging hold the file for long. */
async function optimise(context: StoreContext, writer: Connection): Promise<void> {
  await context.read((sql) => {
    const other = foreignLeases(sql, context, context.clock.now() / 1000)[0];
    if (!other) return;
    throw new HermesError(
      "SESSION_BUSY",
      `a turn from ${other.owner.surface} runs in another process`,
      {
        fix: "Try again when it is done.",
        data: { holder: other.owner.surface },
      },
    );
  });
  await buildIndex(context, context.clock, () => context.isClosing());
  await context.write((sql) => {
    for (const index of ["messages_fts", "messages_fts_trigram"]) {
      sql.run(`INSERT INTO ${index}(${index}) VALUES ('optimize')`);
    }
  });
  const patience = { path: context.path, clock: context.clock, random: Math.random };
  await whileBusy(
    () => {
      writer.exec("PRAGMA optimize");
      writer.exec("VACUUM");
    },
    { ...patience, limitMs: BUSY_LIMIT_MS },
  );
}

/** Reads only; on a connection of its own, because damage that ended the shared one must still be told. */
async function check(context: StoreContext): Promise<readonly string[]> {
  await settleJournal(context);
  const connection = context.openReader();
  try {
    const problems = connection
      .all<{ integrity_check: string }>("PRAGMA integrity_check")
      .map((row) => row.integrity_check)
      .filter((line) => line !== "ok");
    const orphans = connection.all<{ table: string; parent: string }>("PRAGMA foreign_key_check");
    for (const { table, parent } of orphans.slice(0, 20)) {
      problems.push(`a row of ${table} names a row of ${parent} that does not exist`);
    }
    if (indexedFrom(connection) > 0) {
      problems.push("the text index is not complete: hermes sessions optimize finishes it");
    }
    return problems;
  } catch (error) {
    if (failureOf(error) !== "corrupt") throw storeError(error, context.path, 0);
    const damage = storeError(error, context.path, 0) as HermesError;
    return [`${damage.message}. ${damage.fix ?? ""}`];
  } finally {
    connection.close();
  }
}

/** What a dead process left half done is undone by any read of the shared connections; one of its own could not. */
async function settleJournal(context: StoreContext): Promise<void> {
  try {
    await context.read(indexedFrom);
  } catch (error) {
    if (!isHermesError(error, "STORE_CORRUPT")) throw error;
  }
}

/** To `path`, which is replaced only by a whole copy, mode 0600. */
export async function copyDatabase(source: Connection, path: string): Promise<void> {
  const temporary = `${path}.${randomHex(8)}.tmp`;
  closeSync(openSync(temporary, "wx", 0o600));
  try {
    await loadSqlite().backup(source.database, temporary, { rate: ALL_PAGES });
    chmodSync(temporary, 0o600);
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}

async function backup(context: StoreContext, path: string): Promise<void> {
  await settleJournal(context);
  const source = context.openReader();
  try {
    await copyDatabase(source, path);
  } catch (error) {
    throw new HermesError(
      "BACKUP_FAILED",
      `the copy to ${path} was not made: ${messageOf(error)}`,
      {
        fix: "Choose a folder that can be written and has room for the whole database.",
        cause: error,
      },
    );
  } finally {
    source.close();
  }
}

function stats(sql: Sql, path: string): StoreStats {
  const rows = sql.all<{ source: string; count: number }>(
    "SELECT source, count(*) AS count FROM sessions GROUP BY source ORDER BY source",
  );
  const messages = sql.get<{ count: number }>("SELECT count(*) AS count FROM messages");
  const size = (suffix: string): number =>
    statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0;
  return {
    sessions: rows.reduce((sum, row) => sum + row.count, 0),
    messages: messages?.count ?? 0,
    bySource: Object.fromEntries(rows.map((row) => [row.source, row.count])),
    sizeBytes: size("") + size("-wal"),
  };
}

type UpkeepMethods = Pick<
  SessionStore,
  "prune" | "deleteEmpty" | "optimise" | "check" | "backup" | "stats" | "getMeta" | "setMeta"
>;

export function upkeepMethods(context: StoreContext, writer: Connection): UpkeepMethods {
  const { read, write } = context;
  return {
    prune: (options) => prune(context, options),
    deleteEmpty: ({ dryRun }) => deleteEmpty(context, dryRun),
    optimise: () => optimise(context, writer),
    check: () => check(context),
    backup: (path) => backup(context, path),
    stats: () => read((sql) => stats(sql, context.path)),
    getMeta: (key) => read((sql) => getMeta(sql, key)),
    setMeta: (key, value) => write((sql) => setMeta(sql, key, value)),
  };
}
