// Opens the store of one home: the file, its journal mode, its schema, and the port over it (agent.md §6).
import { randomBytes } from "node:crypto";
import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  type Stats,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { SessionStore, StorePing } from "#agent/ports/session-store.ts";
import type { Clock } from "#base/clock.ts";
import { errnoOf, isHermesError } from "#base/errors.ts";
import type { Log } from "#base/log.ts";
import { isAlive as isAliveNow, type ProcessIdentity } from "#base/process-identity.ts";
import type { StoreContext } from "./context.ts";
import { draftMethods } from "./drafts.ts";
import { exportLines } from "./export.ts";
import { failureOf, readOnlyError, refusedError } from "./failures.ts";
import { type JournalMode, placeOf } from "./file-system.ts";
import { importLines } from "./import.ts";
import { inboundMethods } from "./inbound.ts";
import { leaseMethods } from "./leases.ts";
import { readTakeoverFiles, takeTakeoverFiles, wantsTakeoverFiles } from "./takeover-files.ts";
import { messageMethods } from "./messages.ts";
import { addMissing, findSchema, missingColumns, pendingSteps, takeStep } from "./schema.ts";
import { searchMethods } from "./search.ts";
import { sessionMethods } from "./sessions.ts";
import { type Connection, openConnection, type Sql } from "./sqlite.ts";
import { buildIndex, indexedFrom } from "./text-index.ts";
import { BUSY_LIMIT_MS, BUSY_TIMEOUT_MS, makeTransactions, whileBusy } from "./transaction.ts";
import { turnMethods } from "./turns.ts";
import { copyDatabase, upkeepMethods } from "./upkeep.ts";
import { usageMethods } from "./usage.ts";
import { attachVocabulary } from "./vocabulary.ts";

export interface StoreOptions {
  /** The home's state.db; made with mode 0600 when missing. */
  readonly path: string;
  /** Where a copy goes before a file of the Python version is taken over. */
  readonly backupsDir: string;
  /** `database.journal_mode`. */
  readonly journalMode: "auto" | "wal" | "delete";
  readonly clock: Clock;
  readonly log: Log;
  readonly isAlive?: (identity: ProcessIdentity) => boolean;
  /** Text of /proc/self/mountinfo, for tests. */
  readonly mountinfo?: string;
}

/**
 * Throws HermesError: STORE_NEWER and STORE_FOREIGN (78, nothing written), STORE_READONLY, STORE_CORRUPT, STORE_FULL,
 * STORE_BUSY after 20 s.
 */
export async function openStore(options: StoreOptions): Promise<SessionStore> {
  createFile(options.path);
  assertFile(options.path);
  assertWritable(options.path);
  const writer = await openWriter(options);
  try {
    await prepareSchema(writer, options);
    return await assemble(writer, options);
  } catch (error) {
    writer.close();
    throw error;
  }
}

/** Only ever made, never opened here when it exists: closing that descriptor would drop SQLite's locks on the file. */
function createFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw readOnlyError(path, error);
  }
}

/** SQLite would call a pipe or a device at this path a broken disk. */
function assertFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  throw refusedError(
    "STORE_FOREIGN",
    `${path} is ${kindOf(found)}, not a file; nothing was written`,
    "Move it away and start again: Hermes makes its own.",
  );
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return "a folder";
  if (found.isFIFO()) return "a named pipe";
  return found.isSocket() ? "a socket" : "a device";
}

/** SQLite opens a file that it may not write without a word; journals need the folder. */
function assertWritable(path: string): void {
  try {
    for (const needed of [path, dirname(path)]) accessSync(needed, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw readOnlyError(path, error);
  }
}

function patience(options: StoreOptions): Parameters<typeof whileBusy>[1] {
  return { path: options.path, clock: options.clock, random: Math.random, limitMs: BUSY_LIMIT_MS };
}

async function openWriter(options: StoreOptions): Promise<Connection> {
  const { path } = options;
  const attempt = <T>(run: () => T): Promise<T> =>
    whileBusy(() => orReadOnly(path, run), patience(options));
  const writer = await attempt(() => openConnection(path, { timeout: BUSY_TIMEOUT_MS }));
  try {
    // First of all, and before anything is written: a newer schema is left as it is.
    await attempt(() => void findSchema(writer, path));
    const mode = chooseJournalMode(options);
    await attempt(() => setJournalMode(writer, mode));
    return writer;
  } catch (error) {
    writer.close();
    throw error;
  }
}

/** While opening, a file that cannot be opened or written is a home without write access, not a full disk. */
function orReadOnly<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    const failure = failureOf(error);
    if (failure === "read-only" || failure === "cannot-open") throw readOnlyError(path, error);
    throw error;
  }
}

const warned = new Set<string>();

function chooseJournalMode({ path, log, journalMode, mountinfo }: StoreOptions): JournalMode {
  const place = placeOf(path, journalMode, mountinfo);
  if (place.warn && !warned.has(path)) {
    warned.add(path);
    log.warn("state.db lies on a network or virtual file system: journal mode DELETE is used", {
      path,
      type: place.type,
      setting: "database.journal_mode",
    });
  }
  return place.journalMode;
}

function setJournalMode(writer: Connection, mode: JournalMode): void {
  const now = writer.get<{ journal_mode: string }>("PRAGMA journal_mode")?.journal_mode;
  if (now !== mode) writer.exec(`PRAGMA journal_mode = ${mode}`);
  writer.exec(`PRAGMA synchronous = ${mode === "wal" ? "NORMAL" : "FULL"}`);
  writer.exec("PRAGMA foreign_keys = ON");
  writer.exec("PRAGMA journal_size_limit = 16777216");
}

async function prepareSchema(writer: Connection, options: StoreOptions): Promise<void> {
  const { path } = options;
  const found = await whileBusy(() => findSchema(writer, path), patience(options));
  if (found.kind === "python") await keepCopy(writer, options);
  const { write } = makeTransactions({ ...patience(options), writer, reader: writer });
  for (const schema of pendingSteps(found)) await write((sql) => takeStep(sql, schema, path));
  if ((await whileBusy(() => missingColumns(writer), patience(options))).size > 0)
    await write(addMissing);
  if (await whileBusy(() => wantsTakeoverFiles(writer), patience(options))) {
    const files = readTakeoverFiles(path, options.log);
    await write((sql) => takeTakeoverFiles(sql, files, options.clock.now() / 1000));
  }
}

/** A copy before the first change, where the disk has room for 1.2 times the file; else one warning. */
async function keepCopy(
  writer: Connection,
  { path, backupsDir, clock, log }: StoreOptions,
): Promise<void> {
  try {
    mkdirSync(backupsDir, { recursive: true, mode: 0o750 });
    const disk = statfsSync(backupsDir);
    const need = statSync(path).size * 1.2;
    if (disk.bavail * disk.bsize < need) throw new Error("the disk has not enough room");
    const stamp = new Date(clock.now()).toISOString().slice(0, 19).replace(/[-:]/g, "");
    await copyDatabase(writer, join(backupsDir, `state-${stamp}Z.db`));
  } catch (error) {
    log.warn("no copy of state.db was made before it was taken over", {
      path,
      backupsDir,
      reason: error instanceof Error ? error.message : String(error),
    });
  }
}

async function assemble(writer: Connection, options: StoreOptions): Promise<SessionStore> {
  const { path, clock, log, isAlive = isAliveNow } = options;
  const openReader = (): Connection =>
    openConnection(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  const reader = await whileBusy(openReader, patience(options));
  try {
    await whileBusy(() => attachVocabulary(reader), patience(options));
    let closing = false;
    const transactions = makeTransactions({ ...patience(options), writer, reader });
    const context: StoreContext = {
      ...transactions,
      path,
      clock,
      log,
      isAlive,
      openReader,
      isClosing: () => closing,
    };
    const indexing = finishIndex(context);
    return {
      ...lifeMethods(context),
      ...sessionMethods(context),
      ...messageMethods(context),
      ...leaseMethods(context),
      ...turnMethods(context),
      ...draftMethods(context),
      ...searchMethods(context),
      ...usageMethods(context),
      ...inboundMethods(context),
      ...upkeepMethods(context, writer),
      exportLines: (ids) => exportLines(context, ids),
      importLines: (lines) => importLines(context, lines),
      async close() {
        closing = true;
        await indexing;
        // The writer last: the last connection to close folds the write-ahead log into the file.
        reader.close();
        writer.close();
      },
    };
  } catch (error) {
    reader.close();
    throw error;
  }
}

/** What an earlier process, or taking over a file, left to index. Search says `partial` until it is done. */
async function finishIndex(context: StoreContext): Promise<void> {
  try {
    if ((await context.read(indexedFrom)) === 0) return;
    await buildIndex(context, context.clock, () => context.isClosing());
  } catch (error) {
    context.log.warn("the text index was not finished; the next start goes on with it", {
      code: isHermesError(error) ? error.code : "unknown",
    });
  }
}

function lifeMethods(context: StoreContext): Pick<SessionStore, "ping" | "changeToken"> {
  // Tokens of two processes must not be taken for each other: data_version is a connection's own counter.
  const own = randomBytes(4).toString("hex");
  let total = 0;
  return {
    async ping(): Promise<StorePing> {
      try {
        total = context.readNow(countSessions);
        return { ok: true, code: null, total };
      } catch (error) {
        return { ok: false, code: isHermesError(error) ? error.code : "STORE_IO", total };
      }
    },
    changeToken: async () => {
      const row = await context.read((sql) =>
        sql.get<{ data_version: number }>("PRAGMA data_version"),
      );
      return `${own}.${row?.data_version ?? 0}`;
    },
  };
}

function countSessions(sql: Sql): number {
  return sql.get<{ count: number }>("SELECT count(*) AS count FROM sessions")?.count ?? 0;
}
