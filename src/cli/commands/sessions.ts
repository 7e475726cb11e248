// `hermes sessions` (agent.md §1.3, §6).
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { SessionStore } from "#agent/ports/session-store.ts";
import { EXIT, type ExitCode } from "#base/exit-codes.ts";
import { HermesError } from "#base/errors.ts";
import type { SessionRow } from "#protocol/messages.ts";
import { findSession } from "#session/find-session.ts";
import { usageError, type OptionValues } from "../command-line.ts";
import { confirm } from "../confirm.ts";
import { flagOption, numberOption, textOption, type Context } from "../context.ts";
import { localMinute, sessionLines } from "../session-lines.ts";
import { markdownOf, readAllMessages } from "../session-markdown.ts";
import { withNewStore, withStore, type StoreAccess } from "../store-command.ts";

type Action = (context: Context, access: StoreAccess) => Promise<ExitCode>;

const ACTIONS: Readonly<Record<string, Action>> = {
  list,
  show,
  search,
  rename,
  delete: remove,
  export: exportSessions,
  prune,
  stats,
  optimize,
  check,
};

const DAY = 86_400;
const DEFAULT_LIMIT = 20;

export async function run(context: Context): Promise<ExitCode> {
  const name = context.line.path[1] ?? "";
  if (name === "import") return importSessions(context);
  const action = ACTIONS[name];
  if (!action) throw new Error(`no action for ${name}`);
  const code = await withStore(context.launch, (access) => action(context, access));
  return code ?? nothingKept(context, name);
}

/** There is no state.db: lists are empty, a session that was asked for does not exist. */
function nothingKept({ line, io }: Context, name: string): ExitCode {
  const reference = line.operands[0];
  if (reference !== undefined && name !== "search") throw notFound(reference);
  if (io.json)
    io.object(
      name === "stats"
        ? { sessions: 0, messages: 0 }
        : { [name === "search" ? "hits" : "sessions"]: [] },
    );
  else io.note("No conversation was kept here yet.");
  return EXIT.ok;
}

function notFound(reference: string): HermesError {
  return new HermesError("SESSION_NOT_FOUND", `There is no session "${reference}".`, {
    fix: "List them: hermes sessions list --all",
  });
}

async function list({ line, io }: Context, { store }: StoreAccess): Promise<ExitCode> {
  const { options } = line;
  const { sessions, total } = await store.listSessions({
    ...filterOf(options),
    ...(flagOption(options, "all") ? { archived: true } : {}),
    limit: numberOption(options, "limit") ?? DEFAULT_LIMIT,
    offset: 0,
  });
  if (io.json) io.object({ sessions: sessions.map(asJson), total });
  else {
    for (const text of sessionLines(sessions)) io.line(text);
    if (total > sessions.length) io.note(`${sessions.length} of ${total}; more with --limit N`);
  }
  return EXIT.ok;
}

function filterOf(options: OptionValues): { source?: string; all?: boolean } {
  const source = textOption(options, "source");
  return {
    ...(source === undefined ? {} : { source }),
    ...(flagOption(options, "all") ? { all: true } : {}),
  };
}

function asJson(row: SessionRow): Readonly<Record<string, unknown>> {
  return {
    id: row.id,
    title: row.title,
    source: row.source,
    model: row.model,
    started_at: row.startedAt,
    last_active_at: row.lastActiveAt,
    message_count: row.messageCount,
    state: row.state,
    parent_id: row.parentSessionId,
  };
}

async function show({ line, io }: Context, { store, config }: StoreAccess): Promise<ExitCode> {
  const row = await one(store, line.operands[0] ?? "");
  const messages = await readAllMessages(store, row.id);
  if (io.json) io.object({ session: asJson(row), messages: config.redactor.value(messages) });
  else io.write(config.redactor.text(markdownOf(row, messages)));
  return EXIT.ok;
}

async function search({ line, io }: Context, { store }: StoreAccess): Promise<ExitCode> {
  const limit = numberOption(line.options, "limit") ?? DEFAULT_LIMIT;
  const query = line.operands.join(" ");
  const { hits, partial } = await store.search(query, { ...filterOf(line.options), limit });
  if (io.json) {
    const rows = hits.map((hit) => ({
      session_id: hit.sessionId,
      root_id: hit.rootId,
      title: hit.title,
      source: hit.source,
      model: hit.model,
      started_at: hit.startedAt,
      role: hit.role,
      message_id: hit.messageId,
      snippet: hit.snippet,
    }));
    io.object({ hits: rows, partial });
    return EXIT.ok;
  }
  for (const hit of hits) {
    io.line(`${hit.sessionId}  ${localMinute(hit.startedAt)}  ${hit.title ?? ""}`);
    io.line(`    ${hit.role}: ${hit.snippet.replaceAll(/\s+/g, " ")}`);
  }
  if (hits.length === 0) io.note("Nothing found.");
  if (partial) io.note("The index is not complete yet; older messages may be missing.");
  return EXIT.ok;
}

async function rename({ line, io }: Context, { store }: StoreAccess): Promise<ExitCode> {
  const [reference, ...words] = line.operands;
  const row = await one(store, reference ?? "");
  const { cleanUserTitle } = await import("#agent/title.ts");
  const title = cleanUserTitle(words.join(" "));
  if (title === null) throw usageError("The title holds nothing that can be shown.");
  const renamed = await store.updateSession(row.id, { title, titleSource: "user" });
  if (io.json) io.object({ session: asJson(renamed) });
  else io.line(`${row.id}  ${renamed.title ?? ""}`);
  return EXIT.ok;
}

async function remove(context: Context, { store }: StoreAccess): Promise<ExitCode> {
  const { line, io } = context;
  const row = await exactly(store, line.operands[0] ?? "");
  const what = `${row.id}${row.title === null ? "" : ` "${row.title}"`} with ${row.messageCount} messages`;
  await confirm(context, `Delete ${what}?`, `hermes sessions delete ${row.id} -y`);
  await store.deleteSession(row.id);
  if (io.json) io.object({ deleted: [row.id] });
  else io.line(`Deleted ${row.id}.`);
  return EXIT.ok;
}

async function exportSessions({ line, io }: Context, access: StoreAccess): Promise<ExitCode> {
  const { store, config } = access;
  const all = flagOption(line.options, "all");
  if (!all && line.operands.length === 0)
    throw usageError("Name the sessions to export, or give --all.");
  const rows: SessionRow[] = [];
  for (const reference of line.operands) rows.push(await exactly(store, reference));
  const redact = flagOption(line.options, "redact") ? config.redactor : null;
  if (textOption(line.options, "format") === "md") {
    for await (const row of all ? everySession(store) : rows) {
      const text = markdownOf(row, await readAllMessages(store, row.id));
      await put(io, `${redact ? redact.text(text) : text}\n`);
    }
    return EXIT.ok;
  }
  for await (const text of store.exportLines(all ? [] : rows.map((row) => row.id))) {
    await put(io, `${redact ? JSON.stringify(redact.value(JSON.parse(text))) : text}\n`);
  }
  return EXIT.ok;
}

async function* everySession(store: SessionStore): AsyncGenerator<SessionRow> {
  const limit = 200;
  for (let offset = 0; ; offset += limit) {
    const { sessions } = await store.listSessions({ all: true, limit, offset });
    yield* sessions;
    if (sessions.length < limit) return;
  }
}

/** Waits for a slow reader: a whole store does not fit into memory twice. */
async function put(io: Context["io"], text: string): Promise<void> {
  if (io.stdout.write(text) || io.stdout.destroyed) return;
  await new Promise<void>((resolve) => {
    io.stdout.once("drain", resolve);
    io.stdout.once("close", resolve);
  });
}

async function importSessions({ launch, line, io }: Context): Promise<ExitCode> {
  const file = line.operands[0] ?? "-";
  const input = file === "-" ? io.stdin : await openInput(file);
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  const report = await withNewStore(launch, ({ store }) => store.importLines(lines));
  if (io.json) io.object({ ...report });
  else {
    io.line(`${report.imported} imported, ${report.skipped} already here.`);
    for (const { from, to } of report.renamed)
      io.line(`${from} is another session here; it came in as ${to}.`);
  }
  return EXIT.ok;
}

async function openInput(file: string): Promise<NodeJS.ReadableStream> {
  const input = createReadStream(file);
  await new Promise<void>((resolve, reject) => {
    input.once("open", () => resolve());
    input.once("error", (error) => reject(usageError(`${error.message}.`)));
  });
  return input;
}

async function prune(context: Context, { store, loaded }: StoreAccess): Promise<ExitCode> {
  const { line, io } = context;
  const days = numberOption(line.options, "olderThan") ?? loaded.config.sessions.retention_days;
  const olderThan = Date.now() / 1000 - days * DAY;
  const found = await store.prune({ olderThan, dryRun: true });
  const dryRun = flagOption(line.options, "dryRun");
  if (!dryRun && found.length > 0) {
    await confirm(
      context,
      `Delete ${found.length} sessions without activity for ${days} days?`,
      `hermes sessions prune --older-than ${days} -y`,
    );
    await store.prune({ olderThan, dryRun: false });
  }
  if (io.json) io.object({ sessions: found.map(asJson), deleted: !dryRun });
  else {
    if (found.length > 0) for (const text of sessionLines(found)) io.line(text);
    io.note(`${found.length} sessions ${dryRun ? "would be deleted" : "deleted"}.`);
  }
  return EXIT.ok;
}

async function stats({ io }: Context, { store }: StoreAccess): Promise<ExitCode> {
  const { sessions, messages, bySource, sizeBytes } = await store.stats();
  if (io.json) io.object({ sessions, messages, by_source: bySource, size_bytes: sizeBytes });
  else {
    io.line(
      `${sessions} sessions, ${messages} messages, ${(sizeBytes / 1024 / 1024).toFixed(1)} MB`,
    );
    for (const [source, count] of Object.entries(bySource)) io.line(`  ${source}: ${count}`);
  }
  return EXIT.ok;
}

async function optimize({ io }: Context, { store }: StoreAccess): Promise<ExitCode> {
  const before = (await store.stats()).sizeBytes;
  await store.optimise();
  const after = (await store.stats()).sizeBytes;
  if (io.json) io.object({ before_bytes: before, after_bytes: after });
  else io.line(`${before} → ${after} bytes`);
  return EXIT.ok;
}

async function check({ io }: Context, { store, loaded }: StoreAccess): Promise<ExitCode> {
  const problems = await store.check();
  if (io.json) io.object({ problems });
  else if (problems.length === 0) io.line("No damage found.");
  else {
    for (const problem of problems) io.line(`✗ ${problem}`);
    io.note(
      `Stop everything that uses ${loaded.home}, keep state.db aside, and put a copy from ${loaded.home}/backups in its place.`,
    );
  }
  return problems.length === 0 ? EXIT.ok : EXIT.failed;
}

/** Followed to the newest of its lineage: for looking and naming. */
function one(store: SessionStore, reference: string): Promise<SessionRow> {
  return findSession(store, reference);
}

/** The very session that was named: for deleting and exporting. */
async function exactly(store: SessionStore, reference: string): Promise<SessionRow> {
  const found = await store.resolveSession(reference);
  switch (found.found) {
    case "one":
      return found.session;
    case "none":
      throw notFound(reference);
    case "many":
      throw new HermesError("SESSION_AMBIGUOUS", `"${reference}" fits several sessions.`, {
        exit: EXIT.usage,
        fix: `One of: ${found.candidates.map((row) => row.id).join(", ")}`,
        data: { candidates: found.candidates.map((row) => ({ id: row.id, title: row.title })) },
      });
  }
}
