// Compression of a conversation into a child session (agent.md §4.7). The parent stays as it was, ended `compressed`.
import { epochSeconds } from "#base/clock.ts";
import { HermesError, isHermesError, messageOf } from "#base/errors.ts";
import type { SessionRow, StoredMessage, Usage } from "#protocol/messages.ts";
import {
  copyRow,
  planCompression,
  trimResult,
  trimResults,
  triggerTokens,
} from "./compress-plan.ts";
import type { CompressionPlan } from "./compress-plan.ts";
import { summaryContent, summaryRequest, SUMMARY_SYSTEM } from "./compress-summary.ts";
import type { ModelTarget } from "./ports/model-client.ts";
import type { NewMessage } from "./ports/session-store.ts";
import type { TurnDeps } from "./ports/turn.ts";
import { nextInLineage } from "./title.ts";
import { estimateRows } from "./token-estimate.ts";
import { bookUsage } from "./turn.ts";
import { watchedStream } from "./watched-stream.ts";

/** Waits after failures in a row before the next try of its own accord. */
const BACK_OFF_MS = [60_000, 300_000, 900_000];
/** Removing bulky results is enough when it brings the prompt to this share of the trigger. */
const ENOUGH = 0.75;
/** Share of the summariser's window that the transcript may fill. */
const TRANSCRIPT_SHARE = 0.6;
const MAX_TITLE_TRIES = 50;

export type CompressReason = "threshold" | "context" | "request";

export interface CompressJob {
  readonly deps: TurnDeps;
  readonly session: SessionRow;
  readonly rows: readonly StoredMessage[];
  readonly target: ModelTarget;
  /** Window to fit into, in tokens. */
  readonly window: number;
  /** Tokens of system prompt and tools by estimate. */
  readonly fixedTokens: number;
  readonly reason: CompressReason;
  readonly focus: string | null;
  readonly signal: AbortSignal;
  /** Counts the summary's tokens. */
  count(target: ModelTarget, usage: Usage): Promise<void>;
}

export type CompressResult =
  | { readonly ok: true; readonly session: SessionRow; readonly rows: StoredMessage[] }
  | { readonly ok: false };

export interface CompressOptions {
  /** What the summary should keep above all (`/compress FOCUS`). */
  readonly focus?: string;
  readonly signal: AbortSignal;
}

/**
 * For `/compress`, between turns; the caller holds the lease. A summary that fails gives `ok: false` with a notice and
 * leaves everything as it was. Throws HermesError of the store or of the choice of model.
 */
export async function compressSession(
  sessionId: string,
  deps: TurnDeps,
  options: CompressOptions,
): Promise<{ readonly ok: boolean; readonly sessionId: string }> {
  const session = await deps.store.getSession(sessionId);
  if (!session) throw new HermesError("SESSION_NOT_FOUND", `there is no session ${sessionId}`);
  const target = await deps.target();
  const { messages } = await deps.store.loadHistory(sessionId);
  deps.emit({ type: "status", state: "compressing" });
  try {
    const result = await compressRows({
      deps,
      session,
      rows: messages,
      target,
      window: target.contextWindow,
      fixedTokens: 0,
      reason: "request",
      focus: options.focus ?? null,
      signal: options.signal,
      count: (by, usage) => bookUsage(deps, sessionId, by, usage),
    });
    return { ok: result.ok, sessionId: result.ok ? result.session.id : sessionId };
  } finally {
    deps.emit({ type: "status", state: "idle" });
  }
}

/** Emits `compress-start`, `compress-end`, then `session-change` or the notice `COMPRESS_FAILED`. Throws only what the store throws. */
export async function compressRows(job: CompressJob): Promise<CompressResult> {
  const { deps, session } = job;
  const rows = job.rows.filter((row) => row.kind !== "notice");
  const before = job.fixedTokens + estimateRows(rows);
  deps.emit({ type: "compress-start", reason: job.reason, tokens: before });
  const made = await makeMessages(job, rows);
  if (!made.ok) return failed(job, before, made.why);
  const child = await writeChild(job, made.messages);
  const history = await deps.store.loadHistory(child.id);
  forgetSizes(job);
  deps.emit({
    type: "compress-end",
    ok: true,
    fromSessionId: session.id,
    toSessionId: child.id,
    before,
    after: job.fixedTokens + estimateRows(history.messages),
  });
  tellMoved(job, child, history.messages.at(-1));
  return { ok: true, session: child, rows: [...history.messages] };
}

type Made =
  | { readonly ok: true; readonly messages: readonly NewMessage[] }
  | { readonly ok: false; readonly why: string };

async function makeMessages(job: CompressJob, rows: readonly StoredMessage[]): Promise<Made> {
  const { compression } = job.deps.settings;
  const trigger = triggerTokens(compression, job.window);
  // What prompt and tools take is not there for rows; a window that they nearly fill is still tried.
  const room = Math.max(trigger - job.fixedTokens, trigger / 4);
  const plan = planCompression(rows, compression, room);
  if (!plan) return { ok: false, why: "there is nothing that could be left out" };
  const trimmed = job.reason === "request" ? null : trimResults(plan);
  if (trimmed && job.fixedTokens + sizeOf(trimmed) <= trigger * ENOUGH) {
    return { ok: true, messages: trimmed };
  }
  const notes = await summarise(job, plan);
  if (!notes.ok) return notes;
  const messages = [
    ...plan.head.map(trimResult),
    summaryRow(job, summaryContent(notes.text, plan)),
    ...plan.tail.map(copyRow),
  ];
  return sizeOf(messages) < estimateRows(rows)
    ? { ok: true, messages }
    : { ok: false, why: "the summary was not smaller than what it stands for" };
}

function sizeOf(messages: readonly NewMessage[]): number {
  return estimateRows(messages.map(({ content, toolCalls = null }) => ({ content, toolCalls })));
}

function summaryRow(job: CompressJob, content: string): NewMessage {
  const timestamp = epochSeconds(job.deps.clock);
  return { role: "user", kind: "summary", content: job.deps.redactor.text(content), timestamp };
}

type Notes =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string };

/** By `auxiliary.compression`, else by the session's model. */
async function summarise(job: CompressJob, plan: CompressionPlan): Promise<Notes> {
  const { deps, target } = job;
  const auxiliary = await deps.auxiliary("compression").catch((error: unknown) => {
    deps.log.warn("the model of auxiliary.compression cannot be used", {
      error: messageOf(error),
    });
    return target;
  });
  const notes = await askForNotes(job, auxiliary, plan);
  const isSame = auxiliary.provider === target.provider && auxiliary.model === target.model;
  if (notes.ok || isSame || job.signal.aborted) return notes;
  return askForNotes(job, target, plan);
}

async function askForNotes(
  job: CompressJob,
  target: ModelTarget,
  plan: CompressionPlan,
): Promise<Notes> {
  const { deps } = job;
  const window = Math.min(target.contextWindow, target === job.target ? job.window : Infinity);
  const text = summaryRequest(plan.middle, job.focus, window * TRANSCRIPT_SHARE);
  const request = {
    system: SUMMARY_SYSTEM,
    messages: [{ role: "user" as const, text }],
    tools: [],
    toolChoice: "none" as const,
    effort: "" as const,
    maxOutputTokens: target.maxOutputTokens,
    signal: job.signal,
  };
  let notes = "";
  for await (const event of watchedStream(target, request, deps.clock)) {
    if (event.type === "text-delta") notes += event.text;
    if (event.type === "error") {
      deps.log.error("a summary failed", {
        kind: event.error.kind,
        detail: event.error.logDetail,
      });
      return { ok: false, why: deps.redactor.text(event.error.message) };
    }
    if (event.type === "finish") await job.count(target, event.usage);
  }
  return notes.trim() === ""
    ? { ok: false, why: "the summary was empty" }
    : { ok: true, text: notes };
}

async function writeChild(job: CompressJob, messages: readonly NewMessage[]): Promise<SessionRow> {
  const { deps, session } = job;
  let title = session.title === null ? null : nextInLineage(session.title);
  for (let attempt = 1; ; attempt++) {
    try {
      return await deps.store.compress({
        parentId: session.id,
        child: { ...childOf(job), title },
        messages,
      });
    } catch (error) {
      if (!isHermesError(error, "TITLE_TAKEN") || title === null) throw error;
      title = attempt < MAX_TITLE_TRIES ? nextInLineage(title) : null;
    }
  }
}

function childOf({ deps, session }: CompressJob) {
  const { source, model, modelConfig, titleSource, cwd, userId, sessionKey } = session;
  const id = deps.makeSessionId();
  const parentSessionId = session.id;
  const startedAt = epochSeconds(deps.clock);
  return {
    id,
    source,
    model,
    modelConfig,
    titleSource,
    cwd,
    userId,
    sessionKey,
    parentSessionId,
    startedAt,
  };
}

function forgetSizes({ deps }: CompressJob): void {
  deps.memory.lastPromptTokens = 0;
  deps.memory.lastPromptMessages = 0;
  deps.memory.compressFailures = 0;
  deps.memory.compressRetryAtMs = 0;
}

function tellMoved(
  { deps, session, reason }: CompressJob,
  child: SessionRow,
  last: StoredMessage | undefined,
): void {
  const fromSessionId = session.id;
  deps.emit({ type: "session-change", fromSessionId, toSessionId: child.id, reason });
  if (!last) return;
  const { id: messageId, role, kind } = last;
  deps.emit({ type: "message-saved", messageId, role, kind });
}

function failed(job: CompressJob, before: number, why: string): CompressResult {
  const { deps, session } = job;
  const { id } = session;
  const code = job.signal.aborted ? "INTERRUPTED" : "COMPRESS_FAILED";
  deps.emit({
    type: "compress-end",
    ok: false,
    fromSessionId: id,
    toSessionId: id,
    before,
    after: before,
    code,
  });
  if (code === "INTERRUPTED") return { ok: false };
  const waitMs = job.reason === "request" ? 0 : backOff(deps);
  const later = waitMs > 0 ? ` Next try in ${waitMs / 1000} s.` : "";
  deps.emit({
    type: "notice",
    level: "warning",
    code,
    text: `The conversation could not be compressed: ${why}. It is as it was.${later}`,
  });
  return { ok: false };
}

function backOff({ memory, clock }: TurnDeps): number {
  const waitMs = BACK_OFF_MS[Math.min(memory.compressFailures, BACK_OFF_MS.length - 1)] ?? 0;
  memory.compressFailures++;
  memory.compressRetryAtMs = clock.monotonicMs() + waitMs;
  return waitMs;
}
